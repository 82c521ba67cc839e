// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Validate returns everything that is wrong with the topology, each fault with the field it stands in. Names and labels are left to
// the API server.
func (t *Topology) Validate() error {
	v := &validator{}
	if len(t.Shapes) == 0 {
		v.fault("shapes", "is empty: describe at least one kind of node")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Shapes)) {
		v.shape("shapes."+name, t.Shapes[name])
	}
	if len(t.Blocks) == 0 {
		v.fault("blocks", "is empty: a cluster needs at least one block with one rack")
	}
	for i, block := range t.Blocks {
		v.block(fmt.Sprintf("blocks[%d]", i), t, block)
	}
	return errors.Join(v.faults...)
}

type validator struct{ faults []error }

func (v *validator) fault(field, format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf("%s %s", field, fmt.Sprintf(format, args...)))
}

func (v *validator) shape(field string, s Shape) {
	v.quantity(field+".cpu", s.CPU)
	v.quantity(field+".memory", s.Memory)
	if s.Pods != nil && *s.Pods < 1 {
		v.fault(field+".pods", "is %d: it must be at least 1", *s.Pods)
	}
	if s.GPUs < 0 {
		v.fault(field+".gpus", "is %d: it must not be negative", s.GPUs)
	}
	if s.GPUs == 0 && s.Product != "" {
		v.fault(field+".product", "is %q, but there are no gpus: set gpus, or leave product out", s.Product)
	}
}

func (v *validator) block(field string, t *Topology, b Block) {
	v.count(field, b.Count)
	if len(b.Racks) == 0 {
		v.fault(field+".racks", "is empty: a block needs at least one rack")
	}
	for i, r := range b.Racks {
		at := fmt.Sprintf("%s.racks[%d]", field, i)
		v.count(at, r.Count)
		if len(r.Nodes) == 0 {
			v.fault(at+".nodes", "is empty: a rack needs at least one node")
		}
		for j, n := range r.Nodes {
			group := fmt.Sprintf("%s.nodes[%d]", at, j)
			v.count(group, n.Count)
			if _, ok := t.Shapes[n.Shape]; !ok {
				v.fault(group+".shape", "is %q, which is none of the shapes (%s)", n.Shape, strings.Join(slices.Sorted(maps.Keys(t.Shapes)), ", "))
			}
		}
	}
}

func (v *validator) count(field string, count *int) {
	if count != nil && *count < 1 {
		v.fault(field+".count", "is %d: it must be at least 1 (leave it out for 1)", *count)
	}
}

func (v *validator) quantity(field string, q Quantity) {
	if q == "" {
		v.fault(field, "is missing: write a quantity such as 16 or 64Gi")
		return
	}
	parsed, err := resource.ParseQuantity(string(q))
	switch {
	case err != nil:
		v.fault(field, "is %q, which is no quantity: write one such as 16, 500m or 64Gi", q)
	case parsed.Sign() <= 0:
		v.fault(field, "is %q: it must be more than 0", q)
	}
}
