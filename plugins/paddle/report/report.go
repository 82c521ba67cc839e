// SPDX-License-Identifier: Apache-2.0

// Package report is what the scheduler's plugin reports about a gang, as data: the reason for which the gang waits, what it
// is missing and what helps, or where it runs and what it sends over the network. The plugin writes it to an annotation of
// the PodGroup, as JSON, whenever it writes the PodGroup's condition. The sentences of the condition, of events and of
// kubectl paddle are made from it. No program reads these sentences.
package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

const (
	// Condition is the type of the PodGroup's condition with the report's reason. Its message is ConditionMessage.
	Condition = "PaddleScheduled"
	// maxBytes bounds the annotation and maxMessage the condition's message: PodGroups of thousands of jobs are kept in memory.
	maxBytes   = 8192
	maxMessage = 4096
	// maxNames bounds lists of names.
	maxNames = 16
)

// Report is what the scheduler knows about a gang.
type Report struct {
	Reason Reason `json:"reason"`
	// Message is one sentence for users. If it is empty, Sentence makes one by the reason.
	Message string `json:"message,omitempty"`
	// Cause is why the missing pods do not fit, where the table has no sentence for the reason.
	Cause string `json:"-"`
	// Value is the name in the reason's sentence that is neither of an object nor of nodes: a queue, a class.
	Value string `json:"value,omitempty"`
	// Missing is what a gang that waits is missing.
	Missing *Missing `json:"missing,omitempty"`
	// Nodes are the nodes that were checked, and how many of them are refused for which reason.
	Nodes *Nodes `json:"nodes,omitempty"`
	// Suggestions are changes with which the gang would start, nearest first.
	Suggestions []Suggestion `json:"suggestions,omitempty"`
	// Placement is where a gang runs.
	Placement *Placement `json:"placement,omitempty"`
	// Surplus is a sentence about pods beyond the minimum that wait while the gang runs.
	Surplus string `json:"surplus,omitempty"`
}

