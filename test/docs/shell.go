// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Shell is where a page's commands are typed: what they export, and the folder that they change to, stays for the next.
type Shell struct {
	// Dir is the folder in which the page begins.
	Dir string
	// Namespace is where the page works; for its reader it is the default one.
	Namespace string
	env       []string
}

const (
	// patience is for the start of a sandbox, too, whose programs may have to be built.
	patience  = 3 * time.Minute
	tryEvery  = 300 * time.Millisecond
	saveState = `trap 'code=$?; { export -p; printf "cd %q\n" "$PWD"; } >"$DOCS_STATE"; exit $code' EXIT; `
)

// NewShell makes a folder that looks like a clone of the repository, but writes nothing into it: links to all that stands
// at its top, and an _output of its own, which shares the programs that were built.
func NewShell(root, dir string, env ...string) (*Shell, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("empty the folder of a page: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "_output"), 0o750); err != nil {
		return nil, fmt.Errorf("make a folder for a page: %w", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("read the repository: %w", err)
	}
	links := []string{"_output/bin"}
	for _, entry := range entries {
		// Without a go.mod of its own the folder belongs to the repository's module.
		if name := entry.Name(); !strings.HasPrefix(name, ".") && name != "_output" && name != "go.mod" && name != "go.sum" {
			links = append(links, name)
		}
	}
	for _, link := range links {
		if err := os.Symlink(filepath.Join(root, link), filepath.Join(dir, link)); err != nil {
			return nil, fmt.Errorf("make a page's folder look like a clone: %w", err)
		}
	}
	return &Shell{Dir: dir, env: append(os.Environ(), env...)}, nil
}

// Do gives the step's command and says how it failed, if it did. A command that only reads is given again until it
// prints what the page shows.
func (s *Shell) Do(ctx context.Context, step Step) error {
	var last error
	_ = wait.PollUntilContextTimeout(ctx, tryEvery, patience, true, func(ctx context.Context) (bool, error) {
		failed := s.once(ctx, step)
		if last == nil || ctx.Err() == nil {
			last = failed // what the end of patience cuts off explains nothing
		}
		return failed == nil || !step.Reads(), nil
	})
	return last
}

func (s *Shell) once(ctx context.Context, step Step) error {
	printed, err := s.run(ctx, step.Command)
	switch {
	case step.Want == nil && err != nil:
		return fmt.Errorf("line %d: %s\n%w:\n%s", step.Line, step.Command, err, printed)
	case step.Want != nil && !Same(step.Want, printed):
		return fmt.Errorf("line %d: %s\nprinted:\n%s\nbut the page shows:\n%s", step.Line, step.Command, printed, strings.Join(step.Want, "\n"))
	}
	return nil
}

// run gives one command, and returns what it prints on a terminal.
func (s *Shell) run(ctx context.Context, command string) (string, error) {
	state := filepath.Join(s.Dir, "_output", "state.sh")
	script := "set -euo pipefail\n" + saveState + "\n" + `[ ! -e "$DOCS_STATE" ] || . "$DOCS_STATE"` + "\n" + command
	cmd := exec.CommandContext(ctx, "bash", "-c", script) //nolint:gosec // the documents' own commands
	cmd.Dir = s.Dir
	cmd.Env = append(slices.Clone(s.env), "DOCS_STATE="+state)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	printed := strings.ReplaceAll(out.String(), s.Dir, "/path/to/paddle-volcano")
	if s.Namespace != "" {
		printed = strings.ReplaceAll(printed, s.Namespace, "default")
	}
	return printed, err
}
