// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Page is a parsed Markdown file.
type Page struct {
	// Path is relative to the root of the repository, with slashes.
	Path     string
	Sections []*Section
	Blocks   []*Block
}

// Section is a heading and what stands below it, up to the next heading of any level. The first one of a page that does
// not begin with a heading has level 0.
type Section struct {
	Level int
	Title string
	Line  int
	// Text is everything but code blocks and comments.
	Text []string
	// Links are the targets of the section's links and images.
	Links []string
	// Tables are the numbers of rows and columns of the section's tables.
	Tables [][2]int
	// Blocks are the code blocks of the section.
	Blocks []*Block
}

// Block is a code block between two lines of backquotes.
type Block struct {
	// Language is the first word after the opening backquotes, Marker the text of the comment directly above them.
	Language, Marker string
	// Line is the number of the opening line, Lines are those between the two, without the opening line's indentation.
	Line  int
	Lines []string
}

var (
	heading = regexp.MustCompile(`^(#{1,6}) +(.*?)\s*$`)
	comment = regexp.MustCompile(`^\s*<!--\s*(.*?)\s*-->\s*$`)
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	image   = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	row     = regexp.MustCompile(`^\s*\|.*\|\s*$`)
	code    = regexp.MustCompile("`[^`]*`")
)

// Parse reads a page. It knows the Markdown that the project writes: headings by #, fences by ```, tables with outer bars.
func Parse(path, text string) *Page {
	page := &Page{Path: path, Sections: []*Section{{}}}
	section := page.Sections[0]
	var block *Block
	marker, indent, table := "", "", 0
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if block != nil {
			if trimmed == "```" {
				block = nil
			} else {
				block.Lines = append(block.Lines, strings.TrimPrefix(line, indent))
			}
			continue
		}
		if !row.MatchString(line) {
			table = 0
		}
		switch found := comment.FindStringSubmatch(line); {
		case strings.HasPrefix(trimmed, "```"):
			language, _, _ := strings.Cut(strings.TrimPrefix(trimmed, "```"), " ")
			indent, _, _ = strings.Cut(line, "```")
			block = &Block{Language: language, Marker: marker, Line: i + 1}
			marker = ""
			page.Blocks, section.Blocks = append(page.Blocks, block), append(section.Blocks, block)
		case found != nil:
			marker = found[1]
		case heading.MatchString(line):
			parts := heading.FindStringSubmatch(line)
			section = &Section{Level: len(parts[1]), Title: parts[2], Line: i + 1}
			section.take(parts[2])
			page.Sections = append(page.Sections, section)
			marker = ""
		case row.MatchString(line):
			section.take(line)
			if table++; table == 1 {
				section.Tables = append(section.Tables, [2]int{0, columns(line)})
			}
			section.Tables[len(section.Tables)-1][0]++
		default:
			section.take(line)
			if trimmed != "" {
				marker = ""
			}
		}
	}
	return page
}

// take adds a line of text.
func (s *Section) take(line string) {
	s.Text = append(s.Text, line)
	plain := code.ReplaceAllString(line, "")
	for _, found := range [][][]string{link.FindAllStringSubmatch(plain, -1), image.FindAllStringSubmatch(plain, -1)} {
		for _, match := range found {
			s.Links = append(s.Links, match[1])
		}
	}
}

// columns counts the cells of a row; bars in code and escaped ones are text.
func columns(line string) int {
	line = strings.ReplaceAll(code.ReplaceAllString(line, ""), `\|`, "")
	return strings.Count(strings.TrimSpace(line), "|") - 1
}

// Load reads all pages of the repository in the order of their names. Folders that begin with a dot or an underscore are
// left out.
func Load(root fs.FS) (pages []*Page, err error) {
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			if strings.ContainsAny(entry.Name()[:1], "._") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		pages = append(pages, Parse(name, string(text)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	return pages, nil
}
