// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Unit is how texts write amounts of a resource: "6 GPUs", "64.5 GiB of memory".
type Unit struct {
	// One and Many are the noun after 1 and after other numbers.
	One, Many string
	// Number writes an amount in the unit, rounded up or down. Nil writes the amount itself.
	Number func(amount int64, up bool) string
}

// unitTable is the unit of each resource.
type unitTable map[string]Unit

// newUnitTable names resources by the last part of their names: GPUs for nvidia.com/gpu, unless there is another kind of GPU.
func newUnitTable(resources []string) unitTable {
	last := func(name string) string { return name[strings.LastIndex(name, "/")+1:] }
	words := unitTable{}
	for _, name := range resources {
		word := last(name)
		alike := 0
		for _, other := range resources {
			if last(other) == word {
				alike++
			}
		}
		switch {
		case alike > 1 || word == "":
			words[name] = Unit{One: name, Many: name}
		case slices.Contains([]string{"gpu", "npu", "xpu", "tpu"}, strings.ToLower(word)):
			words[name] = Unit{One: strings.ToUpper(word), Many: strings.ToUpper(word) + "s"}
		default:
			words[name] = Unit{One: word, Many: word}
		}
	}
	return words
}

// SetUnits sets the units of the diagnosis's texts. units is called with each resource and the largest amount of it that
// is needed anywhere; it returns false to keep the amounts as they are.
func (e *Diagnosis) SetUnits(units func(resource string, largest int64) (Unit, bool)) {
	largest := map[string]int64{}
	add := func(resource string, amount int64) { largest[resource] = max(largest[resource], amount) }
	vector := func(amounts []int64) {
		for r, amount := range amounts {
			add(e.resources[r], amount)
		}
	}
	for r := range e.Roles {
		vector(e.Roles[r].Request)
	}
	for t := range e.Tiers {
		for b := range e.Tiers[t].Best {
			for s := range e.Tiers[t].Best[b].Blockers {
				for blocker := &e.Tiers[t].Best[b].Blockers[s]; blocker != nil; blocker = blocker.Also {
					add(blocker.Resource, blocker.Needed)
					add(blocker.Other, blocker.OtherNeeded)
				}
			}
		}
	}
	for r := range e.Suggestions {
		vector(e.Suggestions[r].Increase)
		for g := range e.Suggestions[r].Increases {
			vector(e.Suggestions[r].Increases[g].Amounts)
		}
	}
	e.units = newUnitTable(e.resources)
	for _, resource := range e.resources {
		if unit, ok := units(resource, largest[resource]); ok {
			e.units[resource] = unit
		}
	}
}

// number is an amount without the noun.
func (l unitTable) number(amount int64, resource string, up bool) string {
	if number := l[resource].Number; number != nil {
		return number(amount, up)
	}
	return strconv.FormatInt(amount, 10)
}

func (l unitTable) of(amount int64, resource string, up bool) string {
	number := l.number(amount, resource, up)
	if number == "1" {
		return number + " " + l[resource].One
	}
	return number + " " + l[resource].Many
}

// free returns for example "6 GPUs" or "12 cpu", rounded down.
func (l unitTable) free(amount int64, resource string) string { return l.of(amount, resource, false) }

// needed returns the same, rounded up.
func (l unitTable) needed(amount int64, resource string) string { return l.of(amount, resource, true) }

// amounts returns for example "2 GPUs and 8 cpu"; more puts a word in between: "2 more GPUs and 8 more cpu".
func (l unitTable) amounts(amounts []int64, resources []string, more string) string {
	var parts []string
	for r, amount := range amounts {
		if amount > 0 {
			parts = append(parts, strings.Replace(l.needed(amount, resources[r]), " ", " "+more, 1))
		}
	}
	return listed(parts, "nothing")
}

// listed returns "a", "a and b" or "a, b and c".
func listed(parts []string, none string) string {
	switch len(parts) {
	case 0:
		return none
	case 1:
		return parts[0]
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// plural of a role's name, which may be one already: "workers", "ps".
func plural(count int, name string) string {
	if count == 1 || strings.HasSuffix(name, "s") {
		return name
	}
	return name + "s"
}

func numberOf(count int, name string) string { return fmt.Sprintf("%d %s", count, plural(count, name)) }

// numbered reports whether a tier is called by a number, "tier 1", which is no noun for its domains.
func numbered(tier string) bool { return strings.HasPrefix(strings.ToLower(tier), "tier") }

// oneOf a tier: "one rack", "one domain of tier 1".
func oneOf(tier string) string {
	if numbered(tier) {
		return "one domain of " + tier
	}
	return "one " + tier
}

// severalOf a tier: "2 racks", "2 domains of tier 1".
func severalOf(count int, tier string) string {
	if numbered(tier) {
		return numberOf(count, "domain") + " of " + tier
	}
	return numberOf(count, tier)
}

// placeName of a domain: "rack b1/r3", "the cluster".
func placeName(tier, domain string) string {
	switch {
	case domain == tier: // the root
		return "the " + domain
	case numbered(tier):
		return "domain " + domain + " of " + tier
	}
	return tier + " " + domain
}

// asLimit is a tier as a limit: "tier rack", "tier 1".
func asLimit(tier string) string {
	if numbered(tier) {
		return tier
	}
	return "tier " + tier
}
