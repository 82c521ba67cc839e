// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"html"
	"strings"
)

// svg is a drawing under way. Colours are classes, so that it follows the reader's light or dark setting.
type svg struct {
	strings.Builder
	width, height int
}

const style = `<style>
svg{font:12px system-ui,sans-serif}.title{font-weight:600;font-size:14px}.bar{stroke-width:2}.end{text-anchor:end}.mid{text-anchor:middle}
.page{fill:#fff}text{fill:#1f2328}.soft{fill:#59636e}.one{fill:#2166b0}.two{fill:#d9730d}.line{stroke:#d1d9e0}.bar{stroke:#c62828}.bad{fill:#c62828}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9198a1}.one{fill:#58a6ff}.two{fill:#f0a35e}.line{stroke:#3d444d}.bar{stroke:#ff7b72}.bad{fill:#ff7b72}}
</style>
`

func (s *svg) rect(class string, x, y, width, height float64) {
	say(s, "<rect class=%q x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", class, x, y, width, height)
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	say(s, "<line class=%q x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2)
}

func (s *svg) text(class string, x, y float64, format string, values ...any) {
	say(s, "<text class=%q x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, x, y, html.EscapeString(fmt.Sprintf(format, values...)))
}

// document closes the drawing.
func (s *svg) document(title string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\"><title>%s</title>\n%s%s%s</svg>\n",
		s.width, s.height, s.width, s.height, html.EscapeString(title), style,
		fmt.Sprintf("<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", s.width, s.height), s.String())
}
