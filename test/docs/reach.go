// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"path"
	"strings"
)

// to is the file in the repository that a page's link leads to; false where it leaves the repository or stays on the page.
func (p *Page) to(link string) (string, bool) {
	file, _, _ := strings.Cut(link, "#")
	if file == "" || strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return "", false
	}
	return path.Join(path.Dir(p.Path), file), true
}

// Clicks is how many links each page is away from one, for those that links lead to.
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

// Strays are the links of pages that lead to the other language although the page that they mean is there in their own, one
// sentence each. That to a page's own twin is how readers change the language.
func Strays(pages []*Page) (strays []string) {
	there := map[string]bool{}
	for _, page := range pages {
		there[page.Path] = true
	}
	chinese := func(file string) bool { return strings.HasSuffix(file, ".zh.md") }
	for _, page := range pages {
		for _, section := range page.Sections {
			for _, link := range section.Links {
				file, inside := page.to(link)
				if inside && there[file] && file != Twin(page.Path) && chinese(file) != chinese(page.Path) && there[Twin(file)] {
					strays = append(strays, fmt.Sprintf("%s, %q: %s is there as %s too", page.Path, section.Title, file, Twin(file)))
				}
			}
		}
	}
	return strays
}
