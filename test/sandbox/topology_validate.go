// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate says everything that is wrong with the topology, each fault with the field it stands in.
func (t *Topology) Validate() error {
	v := &validator{}
	v.labels("labels", t.Labels)
	if len(t.Shapes) == 0 {
		v.fault("shapes", "is empty: describe at least one kind of node")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Shapes)) {
		v.shape("shapes."+name, name, t.Shapes[name])
	}
	if len(t.Blocks) == 0 {
		v.fault("blocks", "is empty: a cluster needs at least one block with one rack")
	}
	for i, block := range t.Blocks {
		v.block(fmt.Sprintf("blocks[%d]", i), t, block)
	}
	if len(v.faults) == 0 {
		v.unique(t)
	}
	return errors.Join(v.faults...)
}

type validator struct{ faults []error }

func (v *validator) fault(field, format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf("%s %s", field, fmt.Sprintf(format, args...)))
}

func (v *validator) shape(field, name string, s Shape) {
	v.labelValue(field, name)
	v.quantity(field+".cpu", s.CPU, true)
	v.quantity(field+".memory", s.Memory, true)
	v.quantity(field+".ephemeralStorage", s.EphemeralStorage, false)
	if s.Pods != nil && *s.Pods < 1 {
		v.fault(field+".pods", "is %d: it must be at least 1", *s.Pods)
	}
	if s.GPUs < 0 {
		v.fault(field+".gpus", "is %d: it must not be negative", s.GPUs)
	}
	if s.GPUs == 0 && s.Product != "" {
		v.fault(field+".product", "is %q, but there are no gpus: set gpus, or leave product out", s.Product)
	}
	v.labelValue(field+".product", s.Product)
	for _, r := range slices.Sorted(maps.Keys(s.Resources)) {
		if problems := validation.IsQualifiedName(r); len(problems) > 0 || !strings.Contains(r, "/") {
			v.fault(field+".resources", "has %q: an extended resource is named like vendor.com/device", r)
		}
		v.quantity(field+".resources."+r, s.Resources[r], true)
	}
	v.labels(field+".labels", s.Labels)
}

func (v *validator) block(field string, t *Topology, b Block) {
	v.group(field, b.Name, b.Count, b.Labels)
	if len(b.Racks) == 0 {
		v.fault(field+".racks", "is empty: a block needs at least one rack")
	}
	for i, r := range b.Racks {
		at := fmt.Sprintf("%s.racks[%d]", field, i)
		v.group(at, r.Name, r.Count, r.Labels)
		if len(r.Nodes) == 0 {
			v.fault(at+".nodes", "is empty: a rack needs at least one node")
		}
		for j, n := range r.Nodes {
			group := fmt.Sprintf("%s.nodes[%d]", at, j)
			v.group(group, "", n.Count, n.Labels)
			if _, ok := t.Shapes[n.Shape]; !ok {
				v.fault(group+".shape", "is %q, which is none of the shapes (%s)", n.Shape, strings.Join(slices.Sorted(maps.Keys(t.Shapes)), ", "))
			}
		}
	}
}

// unique checks that no two blocks and no two racks get the same name, given or counted.
func (v *validator) unique(t *Topology) {
	blocks, racks := map[string]int{}, map[string]string{}
	for _, r := range t.racks() {
		if other, ok := blocks[r.block]; ok && other != r.blockNumber {
			v.fault(r.blockField+".name", "makes a second block named %q: choose another name, or leave it out", r.block)
			return
		}
		blocks[r.block] = r.blockNumber
		if other, ok := racks[r.name]; ok {
			v.fault(r.field+".name", "makes a second rack named %q (the first is from %s): choose another name, or leave it out", r.name, other)
			return
		}
		racks[r.name] = r.field
	}
}

// group checks what blocks, racks and groups of nodes have in common.
func (v *validator) group(field, name string, count *int, labels map[string]string) {
	if problems := validation.IsDNS1123Label(name); name != "" && len(problems) > 0 {
		v.fault(field+".name", "is %q: %s", name, problems[0])
	}
	if count != nil && *count < 1 {
		v.fault(field+".count", "is %d: it must be at least 1 (leave it out for 1)", *count)
	}
	v.labels(field+".labels", labels)
}

func (v *validator) quantity(field string, q Quantity, required bool) {
	if q == "" {
		if required {
			v.fault(field, "is missing: write a quantity such as 16 or 64Gi")
		}
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

func (v *validator) labels(field string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			v.fault(field, "has the key %q: %s", key, problems[0])
		}
		v.labelValue(field+"."+key, labels[key])
	}
}

func (v *validator) labelValue(field, value string) {
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		v.fault(field, "is %q, which cannot be a label: %s", value, problems[0])
	}
}
