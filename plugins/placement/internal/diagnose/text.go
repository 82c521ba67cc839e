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

// String is the explanation as one sentence; tiers have the names of the topology.
func (e *Diagnosis) String() string { return e.Sentence(nil) }

// Sentence is the explanation as one sentence of at most about 300 characters, for people who train models. Label names a
// tier as a limit, for example by the number that users write ("1"); nil takes its name.
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

// within says in what the gang must be together, and why: " in one rack", " (networkTopology hard, tier rack)".
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

// BlockerKind of what decides: what is in the way of the first role that misses members; "" if the demand fits.
func (e *Diagnosis) BlockerKind() BlockerKind {
	if e.Plan != nil {
		return ""
	}
	return e.room().Blockers[0].Kind
}

func (e *Diagnosis) why(together within) string {
	stop := &e.room().Blockers[0]
	tier := &e.Tiers[e.DecidingTier]
	switch stop.Kind {
	case RunningApart:
		return fmt.Sprintf("running members are in %s, and all must be in %s", severalOf(stop.Nodes, tier.Name), oneOf(tier.Name)) + together.limit
	case NoServerNearby:
		return e.whyNoServer(stop) + together.limit
	case NotFound:
		return fmt.Sprintf("no plan was found, though %s seems to have room for all", placeName(tier.Name, e.room().short)) + together.limit
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
	return fmt.Sprintf("%s %s no room: %s", listed(missing, "some members"), verb, e.because(tier.Name, e.room(), stop, together))
}

func (e *Diagnosis) whyNoServer(stop *Blocker) string {
	role, tier := e.Roles[stop.Role].Name, e.Tiers[stop.Tier-tree.NodeTier].Name
	why := fmt.Sprintf("each %s must have a server in its %s (colocation Required)", role, tier)
	switch {
	case stop.Free < 0:
		return why + ", and no such plan was found in " + placeName(e.Tiers[e.DecidingTier].Name, e.room().short)
	case stop.Nodes == 0:
		return why + ", and no " + tier + " has room for a server"
	case stop.Nodes == 1:
		return fmt.Sprintf("%s: the best %s for a server has room for %d of %s", why, tier, stop.Free, numberOf(int(stop.Needed), role))
	}
	return fmt.Sprintf("%s: the best %s for servers have room for %d of %s", why, severalOf(stop.Nodes, tier), stop.Free, numberOf(int(stop.Needed), role))
}

// because says what is in the way of a member in a domain.
func (e *Diagnosis) because(tier string, room *DomainCapacity, stop *Blocker, together within) string {
	where, role := placeName(tier, room.short), e.Roles[stop.Role].Name
	with, free, needed := "", "free", e.lexicon.number(stop.Needed, stop.Resource, true)
	if stop.Eligible < stop.Nodes {
		with = fmt.Sprintf(" on the %d of %d nodes that a %s may use", stop.Eligible, stop.Nodes, role)
	}
	if slices.Max(room.Together) > 0 {
		free = "left"
	}
	switch stop.Kind {
	case NotEligible:
		return notEligible(where, role, stop) + together.limit
	case Fragmented:
		return fmt.Sprintf("%s has %s %s%s, but no node has the %s that one %s needs (the most is %s)",
			where, e.lexicon.free(stop.Free, stop.Resource), free, with, needed, role, e.lexicon.number(stop.Most, stop.Resource, false)) + together.limit
	case NoSingleNode:
		return fmt.Sprintf("%s has %s with %s %s%s, but none with %s too", where, numberOf(stop.Having, "node"),
			e.lexicon.needed(stop.Needed, stop.Resource), free, with, e.lexicon.needed(stop.OtherNeeded, stop.Other)) + together.limit
	}
	if stop.Left {
		return fmt.Sprintf("%s has %s left%s, and one more %s needs %s",
			where, e.lexicon.free(stop.Free, stop.Resource), with, role, needed) + together.limit
	}
	why := fmt.Sprintf("%s has %s free%s, %s needed%s%s",
		where, e.lexicon.free(stop.Free, stop.Resource), with, needed, together.one, together.limit)
	if also := stop.Also; also != nil {
		why += ", and " + e.besides(role, also)
	}
	return why
}

// besides says what keeps the next member out, though there is enough in all for one more.
func (e *Diagnosis) besides(role string, stop *Blocker) string {
	each := e.lexicon.needed(stop.Needed, stop.Resource)
	number := func(amount int64) string { return e.lexicon.number(amount, stop.Resource, false) }
	switch stop.Kind {
	case Fragmented:
		return fmt.Sprintf("no node has the %s that one %s needs (the most is %s)", each, role, number(stop.Most))
	case NoSingleNode:
		return fmt.Sprintf("no node with %s left has %s too", each, e.lexicon.needed(stop.OtherNeeded, stop.Other))
	}
	return fmt.Sprintf("one more %s needs %s, of which %s are left", role, each, number(stop.Free))
}

func notEligible(where, role string, stop *Blocker) string {
	switch {
	case stop.Nodes == 1:
		return fmt.Sprintf("%s is not eligible for a %s", where, role)
	case stop.Eligible == 0:
		return fmt.Sprintf("none of the %d nodes of %s is eligible for a %s", stop.Nodes, where, role)
	case stop.Eligible == 1:
		return fmt.Sprintf("only 1 of %d nodes of %s is eligible for a %s", stop.Nodes, where, role)
	}
	return fmt.Sprintf("only %d of %d nodes of %s are eligible for a %s", stop.Eligible, stop.Nodes, where, role)
}

// Why is the sentence without what would help.
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

// SuggestionTexts are the suggestions in words, in their order: "with 2 workers".
func (e *Diagnosis) SuggestionTexts(label func(tier int) string) (texts []string) {
	label = e.orNames(label)
	for i := range e.Suggestions {
		texts = append(texts, e.Suggestions[i].text(e, label))
	}
	return texts
}
