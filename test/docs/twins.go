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
	// remark is a comment in a code block: the only thing in one that is translated.
	remark = regexp.MustCompile(`(^|\s)#(\s.*)?$`)
	// target is what of a line is compared by itself, or not at all.
	target = regexp.MustCompile(`\]\([^()\s]+\)|(?:src|href)="[^"]+"|<!--.*?-->`)
)

// The documents of users are below inEnglish, and their translations below inChinese, under the same names. Elsewhere a translation
// is beside its page, and its name ends in .zh.md.
const (
	inEnglish = "deploy/docs/"
	inChinese = inEnglish + "zh/"
)

// Chinese reports whether the file is a translation.
func Chinese(file string) bool {
	return strings.HasPrefix(file, inChinese) || strings.HasSuffix(strings.TrimSuffix(file, path.Ext(file)), ".zh")
}

// Twin is the path of a file's translation, or of the file that one translates.
func Twin(file string) string {
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

// Differences says where a page and its translation part, one sentence each: they have the same headings, code blocks but
// for remarks, tables, links and numbers.
func Differences(page, twin *Page) (parted []string) {
	if len(page.Sections) != len(twin.Sections) {
		return []string{fmt.Sprintf("%s has %d headings, %s has %d: %s", page.Path, len(page.Sections)-1, twin.Path, len(twin.Sections)-1, firstOdd(page, twin))}
	}
	for i, ours := range page.Sections {
		theirs := twin.Sections[i]
		differ := func(what string, a, b any) {
			if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
				parted = append(parted, fmt.Sprintf("%s, %q and %q: %s: %s and %s", twin.Path, ours.Title, theirs.Title, what, x, y))
			}
		}
		differ("level of the heading", ours.Level, theirs.Level)
		differ("rows and columns of tables", ours.Tables, theirs.Tables)
		differ("links", page.linksOf(ours), twin.linksOf(theirs))
		differ("numbers", ours.numbers(), theirs.numbers())
		differ("code blocks", len(ours.Blocks), len(theirs.Blocks))
		for k := range min(len(ours.Blocks), len(theirs.Blocks)) {
			a, b := ours.Blocks[k], theirs.Blocks[k]
			differ("language of the code block", a.Language, b.Language)
			differ("code", strings.Join(a.unremarked(), "\n"), strings.Join(b.unremarked(), "\n"))
			kindA, _, _ := strings.Cut(a.Marker, ":")
			kindB, _, _ := strings.Cut(b.Marker, ":")
			differ("the comment above the code", kindA, kindB)
		}
	}
	return parted
}

// firstOdd names the first heading that has another level in the twin.
func firstOdd(page, twin *Page) string {
	for i := range min(len(page.Sections), len(twin.Sections)) {
		if page.Sections[i].Level != twin.Sections[i].Level {
			return fmt.Sprintf("%q meets %q", page.Sections[i].Title, twin.Sections[i].Title)
		}
	}
	return "one of them ends early"
}

// linksOf are the links of a section of the page, sorted, each to the English file and without its anchor, which is translated.
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
			file = Twin(file)
		}
		links = append(links, file)
	}
	slices.Sort(links)
	return links
}

// numbers are those of the section's text, sorted. Targets of links are compared by themselves.
func (s *Section) numbers() []string {
	numbers := number.FindAllString(target.ReplaceAllString(strings.Join(s.Text, "\n"), ""), -1)
	slices.Sort(numbers)
	return numbers
}

// unremarked are the block's lines without remarks, and without lines that are nothing else.
func (b *Block) unremarked() (lines []string) {
	for _, line := range b.Lines {
		if bare := strings.TrimRight(remark.ReplaceAllString(line, ""), " "); bare != "" || line == "" {
			lines = append(lines, bare)
		}
	}
	return lines
}
