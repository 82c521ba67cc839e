// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
)

// Plan is what is to be written.
type Plan struct {
	// chains are by object, in the order of their first writes.
	chains []chain
}

// chain is what is written about one object, in this order.
type chain []write

type write struct {
	what string // as audit.What has it
	uri  string
	// of is the object that it changes, as "podgroups/g1"; binds says that this is a pod that gets a node.
	of    string
	binds bool
	body  map[string]any
}

// Of is the plan that makes writes again, which are in the order of time and come with their bodies.
func Of(writes []*auditv1.Event) (Plan, error) {
	var p Plan
	place := map[string]int{} // of an object's chain
	about := map[string]string{}
	for _, e := range writes {
		w := write{
			what: audit.What(e), of: e.ObjectRef.Resource + "/" + e.ObjectRef.Name,
			binds: e.ObjectRef.Subresource == "binding",
		}
		w.uri, _, _ = strings.Cut(e.RequestURI, "?")
		if e.RequestObject == nil {
			return Plan{}, fmt.Errorf("repeat %s of %s: the audit log has no body", w.what, w.of)
		}
		if err := json.Unmarshal(e.RequestObject.Raw, &w.body); err != nil {
			return Plan{}, fmt.Errorf("repeat %s of %s: %w", w.what, w.of, err)
		}
		key := w.of
		if e.ObjectRef.Resource == "events" {
			key = told(w, about)
		}
		at, ok := place[key]
		if !ok {
			at = len(p.chains)
			place[key] = at
			p.chains = append(p.chains, nil)
		}
		p.chains[at] = append(p.chains[at], w)
	}
	return p, nil
}

// told is what an event is about, whose chain it belongs to. A change of an event does not say so: the event did.
func told(w write, about map[string]string) string {
	if involved, ok := w.body["involvedObject"].(map[string]any); ok {
		about[w.of] = fmt.Sprintf("%vs/%v", strings.ToLower(fmt.Sprint(involved["kind"])), involved["name"])
	}
	if key, ok := about[w.of]; ok {
		return key
	}
	return w.of
}

// Bindings is the part of the plan that gives pods their nodes.
func (p Plan) Bindings() Plan {
	var only Plan
	for _, c := range p.chains {
		if c = slices.DeleteFunc(slices.Clone(c), func(w write) bool { return !w.binds }); len(c) > 0 {
			only.chains = append(only.chains, c)
		}
	}
	return only
}
