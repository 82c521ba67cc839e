// SPDX-License-Identifier: Apache-2.0

// Package svg writes drawings for the benchmarks that need nothing beside themselves and follow the reader's light or dark
// setting. What is drawn, and where, is not decided here.
package svg

import (
	"fmt"
	"html"
	"strings"
)

// Drawing is one under way. Colours are classes: "one" and "two" of things that are compared, "soft" of what is said beside
// them, "line" of axes; "end" and "mid" align a text. Classes may be joined by spaces.
type Drawing struct {
	// Width and Height in pixels. The height may be set last.
	Width, Height float64
	elements      strings.Builder
}

const style = `<style>
svg{font:12px system-ui,sans-serif}.title{font-weight:600;font-size:14px}.end{text-anchor:end}.mid{text-anchor:middle}.range{stroke-width:1.5}
.page{fill:#fff}text{fill:#1f2328}.soft{fill:#59636e}.one{fill:#2166b0}.two{fill:#d9730d}.line{stroke:#d1d9e0}.range{stroke:#1f2328}.dot{fill:#fff;stroke:#1f2328}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9198a1}.one{fill:#58a6ff}.two{fill:#f0a35e}.line{stroke:#3d444d}.range{stroke:#e6edf3}.dot{fill:#0d1117;stroke:#e6edf3}}
</style>
`

// put adds one element.
func (d *Drawing) put(format string, values ...any) {
	_, _ = fmt.Fprintf(&d.elements, format+"\n", values...) // a Builder never fails
}

// Rect is filled.
func (d *Drawing) Rect(class string, x, y, width, height float64) {
	d.put(`<rect class=%q x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, width, height)
}

// Line is straight.
func (d *Drawing) Line(class string, x1, y1, x2, y2 float64) {
	d.put(`<line class=%q x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// Dot is a small circle.
func (d *Drawing) Dot(class string, x, y, radius float64) {
	d.put(`<circle class=%q cx="%.1f" cy="%.1f" r="%.1f"/>`, class, x, y, radius)
}

// Text has its foot at y.
func (d *Drawing) Text(class string, x, y float64, format string, values ...any) {
	d.put(`<text class=%q x="%.1f" y="%.1f">%s</text>`, class, x, y, html.EscapeString(fmt.Sprintf(format, values...)))
}

// Document is the whole file.
func (d *Drawing) Document(title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img"><title>%s</title>`,
		d.Width, d.Height, d.Width, d.Height, html.EscapeString(title)) +
		"\n" + style + fmt.Sprintf(`<rect class="page" width="%.0f" height="%.0f"/>`, d.Width, d.Height) + "\n" + d.elements.String() + "</svg>\n"
}
