// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Sizes: columns of text, and pixels.
const pictureColumns, columnWidth, lineHeight, margin = 160, 8, 18, 16

// inks are the colours of Okabe and Ito (Color Universal Design, 2008), which people with any colour vision distinguish, and those of
// letters on them. Letters tell jobs of one colour apart.
var inks = [][2]string{
	{"#0072b2", "#fff"}, {"#e69f00", "#111"}, {"#009e73", "#fff"}, {"#cc79a7", "#111"}, {"#56b4e9", "#111"}, {"#d55e00", "#fff"}, {"#f0e442", "#111"},
}

// SVG returns the map as a picture that needs nothing else: the text, its cells in colours. Details of a node are shown under the
// pointer.
func (m *Map) SVG() string {
	var style, b strings.Builder
	style.WriteString("text{font:13px monospace;fill:#1f2328}rect{fill:#eaeef2}.dim{opacity:.3}")
	for i, ink := range inks {
		fmt.Fprintf(&style, ".c%[1]d rect{fill:%[2]s}.c%[1]d text{fill:%[3]s;font-weight:700}", i, ink[0], ink[1])
	}
	lines := append(m.lines(pictureColumns), []span{plain("Seen at " + m.At.Format("2006-01-02 15:04:05 UTC") + ".")})
	widest := 0
	for row, line := range lines {
		column := 0
		for _, s := range line {
			b.WriteString(m.svg(s, margin+column*columnWidth, margin+row*lineHeight))
			column += utf8.RuneCountInString(s.text)
		}
		widest = max(widest, column)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d"><title>%[3]s</title><style>%[4]s</style><path fill="#fff" d="M0 0h%[1]dv%[2]dH0z"/>`+"\n%[5]s</svg>\n",
		2*margin+widest*columnWidth, 2*margin+len(lines)*lineHeight, html.EscapeString(m.heading()[0]), style.String(), b.String())
}

// svg draws a span with its top left corner at a point. Fonts differ in width: textLength makes all letters as wide as a column.
func (m *Map) svg(s span, x, y int) string {
	text := strings.TrimLeft(s.text, " ")
	x += (len(s.text) - len(text)) * columnWidth
	if text = strings.TrimRight(text, " "); text == "" {
		return ""
	}
	width := utf8.RuneCountInString(text) * columnWidth
	drawn := fmt.Sprintf(`<text x="%d" y="%d" textLength="%d">%s</text>`, x, y+13, width, html.EscapeString(text))
	class := "none"
	if s.owner >= 0 {
		if class = fmt.Sprintf("c%d", s.owner%len(inks)); m.chosen >= 0 && s.owner != m.chosen {
			class += " dim"
		}
	}
	if s.owner >= 0 || s.node != nil {
		drawn = fmt.Sprintf(`<rect x="%d" y="%d" width="%d" height="%d"/>`, x, y, width, lineHeight-1) + drawn
	}
	if s.node != nil {
		drawn = "<title>" + html.EscapeString(s.node.details()) + "</title>" + drawn
	}
	return `<g class="` + class + `">` + drawn + "</g>\n"
}

// HTML returns the picture as a page that needs nothing else.
func (m *Map) HTML() string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>` + html.EscapeString(m.heading()[0]) + `</title></head>
<body style="margin:0">
` + m.SVG() + `</body></html>
`
}
