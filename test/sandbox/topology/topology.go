// SPDX-License-Identifier: Apache-2.0

// Package topology describes the simulated nodes of a sandbox: what they offer, and in which racks and blocks they stand.
//
// A topology is read from YAML, which test/sandbox/README.md describes, or is one of the two that this package has. It becomes
// Kubernetes' nodes; who creates them is left to others.
package topology

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// Topology describes the simulated nodes and where they stand: blocks (spine switches) of racks (leaf switches) of
// nodes. test/sandbox/README.md describes its YAML form.
type Topology struct {
	// Labels are put on every node.
	Labels map[string]string `json:"labels,omitempty"`
	// Shapes are the kinds of node, by a name that becomes the label node.kubernetes.io/instance-type.
	Shapes map[string]Shape `json:"shapes"`
	// Blocks are numbered in this order over the whole cluster, and so are their racks.
	Blocks []Block `json:"blocks"`
}

// Shape is what one kind of node offers.
type Shape struct {
	// CPU in cores and Memory in bytes, as Kubernetes quantities. Both are required.
	CPU    Quantity `json:"cpu"`
	Memory Quantity `json:"memory"`
	// Pods is the largest number of pods; 110 when unset.
	Pods *int `json:"pods,omitempty"`
	// GPUs is offered as nvidia.com/gpu, and Product is their label nvidia.com/gpu.product.
	GPUs    int    `json:"gpus,omitempty"`
	Product string `json:"product,omitempty"`
	// RDMA is the number of devices that are offered as rdma/hca.
	RDMA   int               `json:"rdma,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Taints []corev1.Taint    `json:"taints,omitempty"`
}

// Block is a group of racks under one spine switch, or Count equal ones. Its name is block-<number>.
type Block struct {
	Count *int   `json:"count,omitempty"`
	Racks []Rack `json:"racks"`
}

// Rack is a group of nodes under one leaf switch, or Count equal ones.
type Rack struct {
	// Name is the rack's, or the stem of the names of Count racks; rack-<number> when unset.
	Name   string            `json:"name,omitempty"`
	Count  *int              `json:"count,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Nodes  []NodeGroup       `json:"nodes"`
}

// NodeGroup is Count equal nodes of one rack.
type NodeGroup struct {
	Shape  string            `json:"shape"`
	Count  *int              `json:"count,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Quantity is a Kubernetes quantity as it is written, so that a bad one can be named together with its field.
type Quantity string

// UnmarshalJSON takes a number as well as a string, as Kubernetes does.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*q = Quantity(text)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return fmt.Errorf("%s is neither a string nor a number: write a quantity such as 16, 500m or 64Gi", data)
	}
	*q = Quantity(number)
	return nil
}

// Load reads and checks a topology file.
func Load(path string) (*Topology, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read topology: %w", err)
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("topology %s: %w", path, err)
	}
	return t, nil
}

// Parse reads and checks a topology in YAML. Unknown fields are errors.
func Parse(data []byte) (*Topology, error) {
	t := &Topology{}
	if err := yaml.UnmarshalStrict(data, t); err != nil {
		return nil, fmt.Errorf("read the YAML: %w", err)
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return t, nil
}

// Validate returns everything that is wrong with the topology, each fault with its field. Names and labels are left to
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
	if s.RDMA < 0 {
		v.fault(field+".rdma", "is %d: it must not be negative", s.RDMA)
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

// demo is what `paddle-sandbox up` starts with, and an example of the format.
//
//go:embed demo.yaml
var demo []byte

const (
	nodesPerRack  = 4
	racksPerBlock = 4
)

// Demo returns the default cluster: 16 nodes in 4 racks of 2 blocks, 4 of the nodes with 8 GPUs.
func Demo() *Topology {
	t, err := Parse(demo)
	if err != nil {
		panic(fmt.Sprintf("the embedded demo.yaml is broken: %v", err))
	}
	return t
}

// Uniform returns the given number of nodes of 16 cores and 64Gi, in racks of 4 and blocks of 4 racks. The last rack
// and the last block hold what is left over.
func Uniform(nodes int) *Topology {
	t := &Topology{Shapes: map[string]Shape{"standard": {CPU: "16", Memory: "64Gi"}}}
	for nodes > 0 {
		block := Block{}
		for range racksPerBlock {
			if nodes <= 0 {
				break
			}
			n := min(nodes, nodesPerRack)
			block.Racks = append(block.Racks, Rack{Nodes: []NodeGroup{{Shape: "standard", Count: &n}}})
			nodes -= n
		}
		t.Blocks = append(t.Blocks, block)
	}
	return t
}
