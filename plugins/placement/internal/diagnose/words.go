// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// lexicon is what resources are called in texts: GPUs for nvidia.com/gpu, unless there is another kind of GPU.
type lexicon map[string]noun

type noun struct{ one, many string }

func newLexicon(resources []string) lexicon {
	last := func(name string) string { return name[strings.LastIndex(name, "/")+1:] }
	words := lexicon{}
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
			words[name] = noun{name, name}
		case slices.Contains([]string{"gpu", "npu", "xpu", "tpu"}, strings.ToLower(word)):
			words[name] = noun{strings.ToUpper(word), strings.ToUpper(word) + "s"}
		default:
			words[name] = noun{word, word}
		}
	}
	return words
}

// of says for example "6 GPUs" or "12 cpu".
func (l lexicon) of(amount int64, resource string) string {
	if amount == 1 {
		return "1 " + l[resource].one
	}
	return strconv.FormatInt(amount, 10) + " " + l[resource].many
}

// amounts says for example "2 GPUs and 8 cpu"; more puts a word in between: "2 more GPUs and 8 more cpu".
func (l lexicon) amounts(amounts []int64, resources []string, more string) string {
	var parts []string
	for r, amount := range amounts {
		if amount > 0 {
			parts = append(parts, strings.Replace(l.of(amount, resources[r]), " ", " "+more, 1))
		}
	}
	return listed(parts, "nothing")
}

// listed says "a", "a and b" or "a, b and c".
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

// tiers that are called by a number, "tier 1", are no nouns for their domains.
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
