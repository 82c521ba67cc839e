// SPDX-License-Identifier: Apache-2.0

// Command gotest runs "go test -json" with its arguments, prints what "go test" prints without -json, and lists the tests that
// were skipped and the packages that ran no test. With SKIPS=FILE it fails unless FILE lists each of them, one a line: the
// package's folder, the test's name or * for the whole package, and the reason.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

const module = "github.com/paddle-volcano/paddle-volcano/"

func main() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // go test gets it too and ends; until then its output is read.
	if err := run(os.Args[1:], os.Getenv("SKIPS"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

// skip is a test, or with the name * a package, that did not run or need not run.
type skip struct{ folder, test, reason string }

func (s skip) String() string { return s.folder + " " + s.test + " " + s.reason }

func run(args []string, list string, out io.Writer) error {
	allowed, err := readList(list)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // the arguments are the caller's
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p := printer{out: out, verbose: slices.Contains(args, "-v"), packages: map[string]*packageResult{}}
	err = p.print(events)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		p.list("skipped", p.skipped)
		return fmt.Errorf("go test: %w", err)
	}
	unlisted := slices.DeleteFunc(slices.Clone(p.skipped), func(s skip) bool {
		return slices.ContainsFunc(allowed, func(a skip) bool { return a.folder == s.folder && (a.test == "*" || a.test == s.test) })
	})
	if list == "" || len(unlisted) == 0 {
		p.list("skipped", p.skipped)
		return nil
	}
	p.list("skipped, but not listed in "+list, unlisted)
	return fmt.Errorf("%d tests or packages were skipped: make them run, or list them in %s with the reason", len(unlisted), list)
}

func readList(path string) (allowed []skip, err error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // the caller's list
	if err != nil {
		return nil, fmt.Errorf("read the list of SKIPS: %w", err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		if len(fields) < 3 || strings.TrimSpace(fields[2]) == "" {
			return nil, fmt.Errorf("%s:%d: %q is not a folder, a test's name or *, and a reason", path, i+1, line)
		}
		allowed = append(allowed, skip{fields[0], fields[1], fields[2]})
	}
	return allowed, nil
}

// event is a line of go test -json ("go doc test2json" and "go help buildjson").
type event struct{ Action, Package, Test, Output string }

type packageResult struct {
	ran bool
	// tests are the names of those that have started, in order; output has those that have not passed, and the package's own under "".
	tests  []string
	output map[string]string
	last   string
}

type printer struct {
	out      io.Writer
	verbose  bool
	packages map[string]*packageResult
	skipped  []skip
}

func (p *printer) print(events io.Reader) error {
	decoder := json.NewDecoder(bufio.NewReader(events))
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the events: %w", err)
		}
		if e.Action == "build-output" {
			p.write(e.Output)
			continue
		}
		if p.packages[e.Package] == nil {
			p.packages[e.Package] = &packageResult{output: map[string]string{}}
		}
		if result := p.packages[e.Package]; e.Test == "" {
			p.ofPackage(result, e)
		} else {
			p.ofTest(result, e)
		}
	}
}

func (p *printer) ofTest(result *packageResult, e event) {
	switch e.Action {
	case "run":
		result.ran = true
		result.tests = append(result.tests, e.Test)
	case "output":
		result.output[e.Test] += e.Output
		if p.verbose {
			p.write(e.Output)
		}
	case "skip":
		p.skipped = append(p.skipped, skip{folder(e.Package), e.Test, said(result.output[e.Test])})
		delete(result.output, e.Test)
	case "pass":
		delete(result.output, e.Test)
	}
}

func (p *printer) ofPackage(result *packageResult, e event) {
	switch e.Action {
	case "output":
		result.output[""] += e.Output
		result.last = e.Output
		if p.verbose {
			p.write(e.Output)
		}
	case "fail":
		if p.verbose {
			return
		}
		for _, test := range append(result.tests, "") {
			p.write(result.output[test])
		}
	case "skip": // it has no tests
		p.summary(result)
	case "pass":
		p.summary(result)
		if !result.ran {
			p.skipped = append(p.skipped, skip{folder(e.Package), "*", "ran no test: " + said(strings.TrimSuffix(result.output[""], result.last))})
		}
	}
}

// summary prints the line "ok ..." with which the output of a package ends.
func (p *printer) summary(result *packageResult) {
	if !p.verbose {
		p.write(result.last)
	}
}

func (p *printer) list(title string, skips []skip) {
	if len(skips) == 0 {
		return
	}
	p.write("\n" + title + ":\n")
	for _, s := range skips {
		p.write("  " + s.String() + "\n")
	}
}

func (p *printer) write(text string) {
	_, _ = io.WriteString(p.out, text)
}

func folder(importPath string) string { return strings.TrimPrefix(importPath, module) }

// said returns an output in one line, without the lines with which package testing frames it.
func said(output string) string {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ")
	})
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
