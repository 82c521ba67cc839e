// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the page of tests again")

const testedBy = "deploy/docs/reference/tested-by.md"

var (
	testMark = regexp.MustCompile(`<!-- tested by: (\S+) (\S+) -->`)
	title    = regexp.MustCompile(`^#+ +(.*?)\s*$`)
)

// statement is a command or sentence of a page, and the test that covers it.
type statement struct{ page, section, text, folder, test string }

// statements returns those of a page that a comment is above of, or behind.
func statements(page, text string) (found []statement) {
	section, fenced := "", false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if heading := title.FindStringSubmatch(line); heading != nil && !fenced {
			section = heading[1]
		}
		mark := testMark.FindStringSubmatchIndex(line)
		if mark == nil {
			continue
		}
		covered := strings.TrimSpace(line[:mark[0]])
		for next := i; covered == "" || strings.HasPrefix(covered, "```"); covered = strings.TrimSpace(lines[next]) {
			next++
		}
		if strings.HasPrefix(covered, "|") {
			covered = strings.TrimSpace(strings.Split(covered, "|")[1])
		}
		found = append(found, statement{page, section, covered, line[mark[2]:mark[3]], line[mark[4]:mark[5]]})
	}
	return found
}

func TestStatements(t *testing.T) {
	const page = "# A\n\n<!-- tested by: test/x TestA -->\n```sh\nls\n```\n\n## B\n| a | b <!-- tested by: test/x TestB --> |\n\nThat is so. <!-- tested by: test/x TestC -->\n"
	require.Equal(t, []statement{
		{"a.md", "A", "ls", "test/x", "TestA"}, {"a.md", "B", "a", "test/x", "TestB"}, {"a.md", "B", "That is so.", "test/x", "TestC"},
	}, statements("a.md", page))
}

// The tests that pages name exist, and one page lists them.
func TestTheTestsOfOthersAreThere(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Tests of the documents\n\nThe documents' commands are run, and their manifests checked, by `make test-docs`. Other tests cover these commands and statements.\n" +
		"Made by `go test ./test/docs -run TestTheTestsOfOthersAreThere -update`.\n\n| page | section | command or statement | test |\n|---|---|---|---|\n")
	for _, p := range english(t) {
		if p.Path == testedBy {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, p.Path))
		require.NoError(t, err)
		for _, s := range statements(p.Path, string(text)) {
			out, err := exec.Command("grep", "-rlE", "^func "+s.test+`\(`, "--include=*_test.go", filepath.Join(root, s.folder)).Output() //nolint:gosec // the documents' own words
			require.NoError(t, err, "%s, %q: there is no %s in %s", s.page, s.section, s.test, s.folder)
			require.NotEmpty(t, out)
			link, err := filepath.Rel(filepath.Dir(testedBy), s.page)
			require.NoError(t, err)
			const longest = 90
			if short := []rune(s.text); len(short) > longest {
				s.text = string(short[:longest]) + "…"
			}
			text := "`" + strings.NewReplacer("`", "", "|", "\\|", "**", "").Replace(s.text) + "`"
			fmt.Fprintf(&page, "| [%s](%s) | %s | %s | `%s` in `%s` |\n", s.page, link, s.section, text, s.test, s.folder)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, testedBy), []byte(page.String()), 0o600))
	}
	written, err := os.ReadFile(filepath.Join(root, testedBy))
	require.NoError(t, err)
	require.Equal(t, page.String(), string(written))
}
