// Package cmd is the room of the doors: everything that knows a process or a protocol lives below it. It has
// no code of its own but the test that holds the imports between rooms to one direction.
package cmd
