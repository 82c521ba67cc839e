// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
)

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

// normal is a line without what varies. Columns move with ages, so that blanks count as one.
func normal(line string) string {
	for _, v := range varying {
		line = v.pattern.ReplaceAllString(line, v.as)
	}
	return strings.TrimSpace(line)
}

// Same says whether what was printed is what the page shows; a line of three dots stands for any lines.
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
