// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// pageJob is a line of the page's legend.
type pageJob struct {
	*Job
	At     int
	Called string
	About  string
	Swatch template.HTML
	Chosen bool
}

// pageBlock is a block of the page.
type pageBlock struct {
	Title string
	Cards []template.HTML
}

// pageKey is a line of the page's key.
type pageKey struct {
	Swatch template.HTML
	Text   string
}

// HTML writes the map as a page that needs nothing else.
func (m *Map) HTML(w io.Writer) error {
	content := struct {
		Title            string
		Notes            []string
		Style, Lit       template.CSS
		LitStyle         string
		Patterns         template.HTML
		Jobs             []pageJob
		Blocks           []pageBlock
		Key              []pageKey
		Waiting, Running int
	}{
		Title: m.headline(), Notes: m.source(), Style: template.CSS(m.style()), Lit: template.CSS(lit(m.chosen)), //nolint:gosec // our own text
		LitStyle: litStyle, Patterns: template.HTML(m.patterns()), //nolint:gosec // our own text
	}
	svg := func(draw func(b *strings.Builder), width, height float64) template.HTML {
		var b strings.Builder
		fmt.Fprintf(&b, `<svg width="%s" height="%s">`, px(width), px(height))
		draw(&b)
		b.WriteString("</svg>")
		return template.HTML(b.String()) //nolint:gosec // names are escaped where they are drawn
	}
	for i, job := range m.Jobs {
		p := pageJob{Job: job, At: i, Called: job.called(), About: m.about(job), Chosen: i == m.chosen}
		if job.Sign != "" {
			p.Swatch = svg(func(b *strings.Builder) { m.swatch(b, i, 0, 0) }, 32, 10)
		}
		content.Jobs = append(content.Jobs, p)
	}
	for _, b := range m.blocks() {
		pb := pageBlock{Title: b.title}
		for i := range b.cards {
			c := &b.cards[i]
			pb.Cards = append(pb.Cards, svg(func(b *strings.Builder) { m.drawCard(b, c) }, c.width(), c.height()))
		}
		content.Blocks = append(content.Blocks, pb)
	}
	for _, line := range m.key() {
		content.Key = append(content.Key, pageKey{svg(func(b *strings.Builder) { b.WriteString(keySwatch(line.kind)) }, 32, 10), line.text})
	}
	if err := page.Execute(w, content); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
