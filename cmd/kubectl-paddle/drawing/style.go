// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"strconv"
	"strings"
)

// ink is a colour of jobs, and that of a letter on it; by day and by night.
type ink struct{ day, onDay, night, onNight string }

// inks are the colours of Okabe and Ito (Color Universal Design, 2008), which people with any colour vision distinguish.
var inks = []ink{
	{"#0072b2", "#fff", "#3d97d3", "#0d1117"},
	{"#e69f00", "#1b1b1b", "#e69f00", "#0d1117"},
	{"#009e73", "#0b0b0b", "#1db489", "#0d1117"},
	{"#cc79a7", "#1b1b1b", "#d58fb5", "#0d1117"},
	{"#56b4e9", "#1b1b1b", "#8acdf2", "#0d1117"},
	{"#d55e00", "#0b0b0b", "#e5762a", "#0d1117"},
	{"#f0e442", "#1b1b1b", "#f0e442", "#0d1117"},
}

// grains distinguish jobs of one colour: nothing, stripes one way, the other way, and dots.
var grains = []string{"", "M-1 7L7 -1M-1 1L1 -1M5 7L7 5", "M-1 -1L7 7M5 -1L7 1M-1 5L1 7", "M1 1h2v2h-2zM4 4h2v2h-2z"}

// look is the colour and the grain of a job by its position.
func look(job int) (colour, grain int) { return job % len(inks), job / len(inks) % len(grains) }

const day = `:root{--page:#fff;--text:#1f2328;--soft:#59636e;--line:#d1d9e0;--rack:#f6f8fa;--free:#8c959f;--other:#aab2bb;--off:#c62828}`

const night = `:root{--page:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#3d444d;--rack:#161b22;--free:#656c76;--other:#5a626c;--off:#ff7b72}`

const shapes = `
svg{font:9px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
svg text{fill:var(--text)}svg .e{text-anchor:end;fill:var(--soft)}svg .l{text-anchor:middle;font-weight:700;font-size:8px;paint-order:stroke;stroke-width:2.5}
.card{fill:var(--rack);stroke:var(--line)}.f{fill:none;stroke:var(--free);stroke-width:.6}.x{fill:var(--other)}.u{fill:url(#u)}.off{stroke:var(--off);stroke-width:1.6;fill:none}
.g{fill:none;stroke:var(--page);stroke-width:1.5;stroke-opacity:.75}.dot{fill:var(--soft)}
`

// style is what all drawings of a map share: colours by day and by night, and for each job how it looks.
func (m *Map) style() string {
	var b, byNight strings.Builder
	b.WriteString(day + shapes)
	for i, c := range inks {
		fmt.Fprintf(&b, ".c%d{fill:%s}", i, c.day)
		fmt.Fprintf(&byNight, ".c%d{fill:%s}", i, c.night)
	}
	b.WriteByte('\n')
	for i := range m.Jobs {
		colour, grain := look(i)
		fmt.Fprintf(&b, "svg .l.k%d{fill:%s;stroke:%s}", i, inks[colour].onDay, inks[colour].day)
		fmt.Fprintf(&byNight, "svg .l.k%d{fill:%s;stroke:%s}", i, inks[colour].onNight, inks[colour].night)
		if grain > 0 {
			fmt.Fprintf(&b, "path.k%d{fill:url(#p%d-%d)}", i, colour, grain)
			continue
		}
		fmt.Fprintf(&b, "path.k%d{fill:%s}", i, inks[colour].day)
		fmt.Fprintf(&byNight, "path.k%d{fill:%s}", i, inks[colour].night)
	}
	// Paper is white: a dark screen's colours would be lost on it.
	return b.String() + "\n@media screen and (prefers-color-scheme:dark){" + night + byNight.String() + "}\n"
}

// lit returns the style that highlights one job, "" for none.
func lit(job int) string {
	if job < 0 {
		return ""
	}
	return strings.ReplaceAll(litStyle, "%", strconv.Itoa(job))
}

// litStyle is lit with % for the job's position; the page's script reads it too.
const litStyle = "path.k,.x{opacity:.3}path.k.k%{opacity:1;stroke:var(--text);stroke-width:1.2;paint-order:stroke}svg .l.k:not(.k%){fill:var(--text);stroke:none;opacity:.8}"

// patterns are the grains of those colours that are used, and that of cells of which nothing is known.
func (m *Map) patterns() string {
	var b strings.Builder
	b.WriteString(`<defs><pattern id="u" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="dot" x="1" y="1" width="1.4" height="1.4"/></pattern>`)
	for i := range min(len(m.Jobs), len(inks)*len(grains)) {
		if colour, grain := look(i); grain > 0 {
			fmt.Fprintf(&b, `<pattern id="p%d-%d" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="c%d" width="6" height="6"/><path class="g" d=%q/></pattern>`,
				colour, grain, colour, grains[grain])
		}
	}
	return b.String() + "</defs>\n"
}
