// Command bare is the yardstick for web's start-up: a program that links cobra and jsonschema, compiles one
// schema, and prints one text. It does nothing that web does not have to do for its manual.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "bare SCHEMA TEXT", Args: cobra.ExactArgs(2), RunE: func(_ *cobra.Command, args []string) error {
		schema, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		text, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("https://web.invalid/envelope.json", bytes.NewReader(schema)); err != nil {
			return err
		}
		if _, err := c.Compile("https://web.invalid/envelope.json"); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(map[string]string{"manual": string(text)})
	}}
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
