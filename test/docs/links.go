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

// anchors returns the page's headings as GitHub links to them.
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

// BrokenLinks returns the links of the pages that lead nowhere, one sentence each. Those that leave the repository are not
// followed. exists reports whether the repository has a file or folder.
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

// to returns the target file of a page's link in the repository; false where it leaves the repository or stays on the page.
func (p *Page) to(link string) (string, bool) {
	file, _, _ := strings.Cut(link, "#")
	if file == "" || strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return "", false
	}
	return path.Join(path.Dir(p.Path), file), true
}

// Clicks returns how many links each page is away from one, for those that links lead to.
func Clicks(pages []*Page, from string) map[string]int {
	byPath := map[string]*Page{}
	for _, page := range pages {
		byPath[page.Path] = page
	}
	clicks := map[string]int{from: 0}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		page := byPath[queue[0]]
		for _, section := range page.Sections {
			for _, link := range section.Links {
				file, inside := page.to(link)
				if _, known := clicks[file]; inside && !known && byPath[file] != nil {
					clicks[file] = clicks[page.Path] + 1
					queue = append(queue, file)
				}
			}
		}
	}
	return clicks
}

// Strays returns the links of pages that lead to the other language although the page that they mean is there in their own, one
// sentence each. A page's link to its translation is how readers change the language.
func Strays(pages []*Page) (strays []string) {
	there := map[string]bool{}
	for _, page := range pages {
		there[page.Path] = true
	}
	for _, page := range pages {
		for _, section := range page.Sections {
			for _, link := range section.Links {
				file, inside := page.to(link)
				if inside && there[file] && file != Translation(page.Path) && Chinese(file) != Chinese(page.Path) && there[Translation(file)] {
					strays = append(strays, fmt.Sprintf("%s, %q: %s is there as %s too", page.Path, section.Title, file, Translation(file)))
				}
			}
		}
	}
	return strays
}
