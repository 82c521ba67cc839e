// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Topology describes the simulated nodes and where they stand: blocks (spine switches) of racks (leaf switches) of
// nodes. README.md describes its YAML form.
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
	GPUs    int               `json:"gpus,omitempty"`
	Product string            `json:"product,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Taints  []corev1.Taint    `json:"taints,omitempty"`
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

// LoadTopology reads and checks a topology file.
func LoadTopology(path string) (*Topology, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read topology: %w", err)
	}
	t, err := ParseTopology(data)
	if err != nil {
		return nil, fmt.Errorf("topology %s: %w", path, err)
	}
	return t, nil
}

// ParseTopology reads and checks a topology in YAML. Unknown fields are errors.
func ParseTopology(data []byte) (*Topology, error) {
	t := &Topology{}
	if err := yaml.UnmarshalStrict(data, t); err != nil {
		return nil, fmt.Errorf("read the YAML: %w", err)
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return t, nil
}
