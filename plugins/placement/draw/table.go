// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// table of what each tier carries in a step, highest tier first, from plan.Cost. It says where the table ends.
func (p *painter) table(y int) extent {
	rows := [][]string{{"", "used", "crosses their borders", "busiest uplink", "price"}}
	for i, tier := range slices.Backward(p.plan.Cost.Tiers) {
		used := ""
		if i >= placement.NodeTier { // islands are not counted
			lo, hi := p.t.Domains(i)
			used = thousands(tier.Domains) + " of " + thousands(int(hi-lo))
		}
		crosses, busiest := "nothing", "–"
		if tier.Bytes > 0 {
			crosses, busiest = p.amount(tier.Bytes), p.amount(tier.Busiest)
		}
		rows = append(rows, []string{plural(tier.Tier.Name), used, crosses, busiest, "× " + threeDigits(tier.Tier.Price)})
	}
	x := margin
	for column := range rows[0] {
		widest := 0
		for i, row := range rows {
			class := ""
			if i == 0 || column == 0 || column == 4 {
				class = "s"
			}
			p.text(class, x, y+textHeight*(i+1)-4, bodySize, row[column])
			widest = max(widest, textWidth(row[column], bodySize))
		}
		x += widest + 20
	}
	right := x - 20
	p.put(`<path class="rule" d="M%d,%dH%d"/>`, margin, y+textHeight+1, right)
	y += textHeight*len(rows) + 4
	for _, line := range p.totals() {
		y += textHeight
		p.text("s", margin, y, bodySize, line)
		right = max(right, margin+textWidth(line, bodySize))
	}
	return extent{right, y + 6}
}

// totals are sentences below the table.
func (s *scene) totals() []string {
	cost := s.plan.Cost
	lines := []string{"Per step, in each direction."}
	if cost.Priced > 0 {
		lines[0] += " Price times bytes: " + s.amount(cost.Priced) + " in all."
	}
	if s.d.ParameterBytes == 0 {
		lines = append(lines, "M is the size of the model's parameters.")
	}
	switch d := cost.BusiestUplink; {
	case d != placement.NoDomain:
		if seconds := s.seconds(cost.BusiestSeconds, s.t.Bandwidth(d)); seconds != "" {
			lines = append(lines, fmt.Sprintf("The busiest uplink takes %s: %s.", seconds, s.where(d)))
		}
	case cost.BusiestSeconds > 0:
		if seconds := s.seconds(cost.BusiestSeconds, s.t.Tiers()[placement.IslandTier].Bandwidth); seconds != "" {
			lines = append(lines, fmt.Sprintf("The busiest takes %s: out of an %s.", seconds, s.t.Tiers()[placement.IslandTier].Name))
		}
	}
	return lines
}
