// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

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

// Suggest returns a suggestion with the text of its kind.
func Suggest(kind Kind, value string) Suggestion {
	s := Suggestion{Kind: kind, Value: value}
	if format, ok := suggestions[kind]; ok {
		s.Text = fmt.Sprintf(format, value)
	}
	return s
}

var suggestions = map[Kind]string{
	LowerRequest:         "request no more than %s",
	CreateObject:         "create %s",
	BindClaim:            "have PersistentVolumeClaim %s bound",
	AddToleration:        "tolerate the taint %s in the pod template",
	RemoveTaint:          "remove the taint %s from nodes",
	Uncordon:             "uncordon nodes (kubectl uncordon %s)",
	ChangeNodeSelector:   "label more nodes with %s, or select others",
	ChangeHostPort:       "use another host port than %s, or wait until it is free",
	OpenQueue:            "open the queue %s",
	UseAnotherQueue:      "use another queue than %s",
	RaiseQueueCapability: "raise the capability of queue %s",
	RaiseResourceQuota:   "raise the ResourceQuota %s",
	RemoveSchedulingGate: "remove the scheduling gate %s from the pods",
}
