// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// sign is one entry of the legend: a picture, 16 high, and what it means.
type sign struct {
	picture func(x, y int) string
	width   int
	text    string
}

// legend writes the signs that the drawing uses, in lines between two edges, and says where it ends.
func (p *painter) legend(left, y, right int) int {
	for _, signs := range [][]sign{p.roleSigns(), p.cellSigns(), p.loadSigns()} {
		x := left
		for i, sign := range signs {
			text := shorten(sign.text, bodySize, right-left-sign.width-6)
			w := sign.width + 6 + textWidth(text, bodySize)
			if i > 0 && x+w > right {
				x, y = left, y+22
			}
			p.WriteString(sign.picture(x, y) + "\n")
			p.text("", x+sign.width+6, y+12, bodySize, text)
			x += w + 14
		}
		if len(signs) > 0 {
			y += 24
		}
	}
	return y
}

// roleSigns name the roles of the job with the number of their pods.
func (p *painter) roleSigns() (signs []sign) {
	fresh, running := make([]int, len(p.d.Roles)), make([]int, len(p.d.Roles))
	for _, pods := range p.pods {
		for _, pod := range pods {
			if pod.fixed {
				running[pod.role]++
			} else {
				fresh[pod.role]++
			}
		}
	}
	for r := range p.d.Roles {
		role := &p.d.Roles[r]
		text := role.Name + ": " + count(fresh[r]+running[r], "pod")
		if gpus := p.t.GPUs(role.Request); gpus > 0 {
			text += " of " + count(int(gpus), "GPU")
		}
		if running[r] > 0 {
			text += fmt.Sprintf(" (%s running already)", thousands(running[r]))
		}
		signs = append(signs, sign{p.swatch(pod{role: r}), 14, text})
	}
	return signs
}

func (p *painter) swatch(pod pod) func(x, y int) string {
	return func(x, y int) string {
		return fmt.Sprintf(`<path%s d="%s"/>`, p.role(pod), oneSquare(x, y+1))
	}
}

func oneSquare(x, y int) string {
	var b strings.Builder
	square(&b, x, y, 14)
	return b.String()
}

// cellSigns are how GPUs and pods look.
func (p *painter) cellSigns() (signs []sign) {
	cell := func(class string) func(x, y int) string {
		return func(x, y int) string { return fmt.Sprintf(`<path class="%s" d="%s"/>`, class, oneSquare(x, y+1)) }
	}
	if p.shows.fixed {
		running := pod{fixed: true}
		for len(p.d.Roles[running.role].Placed) == 0 {
			running.role++
		}
		signs = append(signs, sign{p.swatch(running), 14, "running already"})
	}
	if p.shows.free {
		signs = append(signs, sign{cell("free"), 14, "free GPU"})
	}
	if p.shows.others {
		signs = append(signs, sign{cell("other"), 14, "GPU of another job"})
	}
	if p.shows.islands {
		signs = append(signs, sign{func(x, y int) string {
			return fmt.Sprintf(`<rect class="isle" x="%d" y="%d" width="20" height="15" rx="4"/>`, x, y+1)
		}, 20, p.t.Tiers()[placement.IslandTier].Name + " of linked GPUs"})
	}
	if p.shows.chip {
		signs = append(signs, sign{func(x, y int) string {
			return fmt.Sprintf(`<rect class="free" x="%d" y="%d" width="16" height="12" rx="6"/>`, x, y+2)
		}, 16, p.chipMeaning()})
	}
	if p.scale.number > 0 {
		signs = append(signs, sign{func(x, y int) string {
			return fmt.Sprintf(`<text class="n s" x="%d" y="%d" font-size="10">0 1</text>`, x+8, y+12)
		}, 16, "index of the pod"})
	}
	return signs
}

func (p *painter) chipMeaning() string {
	for r := range p.d.Roles {
		if p.t.GPUs(p.d.Roles[r].Request) > 0 && p.shows.packed {
			return "pod"
		}
	}
	return "pod without GPUs"
}

// loadSigns are the widths of the uplinks that are there, and which one carries most.
func (p *painter) loadSigns() (signs []sign) {
	line := func(class int) func(x, y int) string {
		return func(x, y int) string { return fmt.Sprintf(`<path class="u%d" d="M%d,%dh22"/>`, class, x, y+8) }
	}
	if p.largest.Bytes == 0 {
		return []sign{{line(0), 22, "no uplink carries anything"}}
	}
	n, lead := len(loadInks), "uplink with "
	there := make([]bool, n+1)
	for _, load := range p.load {
		there[p.class(load.Bytes)] = true
	}
	for class := 1; class <= n; class++ {
		if there[class] {
			signs = append(signs, sign{line(class), 22, lead + "up to " + p.amount(p.largest.Bytes*float64(class)/float64(n))})
			lead = ""
		}
	}
	equal := -1
	for _, load := range p.load {
		if load.Bytes == p.largest.Bytes {
			equal++
		}
	}
	text := "largest: " + p.where(p.largest.Domain)
	if equal > 0 {
		text += " and " + thousands(equal) + " more"
	}
	return append(signs, sign{func(int, int) string { return "" }, -6, text})
}
