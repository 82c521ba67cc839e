// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"strings"
)

// svg is a drawing under way. Colours are classes, so that it follows the reader's light or dark setting.
type svg struct {
	strings.Builder
	y float64
}

const style = `<style>
svg{font:12px system-ui,sans-serif}.title{font-weight:600;font-size:14px}.limit{stroke-width:2}.end{text-anchor:end}.curve{fill:none;stroke-width:1.5}
.page{fill:#fff}text{fill:#1f2328}.soft{fill:#59636e}.one{fill:#2166b0}.two{fill:#d9730d}.bad{fill:#c62828}.line{stroke:#d1d9e0}.limit{stroke:#c62828}.curve.one{fill:none;stroke:#2166b0}.curve.two{fill:none;stroke:#d9730d}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9198a1}.one{fill:#58a6ff}.two{fill:#f0a35e}.bad{fill:#ff7b72}.line{stroke:#3d444d}.limit{stroke:#ff7b72}.curve.one{stroke:#58a6ff}.curve.two{stroke:#f0a35e}}
</style>
`

// put adds one element.
func (s *svg) put(format string, values ...any) {
	_, _ = fmt.Fprintf(s, format+"\n", values...) // a Builder never fails
}

func (s *svg) rect(class string, x, y, width, height float64) {
	s.put(`<rect class=%q x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, width, height)
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	s.put(`<line class=%q x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (s *svg) text(class string, x, y float64, format string, values ...any) {
	s.put(`<text class=%q x="%.1f" y="%.1f">%s</text>`, class, x, y, html.EscapeString(fmt.Sprintf(format, values...)))
}

// curve joins points.
func (s *svg) curve(class string, xs, ys []float64) {
	points := make([]string, len(xs))
	for i := range xs {
		points[i] = fmt.Sprintf("%.1f,%.1f", xs[i], ys[i])
	}
	s.put(`<polyline class="curve %s" points=%q/>`, class, strings.Join(points, " "))
}

// document closes the drawing.
func (s *svg) document(title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" role="img"><title>%s</title>`,
		width, s.y, width, s.y, html.EscapeString(title)) +
		"\n" + style + fmt.Sprintf(`<rect class="page" width="%d" height="%.0f"/>`, width, s.y) + "\n" + s.String() + "</svg>\n"
}
