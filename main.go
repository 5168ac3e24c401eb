// Command web is one small, safe, honest way to the public web for agents and developers.
package main

import (
	"os"

	"web/cmd/cli"
)

func main() { os.Exit(cli.Run()) }
