// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strings"
)

// ink is a fill and a text on it, in light and dark.
type ink struct{ light, onLight, dark, onDark string }

// roleInks are after Okabe and Ito (Color Universal Design, 2008), which people with any colour vision tell apart; some
// are lighter in the dark. Their vermilion is left for uplinks.
var roleInks = []ink{
	{"#0072b2", "#ffffff", "#3391d3", "#0b1016"}, // blue
	{"#e69f00", "#1b1b1b", "#e9ab2a", "#0b1016"}, // orange
	{"#009e73", "#ffffff", "#19b58b", "#0b1016"}, // green
	{"#cc79a7", "#1b1b1b", "#d58fb5", "#0b1016"}, // purple
	{"#56b4e9", "#1b1b1b", "#8fd0f5", "#0b1016"}, // sky
	{"#f0e442", "#1b1b1b", "#f0e442", "#0b1016"}, // yellow
}

// loadInks are of uplinks by load, from little to the largest, with their widths: stronger with the load.
var loadInks = []struct {
	light, dark string
	width       float64
}{
	{"#ecb994", "#8a5230", 2},
	{"#eb9a63", "#b86a35", 3.5},
	{"#e06a1b", "#e07f36", 5},
	{"#c43e00", "#ffa666", 7},
}

// theme is a fixed part of the style, in light and dark.
const light = `
.pv{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.pv text{fill:#1f2328}
.pv .s{fill:#59636e}
.pv .b{font-weight:600}
.pv .paper{fill:#ffffff}
.pv .box{fill:#656d76;fill-opacity:.06;stroke:#8c959f;stroke-opacity:.55}
.pv .node{fill:#ffffff;stroke:#8c959f}
.pv .isle{fill:none;stroke:#8c959f;stroke-opacity:.7}
.pv .rest{fill:none;stroke:#8c959f;stroke-dasharray:3 3}
.pv .wire{fill:none;stroke:#8c959f;stroke-width:1.5}
.pv .u0{stroke:#8c959f;stroke-dasharray:2 2}
.pv .free{fill:none;stroke:#8c959f;stroke-opacity:.8}
.pv .other{fill:#c3c9d0;stroke:#c3c9d0}
.pv .rule{stroke:#d1d9e0}
.pv text.n{text-anchor:middle}
.pv .halo{paint-order:stroke;stroke:#ffffff;stroke-width:3;stroke-linejoin:round}
`

const dark = `
.pv text{fill:#e6edf3}
.pv .s{fill:#9198a1}
.pv .paper{fill:#0d1117}
.pv .box{fill:#9198a1;fill-opacity:.08;stroke:#656c76;stroke-opacity:.8}
.pv .node{fill:#0d1117;stroke:#656c76}
.pv .isle{stroke:#656c76}
.pv .rest,.pv .wire,.pv .u0{stroke:#656c76}
.pv .free{stroke:#656c76}
.pv .other{fill:#3d444d;stroke:#3d444d}
.pv .rule{stroke:#3d444d}
.pv .halo{stroke:#0d1117}
`

// style sheet with the colours of so many roles. Roles beyond the last colour have the first ones again, with an outline.
func style(roles int) string {
	var byDay, byNight, stripes strings.Builder
	for i := range min(roles, len(roleInks)) {
		c := roleInks[i]
		fmt.Fprintf(&byDay, ".pv .r%d{fill:%s;stroke:%s}.pv text.t%d{fill:%s}\n", i, c.light, c.light, i, c.onLight)
		fmt.Fprintf(&stripes, ".pv .f%d{fill:url(#pv%d)}", i, i)
		fmt.Fprintf(&byNight, ".pv .r%d{fill:%s;stroke:%s}.pv text.t%d{fill:%s}\n", i, c.dark, c.dark, i, c.onDark)
	}
	for i, c := range loadInks {
		fmt.Fprintf(&byDay, ".pv .u%d{stroke:%s;stroke-width:%g}\n", i+1, c.light, c.width)
		fmt.Fprintf(&byNight, ".pv .u%d{stroke:%s}\n", i+1, c.dark)
	}
	if roles > len(roleInks) {
		byDay.WriteString(".pv .again{stroke:#1f2328;stroke-width:1.8}\n")
		byNight.WriteString(".pv .again{stroke:#e6edf3}\n")
	}
	return "<style>" + light + byDay.String() + "@media (prefers-color-scheme:dark){" + dark + byNight.String() + "}\n" +
		stripes.String() + ".pv .q{stroke:none}\n</style>\n"
}

// patterns of pods that have been there: stripes in their role's colour.
func patterns(roles int) string {
	var b strings.Builder
	for i := range min(roles, len(roleInks)) {
		fmt.Fprintf(&b, `<pattern id="pv%d" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`+
			`<rect class="r%d q" width="1.3" height="4"/></pattern>`+"\n", i, i)
	}
	return "<defs>\n" + b.String() + "</defs>\n"
}
