// SPDX-License-Identifier: Apache-2.0

// Package argv reads the command lines of deploy/examples, and no others.
package argv

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Programs that a command line can ask for.
const (
	Train         = "train"  // python train.py
	Launch        = "launch" // python -m paddle.distributed.launch train.py
	PaddleFormers = "paddleformers-cli"
	ERNIEKit      = "erniekit"
)

// Names returns the programs that the image offers in addition to the trainer's own name.
func Names() []string { return []string{"bash", ERNIEKit, PaddleFormers, "python", "python3", "sh"} }

// Command is what a command line asks for.
type Command struct {
	Program string
	// Dir is the folder to change to first, empty for none.
	Dir string
	// Args are those of train.py.
	Args []string
}

// RefusedError says that the image does not support a command line.
type RefusedError struct{ Line []string }

func (e RefusedError) Error() string {
	return fmt.Sprintf("%q is not a command that this image supports: [sh|bash -c \"cd DIR [;|&&]\"] python|python3 [-m paddle.distributed.launch] train.py|train_fleet.py|run_check [FLAGS], or paddleformers-cli|erniekit train FILE", e.Line)
}

// Parse reads a command line, whose first word is the program's name.
func Parse(line []string) (Command, error) {
	if len(line) == 0 {
		return Command{}, RefusedError{line}
	}
	name, args := path.Base(line[0]), line[1:]
	switch {
	case name == "sh" || name == "bash":
		if len(args) == 2 && args[0] == "-c" {
			return shell(line, args[1])
		}
	case name == "python" || name == "python3":
		return python(line, args)
	case name == PaddleFormers || name == ERNIEKit:
		if len(args) == 2 && args[0] == "train" {
			return Command{Program: name}, nil
		}
	case len(args) == 0 || strings.HasPrefix(args[0], "-"):
		// The published images of paddle-operator train when they are given no command.
		return Command{Program: Train, Args: args}, nil
	case slices.Contains(Names(), path.Base(args[0])):
		return Parse(args)
	}
	return Command{}, RefusedError{line}
}

// shell reads the argument of sh -c: one command, before which the folder may be changed. Quotes and variables are not
// known.
func shell(line []string, text string) (Command, error) {
	if strings.ContainsAny(text, "'\"`$|<>\\\n") {
		return Command{}, RefusedError{line}
	}
	dir := ""
	for _, separator := range []string{"&&", ";"} {
		first, rest, found := strings.Cut(text, separator)
		words := strings.Fields(first)
		if found && len(words) == 2 && words[0] == "cd" {
			dir, text = words[1], rest
			break
		}
	}
	words := strings.Fields(text)
	if strings.ContainsAny(text, "&;") || len(words) == 0 || !slices.Contains(Names(), path.Base(words[0])) {
		return Command{}, RefusedError{line}
	}
	command, err := Parse(words)
	if err != nil || command.Dir != "" {
		return Command{}, RefusedError{line}
	}
	command.Dir = dir
	return command, nil
}

func python(line, args []string) (Command, error) {
	scripts, command := []string{"train.py", "train_fleet.py"}, Command{Program: Train}
	if len(args) >= 2 && args[0] == "-m" && args[1] == "paddle.distributed.launch" {
		command.Program, args = Launch, args[2:]
		scripts = append(scripts, "run_check")
	}
	if len(args) == 0 || !slices.Contains(scripts, args[0]) {
		return Command{}, RefusedError{line}
	}
	command.Args = args[1:]
	return command, nil
}
