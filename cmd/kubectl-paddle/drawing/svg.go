// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"html"
	"strings"
)

const (
	pictureWidth  = 1200.0
	pictureMargin = 16.0
	lineHeight    = 15.0
	// perLine is how many letters a line of text holds.
	perLine = 190
)

// SVG is the map as one picture.
func (m *Map) SVG() []byte {
	var body strings.Builder
	y := pictureMargin
	text := func(class string, x float64, words string, most int) {
		for _, line := range wrapped(words, most) {
			y += lineHeight
			fmt.Fprintf(&body, `<text class="%s" x="%s" y="%s">%s</text>`+"\n", class, px(x), px(y), html.EscapeString(line))
		}
	}
	text("h1", pictureMargin, m.headline(), perLine)
	for _, sentence := range m.source() {
		text("soft", pictureMargin, sentence, perLine)
	}
	for _, b := range m.blocks() {
		y += 8
		if b.title != "" {
			text("h2", pictureMargin, b.title, perLine)
		}
		y += 6
		x, tall := pictureMargin, 0.0
		for i := range b.cards {
			c := &b.cards[i]
			if x+c.width() > pictureWidth-pictureMargin && x > pictureMargin {
				x, y, tall = pictureMargin, y+tall+6, 0
			}
			fmt.Fprintf(&body, `<g transform="translate(%s %s)">`, px(x), px(y))
			m.drawCard(&body, c)
			body.WriteString("</g>\n")
			x, tall = x+c.width()+6, max(tall, c.height())
		}
		y += tall
	}
	y += 12
	for i, job := range m.Jobs {
		at := y
		text("h2", pictureMargin+40, job.called()+": "+m.about(job), perLine-8)
		if job.Sign != "" {
			m.swatch(&body, i, pictureMargin, at+5)
		}
		for _, sentence := range job.Place {
			text("soft", pictureMargin+40, sentence, perLine-8)
		}
	}
	for _, line := range m.key() {
		at := y
		text("soft", pictureMargin+40, line.text, perLine-8)
		fmt.Fprintf(&body, `<g transform="translate(%s %s)">%s</g>`+"\n", px(pictureMargin), px(at+5), keySwatch(line.kind))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s"><title>%s</title>`+"\n<style>%s%s%s</style>\n%s",
		px(pictureWidth), px(y+pictureMargin), px(pictureWidth), px(y+pictureMargin), html.EscapeString(m.headline()), m.style(), pictureStyle, lit(m.chosen), m.patterns())
	b.WriteString(`<rect width="100%" height="100%" style="fill:var(--page)"/>` + "\n" + body.String() + "</svg>\n")
	return []byte(b.String())
}

const pictureStyle = "svg .h1{font-size:14px;font-weight:600}svg .h2{font-size:11px}svg .soft{font-size:11px;fill:var(--soft)}"

// headline is what the map is of.
func (m *Map) headline() string {
	text := m.summary()
	if !m.At.IsZero() {
		text += " Seen at " + m.At.Format("2006-01-02 15:04:05 UTC") + "."
	}
	return text
}

// swatch is a job's colour with its sign, 32 by 10.
func (m *Map) swatch(b *strings.Builder, job int, x, y float64) {
	fmt.Fprintf(b, `<g transform="translate(%s %s)"><path class="k k%d" d="M0 0h32v10h-32z"/><text class="l k k%d" x="16" y="8">%s</text></g>`+"\n",
		px(x), px(y), job, job, m.Jobs[job].Sign)
}

// keySwatch shows a kind of cell, 32 by 10.
func keySwatch(kind int) string {
	switch kind {
	case outOfUse:
		return `<path class="f" d="M0 0h32v10h-32z"/><path class="off" d="M0 10L32 0"/>`
	case eighth:
		return `<path class="f" d="M12 0h20v10h-20z"/><path class="x" d="M0 0h12v10h-12z"/>`
	case strip:
		return `<path class="f" d="M0 0h32v7h-32z"/><path class="x" d="M0 8h12v2h-12z"/>`
	}
	class := map[int]string{others: "x", free: "f", unknown: "u"}[kind]
	return fmt.Sprintf(`<path class="%s" d="M0 0h9v10h-9zM11 0h9v10h-9zM22 0h9v10h-9z"/>`, class)
}

// wrapped are lines of at most so many letters, unless a word is longer.
func wrapped(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > most {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
