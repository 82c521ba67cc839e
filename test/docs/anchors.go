// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// spoken is what a heading's anchor keeps: letters and digits of any script, blanks, hyphens and underscores.
var (
	unspoken = regexp.MustCompile(`[^\p{L}\p{N}\p{M} _-]+`)
	linked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors are the page's headings as GitHub links to them.
func (p *Page) anchors() map[string]bool {
	anchors := map[string]bool{}
	for _, section := range p.Sections {
		title := linked.ReplaceAllString(section.Title, "$1")
		anchor := strings.ReplaceAll(unspoken.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		for base, n := anchor, 1; anchors[anchor]; n++ {
			anchor = fmt.Sprintf("%s-%d", base, n)
		}
		anchors[anchor] = true
	}
	return anchors
}

// BrokenLinks are the links of the pages that lead nowhere, one sentence each. Those that leave the repository are not
// followed. exists says whether the repository has a file or folder.
func BrokenLinks(pages []*Page, exists func(string) bool) (broken []string) {
	byPath := map[string]*Page{}
	for _, page := range pages {
		byPath[page.Path] = page
	}
	for _, page := range pages {
		for _, section := range page.Sections {
			for _, target := range section.Links {
				if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				file, anchor, anchored := strings.Cut(target, "#")
				to := page.Path
				if file != "" {
					to = path.Join(path.Dir(page.Path), file)
				}
				switch {
				case !exists(to):
					broken = append(broken, fmt.Sprintf("%s, %q: there is no %s", page.Path, section.Title, to))
				case anchored && byPath[to] != nil && !byPath[to].anchors()[anchor]:
					broken = append(broken, fmt.Sprintf("%s, %q: %s has no heading #%s", page.Path, section.Title, to, anchor))
				}
			}
		}
	}
	return broken
}
