// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Step is a command of a page and what it is to print.
type Step struct {
	Line    int
	Command string
	// Want is nil where the page shows nothing: then only the exit code counts.
	Want []string
}

var (
	// languages are those that a code block may have.
	languages = []string{"", "text", "go", "html", "promql", "sh", "console", "yaml"}
	// typed looks like a command, which belongs into a block that is run.
	typed   = regexp.MustCompile(`^\s*(\$ |(kubectl|make|helm|docker|vc-scheduler|paddle-\w+|git|export) [^ ]|go (run|test|build|install) )`)
	making  = regexp.MustCompile(`^(?:\$ )?make ([a-z-]+)`)
	reading = regexp.MustCompile(`^kubectl (-n \S+ )?(get|describe|wait|paddle (-n \S+ )?(get|list|describe|why|map|plan|version))\b`)
)

// Run reports whether the page's runner runs the block.
func (b *Block) Run() bool {
	return (b.Language == "sh" || b.Language == "console") && !b.Excused()
}

// Excused reports whether a comment above the block has the reason why it is not run.
func (b *Block) Excused() bool {
	return strings.HasPrefix(b.Marker, "not run:") || strings.HasPrefix(b.Marker, "tested by:")
}

// Fault is the reason why a block cannot be checked: an unknown language, a command where none is run, or a comment above the block
// without content.
func (b *Block) Fault() error {
	if !slices.Contains(languages, b.Language) {
		return fmt.Errorf("line %d: language %q is unknown: want one of %q", b.Line, b.Language, languages)
	}
	kind, rest, _ := strings.Cut(b.Marker, ":")
	if slices.Contains([]string{"not run", "tested by", "file"}, kind) && strings.TrimSpace(rest) == "" {
		return fmt.Errorf("line %d: %q is to say more", b.Line, b.Marker)
	}
	if b.Language == "" || b.Language == "text" {
		for i, line := range b.Lines {
			if typed.MatchString(line) && !strings.Contains(line, "──") { // a drawing may begin with a name
				return fmt.Errorf("line %d: %q is a command; call the block sh or console", b.Line+1+i, line)
			}
		}
	}
	return nil
}

// Steps returns the commands of a block: all of a sh block at once, and of a console block each that follows "$ ".
func (b *Block) Steps() []Step {
	if b.Language == "sh" {
		return []Step{{Line: b.Line, Command: strings.Join(withoutMake(b.Lines), "\n")}}
	}
	var steps []Step
	open := false
	for i, line := range b.Lines {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch last := len(steps) - 1; {
		case isCommand:
			steps = append(steps, Step{Line: b.Line + 1 + i, Command: command})
		case last < 0:
			continue // what stands before the first command was printed by an earlier one
		case open:
			steps[last].Command += "\n" + line
		default:
			steps[last].Want = append(steps[last].Want, line)
		}
		open = strings.HasSuffix(line, "\\") && (isCommand || open)
	}
	return slices.DeleteFunc(steps, func(s Step) bool { return making.MatchString(s.Command) })
}

// withoutMake leaves out what make does: it takes long, and targets are run by CI themselves.
func withoutMake(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), making.MatchString)
}

// Reads reports whether the command changes nothing, so that it may be given again until it prints what it is to print.
func (s Step) Reads() bool { return reading.MatchString(s.Command) }

// Targets returns the make targets that the page names, in blocks and in its text.
func (p *Page) Targets() (targets []string) {
	add := func(text string) {
		if found := making.FindStringSubmatch(text); found != nil {
			targets = append(targets, found[1])
		}
	}
	for _, section := range p.Sections {
		for _, line := range section.Text {
			for _, span := range code.FindAllString(line, -1) {
				add(strings.Trim(span, "`"))
			}
		}
		for _, block := range section.Blocks {
			for _, line := range block.Lines {
				add(line)
			}
		}
	}
	return targets
}

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

// NewShell creates a folder that looks like a clone of the repository, but writes nothing into it: links to all that stands
// at its top, and a separate _output, which shares the programs that were built.
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
		// Without a go.mod the folder belongs to the repository's module.
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

// Do runs the step's command and returns its error. A command that only reads is given again until it
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

// run runs one command, and returns what it prints on a terminal.
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

// varying is what is another in each run, and what it is taken for.
var varying = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "<moment>"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`\b10(\.\d{1,3}){3}\b`), "<address>"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|[smhd]))+\b`), "<time>"},
	{regexp.MustCompile(`\b\d+(\.\d+)? (s|ms|seconds)\b`), "<time>"},
	{regexp.MustCompile(`\(x\d+ over <time>\)`), ""},
	{regexp.MustCompile(`\s+`), " "},
}

// normal returns a line without what varies. Columns move with ages, so that blanks count as one.
func normal(line string) string {
	for _, v := range varying {
		line = v.pattern.ReplaceAllString(line, v.as)
	}
	return strings.TrimSpace(line)
}

// Same reports whether what was printed is what the page shows; a line of three dots matches any lines.
func Same(want []string, printed string) bool {
	got := strings.Split(strings.Trim(printed, "\n"), "\n")
	return same(want, got)
}

func same(want, got []string) bool {
	for len(want) > 0 {
		if strings.TrimSpace(want[0]) == "..." {
			for skip := range len(got) + 1 {
				if same(want[1:], got[skip:]) {
					return true
				}
			}
			return false
		}
		if len(got) == 0 {
			return strings.TrimSpace(strings.Join(want, "")) == ""
		}
		if normal(want[0]) != normal(got[0]) {
			return false
		}
		want, got = want[1:], got[1:]
	}
	return strings.TrimSpace(strings.Join(got, "")) == ""
}