// Missing is what a gang waits for.
type Missing struct {
	Roles     []Role     `json:"roles,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
	Objects   []Object   `json:"objects,omitempty"`
}

// Role is the pods of one role: Minimum of them are needed, and Missing of these have no node.
type Role struct {
	Role    string `json:"role"`
	Minimum int    `json:"minimum"`
	Missing int    `json:"missing"`
}

// Resource is what is requested of one resource and what is available where it was looked for. Amounts are quantities.
type Resource struct {
	Name      string `json:"name"`
	Requested string `json:"requested"`
	Available string `json:"available"`
}

// Object is an object of the API.
type Object struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (o Object) String() string { return o.Kind + " " + o.Name }

// Nodes are nodes by what refuses them to the pods of one role.
type Nodes struct {
	Role string `json:"role"`
	// Total nodes of the cluster, of which Candidates match the pods' selectors and are large enough for one when empty.
	Total      int `json:"total"`
	Candidates int `json:"candidates"`
	// Refused are the reasons, the one that refuses most nodes first. A node may have several.
	Refused []Refused `json:"refused,omitempty"`
}

// Refused is how many nodes a reason refuses. Value is what it is about: a taint, a label, a port.
type Refused struct {
	Reason Reason `json:"reason"`
	Nodes  int    `json:"nodes"`
	Value  string `json:"value,omitempty"`
}

// Encode returns the report as JSON of at most maxBytes bytes. What is least needed is left out first.
func (r Report) Encode() string {
	r.Message = r.Sentence()
	for _, leave := range []func(){
		func() {},
		func() { r.Nodes, r.Suggestions = nil, r.Suggestions[:min(1, len(r.Suggestions))] },
		func() {
			if r.Placement != nil {
				short := *r.Placement
				short.Nodes = nil
				r.Placement = &short
			}
		},
		func() { r = Report{Reason: r.Reason, Message: Shorten(r.Message, maxBytes/16)} },
	} {
		leave()
		if text, err := json.Marshal(r); err == nil && len(text) <= maxBytes { // these types always have JSON
			return string(text)
		}
	}
	return fmt.Sprintf(`{"reason":%q}`, r.Reason)
}

// Decode reads the report from the annotations of a PodGroup. It returns nil if there is none.
func Decode(annotations map[string]string) *Report {
	var r Report
	if text := annotations[Annotation]; text == "" || json.Unmarshal([]byte(text), &r) != nil || r.Reason == "" {
		return nil
	}
	return &r
}

// Sentence returns the report's message, or else the missing pods and the cause or the catalog's sentence for the reason.
func (r *Report) Sentence() string {
	switch {
	case r.Message != "":
		return r.Message
	case r.Cause != "":
		return r.missing(English, "fit") + r.Cause
	}
	return r.sentence(English)
}

// Translate returns the sentence in the language of a catalog, by the report's data. It is empty for English, which the message is in,
// and where the data are not known.
func (r *Report) Translate(c Catalog) string {
	text := c["reason."+string(r.Reason)]
	unknown := r.Nodes == nil && strings.Contains(text, "{nodes}") || len(r.objects()) == 0 && strings.Contains(text, "{objects}") ||
		r.value() == "" && strings.Contains(text, "{value}")
	switch {
	case c.English() || text == "":
		return ""
	case !unknown:
		return r.sentence(c)
	case r.Missing == nil || len(r.Missing.Resources) == 0:
		return ""
	}
	return r.missing(c, "fit") + strings.Join(r.shortages(c), c["comma"])
}

func (r *Report) sentence(c Catalog) string {
	key, verb := "reason."+string(r.Reason), "node"
	if refused := r.refused(); refused != nil && r.Reason == HostPortConflict && refused.Nodes == 0 {
		key = "gang-port"
	}
	if r.Reason == WaitingForPods {
		verb = "exist"
	}
	return r.missing(c, verb) + c.Text(key, "objects", c.List(r.objects()), "nodes", r.nodes(c), "value", r.value())
}

func (r *Report) value() string {
	if refused := r.refused(); refused != nil {
		return refused.Value
	}
	return r.Value
}

func (r *Report) objects() (names []string) {
	if r.Missing != nil {
		for _, o := range r.Missing.Objects {
			names = append(names, o.String())
		}
	}
	return names
}

// Text returns the sentence of conditions and events. Of a gang that does not fit it says with which change it would.
func (r *Report) Text() string {
	if len(r.Suggestions) > 0 && r.Suggestions[0].Kind.fits() {
		return r.Sentence() + "; " + r.Suggestions[0].Text
	}
	return r.Sentence()
}

// ConditionMessage returns the message of the PodGroup's condition: the sentence; where a gang runs that has its nodes; and
// its pods beyond the minimum that wait.
func (r *Report) ConditionMessage() string {
	lines := []string{strings.ReplaceAll(r.Text(), "\n", " ")}
	if r.Placement != nil {
		lines = append(append(lines, r.Placement.Sentences()...), r.Placement.details()...)
	}
	message := Shorten(strings.Join(lines, "\n"), maxMessage)
	if r.Surplus != "" {
		message = Shorten(message, maxMessage/2) + "\nwaiting: " + r.Surplus
	}
	return Shorten(message, maxMessage)
}

// FitError returns the text that Volcano writes to each pod of a gang that waits, with an event, whenever it changes. It therefore
// has no amounts, which change with each pod of the cluster that starts or ends. The reason may be empty.
func FitError(reason Reason) string {
	text := "the gang waits"
	if reason != "" {
		text += " (" + string(reason) + ")"
	}
	return text + ": condition " + Condition + " of the PodGroup has the details"
}

func (r *Report) refused() *Refused {
	if r.Nodes != nil {
		for i := range r.Nodes.Refused {
			if r.Nodes.Refused[i].Reason == r.Reason {
				return &r.Nodes.Refused[i]
			}
		}
	}
	return nil
}

// missing returns the missing pods and what they lack: "2 of 4 workers have no node: ". It is empty if none are known.
func (r *Report) missing(c Catalog, verb string) string {
	if r.Missing == nil {
		return ""
	}
	var parts []string
	sum := 0
	for _, role := range r.Missing.Roles {
		if role.Missing > 0 {
			sum += role.Missing
			parts = append(parts, c.Text("missing", "missing", strconv.Itoa(role.Missing), "minimum", strconv.Itoa(role.Minimum), "role", c.Plural(role.Minimum, role.Role)))
		}
	}
	switch sum {
	case 0:
		return ""
	case 1:
		verb += ".one"
	default:
		verb += ".many"
	}
	return c.Text(verb, "missing", c.List(parts))
}

// nodes returns the nodes that the reason refuses: "2 of 8 nodes".
func (r *Report) nodes(c Catalog) string {
	if r.Nodes == nil {
		return c["nodes.all"]
	}
	refused := 0
	if why := r.refused(); why != nil {
		refused = why.Nodes
	}
	key, n := "nodes.some", refused
	switch {
	case r.Reason == NodeAffinity:
		n = r.Nodes.Total - refused
	case r.Reason == GangAntiAffinity, r.Reason == ResourceClaimNotAllocatable, refused == 0:
		key, n = "nodes.candidates", r.Nodes.Candidates
	case r.Nodes.Candidates < r.Nodes.Total:
		key = "nodes.matching"
	}
	return c.Text(key, "n", strconv.Itoa(n), "total", strconv.Itoa(r.Nodes.Total), "candidates", strconv.Itoa(r.Nodes.Candidates), "nodes", c.Plural(n, "node"))
}

// shortages returns what is requested and available of each resource that is short.
func (r *Report) shortages(c Catalog) (lines []string) {
	for _, resource := range r.Missing.Resources {
		lines = append(lines, c.Text("shortage", "resource", resource.Name, "requested", resource.Requested, "available", resource.Available))
	}
	return lines
}

// Details returns the figures behind the sentence, on lines.
func (r *Report) Details(c Catalog) (lines []string) {
	if r.Missing != nil {
		for _, role := range r.Missing.Roles {
			lines = append(lines, c.Text("details.role", "roles", c.Plural(2, role.Role), "missing", strconv.Itoa(role.Missing), "minimum", strconv.Itoa(role.Minimum)))
		}
		lines = append(lines, r.shortages(c)...)
	}
	if r.Nodes != nil {
		for _, refused := range r.Nodes.Refused {
			line := c.Text("details.nodes", "n", strconv.Itoa(refused.Nodes), "total", strconv.Itoa(r.Nodes.Total), "reason", string(refused.Reason))
			if refused.Value != "" {
				line += " (" + refused.Value + ")"
			}
			lines = append(lines, line)
		}
	}
	if r.Placement != nil {
		lines = append(lines, r.Placement.details()...)
	}
	return lines
}
