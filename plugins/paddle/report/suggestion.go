// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

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
	// Text is the suggestion for people: it follows "what helps:".
	Text string `json:"text"`
}

// fits reports whether the planner found the gang to fit with such a change.
func (k Kind) fits() bool {
	return k == AllowTier || k == AllowColocationPreferred || k == FewerReplicas || k == FreeResources
}

var placeholder = regexp.MustCompile(`\{(\w+):([^}]*)\}`)

// Help returns what a user can do, nearest first, each change once: the suggestions, as far as the reason's help does not have them in it,
// and that. It is empty where nothing is known.
func (r *Report) Help() (all []string) {
	inHelp := map[Kind]bool{}
	help := placeholder.ReplaceAllStringFunc(texts[r.Reason].help, func(match string) string {
		found := placeholder.FindStringSubmatch(match)
		kind, words := Kind(found[1]), []string{}
		for _, s := range r.Suggestions {
			if s.Kind == kind {
				words = append(words, s.Text)
			}
		}
		switch {
		case len(words) == 0:
			return found[2]
		case kind.fits():
			return ""
		}
		inHelp[kind] = true
		return List(words)
	})
	for _, s := range r.Suggestions {
		if !inHelp[s.Kind] {
			all = append(all, s.Text)
		}
	}
	if help != "" {
		all = append(all, help)
	}
	return all
}

// Suggest returns a suggestion with the text of its kind.
func Suggest(kind Kind, value string) Suggestion {
	return Suggestion{Kind: kind, Value: value, Text: strings.Replace(suggestions[kind], "%s", value, 1)}
}

// SuggestFewer returns the suggestion of so many replicas of a role.
func SuggestFewer(role string, replicas int) Suggestion {
	return Suggestion{
		Kind: FewerReplicas, Role: role, Value: strconv.Itoa(replicas), Text: fmt.Sprintf("it fits with %d %s", replicas, Plural(replicas, role)),
	}
}

// SuggestTier returns the suggestion of a higher tier, "" for no limit; with colocation Preferred as well, if both are needed.
func SuggestTier(tier string, both bool) Suggestion {
	s := Suggestion{Kind: AllowTier, Value: tier, Text: "it fits without a networkTopology limit"}
	if tier != "" {
		s.Text = "it fits with " + tierLabel(tier)
	}
	if both {
		s.Text += " and colocation Preferred"
	}
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

var suggestions = map[Kind]string{
	AllowColocationPreferred: "it fits with colocation Preferred",
	LowerRequest:             "request no more than %s",
	CreateObject:             "create %s",
	BindClaim:                "have PersistentVolumeClaim %s bound",
	AddToleration:            "tolerate the taint %s in the pod template",
	RemoveTaint:              "remove the taint %s from nodes",
	Uncordon:                 "uncordon nodes (kubectl uncordon %s)",
	ChangeNodeSelector:       "label more nodes with %s",
	ChangeHostPort:           "use another host port than %s, or wait until it is free",
	OpenQueue:                "open the queue %s",
	UseAnotherQueue:          "use another queue than %s",
	RaiseQueueCapability:     "raise the capability of queue %s",
	RaiseResourceQuota:       "raise the ResourceQuota %s",
	RemoveSchedulingGate:     "remove the scheduling gate %s from the pods",
}
