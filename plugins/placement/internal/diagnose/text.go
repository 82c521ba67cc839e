// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// sentenceLength is how many bytes a sentence has at most.
const sentenceLength = 300

// String returns the diagnosis as one sentence; tiers have the names of the topology.
func (e *Diagnosis) String() string { return e.Sentence(nil) }

// Sentence returns the diagnosis as one sentence of at most 300 bytes. label names a tier as a limit, for example by the
// number that users write ("1"); nil takes its name.
func (e *Diagnosis) Sentence(label func(tier int) string) string {
	if e.Plan != nil {
		if left := len(e.Plan.Left); left > 0 {
			return fmt.Sprintf("it fits, but for %d members beyond the minimum", left)
		}
		return "it fits"
	}
	label = e.orNames(label)
	limit := e.limit(label)
	fits := "; no single change was found with which it fits"
	if len(e.Suggestions) > 0 {
		fits = "; fits " + e.Suggestions[0].text(e, label)
	}
	why := e.why(within{limit.one, ""})
	for _, sentence := range []string{e.why(limit) + fits, why + fits, why} {
		if len(sentence) <= sentenceLength {
			return sentence
		}
	}
	return strings.ToValidUTF8(why[:sentenceLength-3], "") + "..."
}

// within is the domain that must hold the whole gang, and why: " in one rack", " (networkTopology hard, tier rack)".
type within struct{ one, limit string }

// limit is the highest tier that the gang allows, as users write it.
func (e *Diagnosis) limit(label func(tier int) string) within {
	if tier := &e.Tiers[e.DecidingTier]; e.limited() {
		return within{" in " + oneOf(tier.Name), " (networkTopology hard, " + asLimit(label(tier.Tier)) + ")"}
	}
	return within{}
}

// orNames is a label, or the names of tiers where there is none.
func (e *Diagnosis) orNames(label func(tier int) string) func(tier int) string {
	if label != nil {
		return label
	}
	return func(tier int) string { return e.Tiers[tier-tree.NodeTier].Name }
}

func (e *Diagnosis) limited() bool { return e.DecidingTier < len(e.Tiers)-1 }

// BlockerKind returns the kind of the first blocker of the deciding domain; "" if the demand fits.
func (e *Diagnosis) BlockerKind() BlockerKind {
	if e.Plan != nil {
		return ""
	}
	return e.decidingDomain().Blockers[0].Kind
}

func (e *Diagnosis) why(together within) string {
	blocker := &e.decidingDomain().Blockers[0]
	tier := &e.Tiers[e.DecidingTier]
	switch blocker.Kind {
	case RunningApart:
		return fmt.Sprintf("running members are in %s, and all must be in %s", severalOf(blocker.Nodes, tier.Name), oneOf(tier.Name)) + together.limit
	case NoServerNearby:
		return e.whyNoServerNearby(blocker) + together.limit
	case NotFound:
		return fmt.Sprintf("no plan was found, though %s seems to have room for all", placeName(tier.Name, e.decidingDomain().short)) + together.limit
	}
	var missing []string
	sum := 0
	for r := range e.Roles {
		role := &e.Roles[r]
		if role.Missing == 0 {
			continue
		}
		sum += role.Missing
		of := fmt.Sprintf("%d of %s", role.Missing, numberOf(role.Minimum, role.Name))
		if role.Members > role.Minimum {
			of += " (the minimum)"
		}
		missing = append(missing, of)
	}
	verb := "have"
	if sum == 1 {
		verb = "has"
	}
	return fmt.Sprintf("%s %s no room: %s", listed(missing, "some members"), verb, e.because(tier.Name, e.decidingDomain(), blocker, together))
}

func (e *Diagnosis) whyNoServerNearby(blocker *Blocker) string {
	role, tier := e.Roles[blocker.Role].Name, e.Tiers[blocker.Tier-tree.NodeTier].Name
	why := fmt.Sprintf("each %s must have a server in its %s (colocation Required)", role, tier)
	switch {
	case blocker.Free < 0:
		return why + ", and no such plan was found in " + placeName(e.Tiers[e.DecidingTier].Name, e.decidingDomain().short)
	case blocker.Nodes == 0:
		return why + ", and no " + tier + " has room for a server"
	case blocker.Nodes == 1:
		return fmt.Sprintf("%s: the best %s for a server has room for %d of %s", why, tier, blocker.Free, numberOf(int(blocker.Needed), role))
	}
	return fmt.Sprintf("%s: the best %s for servers have room for %d of %s", why, severalOf(blocker.Nodes, tier), blocker.Free, numberOf(int(blocker.Needed), role))
}

