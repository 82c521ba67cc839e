// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	leastWidth  = 640 // of a drawing with its words above the tree
	besideWidth = 440 // of words beside it
	legendWidth = 320 // least width of a legend beside the table
	gutter      = 40  // between columns
)

func (s *scene) title() string {
	if s.o.Title != "" {
		return s.o.Title
	}
	return "Plan of one job"
}

// words writes all words, up to a right edge, and says where they end.
func (p *painter) words(right int) extent {
	y := margin + 14
	p.titled("b", margin, y, 18, shorten(p.title(), 18, right-margin), p.title())
	for _, line := range p.summary() {
		y += 22
		p.text("s", margin, y, bodySize, line)
	}
	y += 14
	table := p.table(y)
	if left := table.w + gutter; right-left >= legendWidth {
		return extent{right, max(table.h, p.legend(left, y+4, right))}
	}
	right = max(right, table.w)
	return extent{right, p.legend(margin, table.h+14, right)}
}

// summary says how many pods are where, and how good the plan is.
func (s *scene) summary() []string {
	pods, gpus := 0, 0
	for _, list := range s.pods {
		for _, pod := range list {
			pods++
			gpus += pod.gpus
		}
	}
	text := count(pods, "pod")
	if gpus > 0 {
		text += " with " + count(gpus, "GPU")
	}
	text += " on " + count(len(s.pods), s.tierName(0))
	if s.plan.Optimal {
		text += ". No plan is cheaper."
	}
	lines := []string{text}
	left := make([]int, len(s.d.Roles))
	for _, member := range s.plan.Left {
		left[member.Role]++
	}
	var none []string
	for role, n := range left {
		if n > 0 {
			none = append(none, fmt.Sprintf("%s of %s", thousands(n), s.d.Roles[role].Name))
		}
	}
	if len(none) > 0 {
		lines = append(lines, "No room for "+strings.Join(none, ", ")+".")
	}
	return lines
}

// where a domain is, for people: "rack b1/r2".
func (s *scene) where(d placement.DomainID) string { return s.tierName(d) + " " + s.t.DomainName(d) }
