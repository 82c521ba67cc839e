// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Step is a command of a page and what it is to print.
type Step struct {
	Line    int
	Command string
	// Want is nil where the page shows nothing: then only the exit code counts.
	Want []string
}

var (
	// languages that may stand after a fence.
	languages = []string{"", "text", "go", "html", "promql", "sh", "console", "yaml"}
	// typed looks like a command, which belongs into a block that is run.
	typed   = regexp.MustCompile(`^\s*(\$ |(kubectl|make|helm|docker|vc-scheduler|paddle-\w+|git|export) [^ ]|go (run|test|build|install) )`)
	making  = regexp.MustCompile(`^(?:\$ )?make ([a-z-]+)`)
	reading = regexp.MustCompile(`^kubectl (-n \S+ )?(get|describe|wait|paddle (-n \S+ )?(get|list|why|map|plan|top))\b`)
)

// Run says whether the page's runner runs the block.
func (b *Block) Run() bool {
	return (b.Language == "sh" || b.Language == "console") && !b.Excused()
}

// Excused says whether a comment above the block has the reason why it is not run.
func (b *Block) Excused() bool {
	return strings.HasPrefix(b.Marker, "not run:") || strings.HasPrefix(b.Marker, "tested by:")
}

// Fault is what keeps a block from being judged at all: a language that nobody knows, a command where none is run, a
// comment above it that says nothing.
func (b *Block) Fault() error {
	if !slices.Contains(languages, b.Language) {
		return fmt.Errorf("line %d: nobody knows what to do with %q; there are %q", b.Line, b.Language, languages)
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

// Steps are the commands of a block: all of a sh block at once, and of a console block each that follows "$ ".
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

// Reads says whether the command changes nothing, so that it may be given again until it prints what it is to print.
func (s Step) Reads() bool { return reading.MatchString(s.Command) }

// Targets are the make targets that the page names, in blocks and in its text.
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