// because returns what keeps a member out of a domain, in words.
func (e *Diagnosis) because(tier string, capacity *DomainCapacity, blocker *Blocker, together within) string {
	where, role := placeName(tier, capacity.short), e.Roles[blocker.Role].Name
	with, free, needed := "", "free", e.units.number(blocker.Needed, blocker.Resource, true)
	if blocker.Eligible < blocker.Nodes {
		with = fmt.Sprintf(" on the %d of %d nodes that a %s may use", blocker.Eligible, blocker.Nodes, role)
	}
	if slices.Max(capacity.Together) > 0 {
		free = "left"
	}
	switch blocker.Kind {
	case NotEligible:
		return notEligible(where, role, blocker) + together.limit
	case Fragmented:
		return fmt.Sprintf("%s has %s %s%s, but no node has the %s that one %s needs (the most is %s)",
			where, e.units.free(blocker.Free, blocker.Resource), free, with, needed, role, e.units.number(blocker.Most, blocker.Resource, false)) + together.limit
	case NoSingleNode:
		return fmt.Sprintf("%s has %s with %s %s%s, but none with %s too", where, numberOf(blocker.Having, "node"),
			e.units.needed(blocker.Needed, blocker.Resource), free, with, e.units.needed(blocker.OtherNeeded, blocker.Other)) + together.limit
	}
	if blocker.Left {
		return fmt.Sprintf("%s has %s left%s, and one more %s needs %s",
			where, e.units.free(blocker.Free, blocker.Resource), with, role, needed) + together.limit
	}
	why := fmt.Sprintf("%s has %s free%s, %s needed%s%s",
		where, e.units.free(blocker.Free, blocker.Resource), with, needed, together.one, together.limit)
	if also := blocker.Also; also != nil {
		why += ", and " + e.besides(role, also)
	}
	return why
}

// besides returns what keeps the next member out although there is enough in all for one more.
func (e *Diagnosis) besides(role string, blocker *Blocker) string {
	each := e.units.needed(blocker.Needed, blocker.Resource)
	number := func(amount int64) string { return e.units.number(amount, blocker.Resource, false) }
	switch blocker.Kind {
	case Fragmented:
		return fmt.Sprintf("no node has the %s that one %s needs (the most is %s)", each, role, number(blocker.Most))
	case NoSingleNode:
		return fmt.Sprintf("no node with %s left has %s too", each, e.units.needed(blocker.OtherNeeded, blocker.Other))
	}
	return fmt.Sprintf("one more %s needs %s, of which %s are left", role, each, number(blocker.Free))
}

func notEligible(where, role string, blocker *Blocker) string {
	switch {
	case blocker.Nodes == 1:
		return fmt.Sprintf("%s is not eligible for a %s", where, role)
	case blocker.Eligible == 0:
		return fmt.Sprintf("none of the %d nodes of %s is eligible for a %s", blocker.Nodes, where, role)
	case blocker.Eligible == 1:
		return fmt.Sprintf("only 1 of %d nodes of %s is eligible for a %s", blocker.Nodes, where, role)
	}
	return fmt.Sprintf("only %d of %d nodes of %s are eligible for a %s", blocker.Eligible, blocker.Nodes, where, role)
}

// Why returns the sentence without the suggestion.
func (e *Diagnosis) Why(label func(tier int) string) string {
	if e.Plan != nil {
		return e.Sentence(label)
	}
	why := e.why(e.limit(e.orNames(label)))
	if len(why) <= sentenceLength {
		return why
	}
	return strings.ToValidUTF8(why[:sentenceLength-3], "") + "..."
}

// SuggestionTexts returns the suggestions in words, in their order: "with 2 workers".
func (e *Diagnosis) SuggestionTexts(label func(tier int) string) (texts []string) {
	label = e.orNames(label)
	for i := range e.Suggestions {
		texts = append(texts, e.Suggestions[i].text(e, label))
	}
	return texts
}
