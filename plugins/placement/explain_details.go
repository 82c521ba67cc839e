// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"strings"
)

// Details is the explanation in full, on several lines: what is needed, the room in the best domains of each tier, and
// what would make it fit.
func (e *Explanation) Details() string {
	var text strings.Builder
	text.WriteString(e.String() + "\n")
	if e.Plan != nil {
		return text.String()
	}
	together := ""
	if e.limited() {
		together = " in " + oneOf(e.Tiers[e.Decisive].Name)
	}
	fmt.Fprintf(&text, "needed together%s:\n", together)
	for r := range e.Roles {
		role := &e.Roles[r]
		if role.needed() > 0 {
			fmt.Fprintf(&text, "  %s of %s%s\n", numberOf(role.needed(), role.Name), e.lexicon.amounts(role.Request, e.resources, ""), role.beside())
		}
	}
	text.WriteString("room in the best domains of each tier:\n")
	for i := range e.Tiers {
		e.describe(&text, &e.Tiers[i])
	}
	if len(e.Relaxations) == 0 {
		text.WriteString("no single change was found with which it fits\n")
		return text.String()
	}
	text.WriteString("it fits, nearest first:\n")
	for i := range e.Relaxations {
		text.WriteString("  " + e.Relaxations[i].text(e, func(tier int) string { return e.Tiers[tier-NodeTier].Name }) + "\n")
	}
	return text.String()
}

// beside are the members that are not needed now.
func (r *RoleNeed) beside() string {
	var parts []string
	if r.Running > 0 {
		run := "run"
		if r.Running == 1 {
			run = "runs"
		}
		parts = append(parts, fmt.Sprintf("%d %s already", r.Running, run))
	}
	if beyond := r.Members - max(r.Minimum, r.Running); beyond > 0 {
		parts = append(parts, fmt.Sprintf("%d more may wait", beyond))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (e *Explanation) describe(text *strings.Builder, tier *TierRoom) {
	for i := range tier.Best {
		room := &tier.Best[i]
		var together, alone []string
		for r := range e.Roles {
			if role := &e.Roles[r]; role.needed() > 0 {
				together = append(together, fmt.Sprintf("%d of %s", room.Together[r], numberOf(role.needed(), role.Name)))
				alone = append(alone, e.alone(room.Alone[r], role.Name))
			}
		}
		fmt.Fprintf(text, "  %s: %s", placeName(tier.Name, room.Name), listed(together, ""))
		if len(alone) > 1 {
			fmt.Fprintf(text, "; each role alone: %s", listed(alone, ""))
		}
		text.WriteString("\n")
		for s := range room.Stops {
			stop := &room.Stops[s]
			switch stop.Cause {
			case RunningApart, NoServer, NotFound:
			default:
				fmt.Fprintf(text, "    next %s: %s\n", e.Roles[stop.Role].Name, e.because(tier.Name, room, stop, within{}))
			}
		}
	}
}

func (e *Explanation) alone(count int64, role string) string {
	if count >= maxFit {
		return "any number of " + plural(2, role)
	}
	return numberOf(int(count), role)
}
