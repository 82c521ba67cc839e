// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"regexp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Kind is what a suggestion changes.
type Kind string

// Kinds of suggestions, and what their values are.
const (
	AllowTier                Kind = "AllowTier"                // the highest tier of networkTopology to allow, empty for no limit
	AllowColocationPreferred Kind = "AllowColocationPreferred" // no value
	FewerReplicas            Kind = "FewerReplicas"            // replicas of a role
	FreeResources            Kind = "FreeResources"            // what more has to be free, and where
	LowerRequest             Kind = "LowerRequest"             // what is available of a resource
	CreateObject             Kind = "CreateObject"             // kind and name
	BindClaim                Kind = "BindClaim"                // a PersistentVolumeClaim
	AddToleration            Kind = "AddToleration"            // a taint
	RemoveTaint              Kind = "RemoveTaint"              // a taint
	Uncordon                 Kind = "Uncordon"                 // a node
	ChangeNodeSelector       Kind = "ChangeNodeSelector"       // a label
	ChangeHostPort           Kind = "ChangeHostPort"           // a port
	OpenQueue                Kind = "OpenQueue"                // a queue
	UseAnotherQueue          Kind = "UseAnotherQueue"          // the queue that refuses the gang
	RaiseQueueCapability     Kind = "RaiseQueueCapability"     // a queue
	RaiseResourceQuota       Kind = "RaiseResourceQuota"       // a ResourceQuota, empty where it is not known
	RemoveSchedulingGate     Kind = "RemoveSchedulingGate"     // a scheduling gate
)

// Suggestion is one change with which the gang would start, or get further.
type Suggestion struct {
	Kind  Kind   `json:"kind"`
	Value string `json:"value,omitempty"`
	// Role whose pods change.
	Role string `json:"role,omitempty"`
	// Also is a second change that is needed.
	Also Kind `json:"also,omitempty"`
	// Text is the suggestion for users: it follows "what helps:".
	Text string `json:"text"`
}

// fits reports whether the planner found the gang to fit with such a change.
func (k Kind) fits() bool {
	return k == AllowTier || k == AllowColocationPreferred || k == FewerReplicas || k == FreeResources
}

var placeholder = regexp.MustCompile(`\{(\w+):([^}]*)\}`)

// Help returns what a user can do, nearest first, each change once: the suggestions, as far as the reason's help does not have them in it,
// and that. It is empty where nothing is known.
func (r *Report) Help(c Catalog) (all []string) {
	inHelp := map[Kind]bool{}
	help := placeholder.ReplaceAllStringFunc(c["help."+string(r.Reason)], func(match string) string {
		found := placeholder.FindStringSubmatch(match)
		kind, words := Kind(found[1]), []string{}
		for i := range r.Suggestions {
			if r.Suggestions[i].Kind == kind {
				words = append(words, r.Suggestions[i].In(c))
			}
		}
		switch {
		case len(words) == 0:
			return found[2]
		case kind.fits():
			return ""
		}
		inHelp[kind] = true
		return c.List(words)
	})
	for i := range r.Suggestions {
		if !inHelp[r.Suggestions[i].Kind] {
			all = append(all, r.Suggestions[i].In(c))
		}
	}
	if help != "" {
		all = append(all, help)
	}
	return all
}

// In returns the text of the suggestion in the language of a catalog. It is English where only the text has the amounts.
func (s Suggestion) In(c Catalog) (text string) {
	key := "suggest." + string(s.Kind)
	switch {
	case s.Text != "" && (c.English() || c[key] == ""):
		return s.Text
	case s.Kind == AllowTier && s.Value == "":
		text = c["suggest.NoTier"]
	case s.Kind == AllowTier:
		text = c.Text(key, "value", tierLabel(s.Value))
	default:
		replicas, _ := strconv.Atoi(s.Value) // 0 where the value is no number
		text = c.Text(key, "value", s.Value, "role", c.Plural(replicas, s.Role))
	}
	if s.Also != "" {
		return c.Text("suggest.and-colocation", "suggestion", text)
	}
	return text
}

// Suggest returns a suggestion with the text of its kind.
func Suggest(kind Kind, value string) Suggestion {
	return (Suggestion{Kind: kind, Value: value}).withText()
}

// SuggestFewer returns the suggestion of a number of replicas of a role.
func SuggestFewer(role string, replicas int) Suggestion {
	return (Suggestion{Kind: FewerReplicas, Role: role, Value: strconv.Itoa(replicas)}).withText()
}

// SuggestTier returns the suggestion of a higher tier, "" for no limit; with colocation Preferred as well, if both are needed.
func SuggestTier(tier string, both bool) Suggestion {
	s := Suggestion{Kind: AllowTier, Value: tier}
	if both {
		s.Also = AllowColocationPreferred
	}
	return s.withText()
}

func (s Suggestion) withText() Suggestion {
	s.Text = s.In(English)
	return s
}

// SuggestMore returns the suggestion that more is free in a domain, on some nodes of it.
func SuggestMore(tier, domain string, amounts map[corev1.ResourceName]float64, nodes []string) Suggestion {
	s := Suggestion{Kind: FreeResources, Value: domain, Text: "it fits with " + FormatResources(amounts) + " more in " + Place(tier, domain)}
	switch {
	case len(nodes) > maxNamed:
		s.Text += fmt.Sprintf(" (on %d nodes)", len(nodes))
	case len(nodes) != 1 || nodes[0] != domain:
		s.Text += " (on " + List(nodes) + ")"
	}
	return s
}

const maxNamed = 2
