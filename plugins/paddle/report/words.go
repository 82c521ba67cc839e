// SPDX-License-Identifier: Apache-2.0

package report

import "strings"

// Plural returns a noun for so many.
func Plural(n int, noun string) string {
	if n == 1 || strings.HasSuffix(noun, "s") {
		return noun
	}
	return noun + "s"
}

// List returns a list such as "a, b and c".
func List(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// Domains returns the noun for so many domains of a tier. Tiers that are called by a number are no nouns.
func Domains(n int, tier string) string {
	if strings.HasPrefix(tier, "tier") {
		return Plural(n, "domain") + " of " + tier
	}
	return Plural(n, tier)
}

// Place returns a domain of a tier: "rack r1", "domain s1 of tier 1", "the cluster".
func Place(tier, domain string) string {
	switch {
	case domain == tier: // the root
		return "the " + domain
	case strings.HasPrefix(tier, "tier"):
		return "domain " + domain + " of " + tier
	}
	return tier + " " + domain
}

// tierLabel returns a tier as a limit: "tier rack", "tier 1".
func tierLabel(tier string) string { return "tier " + strings.TrimPrefix(tier, "tier ") }

// Shorten returns at most so many bytes of a text: whole lines as far as they fit, else whole characters.
func Shorten(text string, most int) string {
	const more = "..."
	if len(text) <= most {
		return text
	}
	kept := strings.ToValidUTF8(text[:most-len(more)], "")
	if line := strings.LastIndexByte(kept, '\n'); line > 0 {
		kept = kept[:line+1]
	}
	return kept + more
}
