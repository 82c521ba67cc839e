// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	number = regexp.MustCompile(`\d+(?:\.\d+)*`)
	// remark is a comment in a code block, the only part of a block that is translated.
	remark = regexp.MustCompile(`(^|\s)#(\s.*)?$`)
	// target is a part of a line that is compared separately, or not at all.
	target = regexp.MustCompile(`\]\([^()\s]+\)|(?:src|href)="[^"]+"|<!--.*?-->`)
)

// The documents of users are below inEnglish, and their translations below inChinese, under the same names. Elsewhere a translation
// is in the folder of its page, and its name ends in .zh.md.
const (
	inEnglish = "deploy/docs/"
	inChinese = inEnglish + "zh/"
)

// Chinese reports whether the file is a translation.
func Chinese(file string) bool {
	return strings.HasPrefix(file, inChinese) || strings.HasSuffix(strings.TrimSuffix(file, path.Ext(file)), ".zh")
}

// Translation returns the path of a file's translation, or of the file that one translates.
func Translation(file string) string {
	if rest, found := strings.CutPrefix(file, inChinese); found {
		return inEnglish + rest
	}
	if rest, found := strings.CutPrefix(file, inEnglish); found {
		return inChinese + rest
	}
	ext := path.Ext(file)
	base := strings.TrimSuffix(file, ext)
	if english, found := strings.CutSuffix(base, ".zh"); found {
		return english + ext
	}
	return base + ".zh" + ext
}

// Differences returns how a page and its translation differ, one sentence each. They must have the same headings, tables, links,
// numbers, and code blocks except for comments.
func Differences(page, translation *Page) (differences []string) {
	if len(page.Sections) != len(translation.Sections) {
		return []string{fmt.Sprintf("%s has %d headings, %s has %d: %s", page.Path, len(page.Sections)-1, translation.Path, len(translation.Sections)-1, firstDifference(page, translation))}
	}
	for i, section := range page.Sections {
		translated := translation.Sections[i]
		differ := func(what string, a, b any) {
			if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
				differences = append(differences, fmt.Sprintf("%s, %q and %q: %s: %s and %s", translation.Path, section.Title, translated.Title, what, x, y))
			}
		}
		differ("level of the heading", section.Level, translated.Level)
		differ("rows and columns of tables", section.Tables, translated.Tables)
		differ("links", page.linksOf(section), translation.linksOf(translated))
		differ("numbers", section.numbers(), translated.numbers())
		differ("code blocks", len(section.Blocks), len(translated.Blocks))
		for k := range min(len(section.Blocks), len(translated.Blocks)) {
			a, b := section.Blocks[k], translated.Blocks[k]
			differ("language of the code block", a.Language, b.Language)
			differ("code", strings.Join(a.unremarked(), "\n"), strings.Join(b.unremarked(), "\n"))
			kindA, _, _ := strings.Cut(a.Marker, ":")
			kindB, _, _ := strings.Cut(b.Marker, ":")
			differ("the comment above the code", kindA, kindB)
		}
	}
	return differences
}

// firstDifference names the first heading that has a different level in the translation.
func firstDifference(page, translation *Page) string {
	for i := range min(len(page.Sections), len(translation.Sections)) {
		if page.Sections[i].Level != translation.Sections[i].Level {
			return fmt.Sprintf("%q meets %q", page.Sections[i].Title, translation.Sections[i].Title)
		}
	}
	return "one of them ends early"
}

// linksOf returns the links of a section of the page, sorted, each to the English file and without its anchor, which is translated.
func (p *Page) linksOf(section *Section) []string {
	links := make([]string, 0, len(section.Links))
	for _, link := range section.Links {
		file, inside := p.to(link)
		switch {
		case !inside && strings.HasPrefix(link, "#"):
			file = "#"
		case !inside:
			file = link
		case Chinese(file):
			file = Translation(file)
		}
		links = append(links, file)
	}
	slices.Sort(links)
	return links
}

// numbers returns those of the section's text, sorted. Targets of links are compared by themselves.
func (s *Section) numbers() []string {
	numbers := number.FindAllString(target.ReplaceAllString(strings.Join(s.Text, "\n"), ""), -1)
	slices.Sort(numbers)
	return numbers
}

// unremarked returns the block's lines without remarks, and without lines that are nothing else.
func (b *Block) unremarked() (lines []string) {
	for _, line := range b.Lines {
		if bare := strings.TrimRight(remark.ReplaceAllString(line, ""), " "); bare != "" || line == "" {
			lines = append(lines, bare)
		}
	}
	return lines
}
