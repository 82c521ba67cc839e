// SPDX-License-Identifier: Apache-2.0

package cluster

import "fmt"

// Amounts of a node or a pod.
type Amounts struct {
	CPU    int64 // cores
	Memory int64 // GiB
	GPU    int64
}

// Minus is what is left of a after b, which may be below 0.
func (a Amounts) Minus(b Amounts) Amounts {
	return Amounts{CPU: a.CPU - b.CPU, Memory: a.Memory - b.Memory, GPU: a.GPU - b.GPU}
}

// Plus is both together.
func (a Amounts) Plus(b Amounts) Amounts {
	return Amounts{CPU: a.CPU + b.CPU, Memory: a.Memory + b.Memory, GPU: a.GPU + b.GPU}
}

// Holds reports whether something that asks for b fits into a.
func (a Amounts) Holds(b Amounts) bool {
	return b.CPU <= a.CPU && b.Memory <= a.Memory && b.GPU <= a.GPU
}

// Node is one machine with its place in the network.
type Node struct {
	Name, Rack, Block string
	Capacity          Amounts
	// Running are pods of other schedulers that hold a part of it.
	Running []Amounts
}

// Free is what the node has left.
func (n *Node) Free() Amounts {
	free := n.Capacity
	for _, pod := range n.Running {
		free = free.Minus(pod)
	}
	return free
}

// Fleet is a cluster of three tiers: nodes in racks in blocks. Nodes of a rack follow each other, and racks of a block.
type Fleet []Node

// Shape is a fleet of equal nodes and regular racks and blocks. The last rack or block may be smaller.
type Shape struct {
	Nodes, PerRack, RacksPerBlock int
	Capacity                      Amounts
}

// Fleet builds it, with nothing running.
func (s Shape) Fleet() Fleet {
	fleet := make(Fleet, s.Nodes)
	for i := range fleet {
		rack := i / s.PerRack
		fleet[i] = Node{
			Name:     fmt.Sprintf("node-%05d", i),
			Rack:     fmt.Sprintf("rack-%04d", rack),
			Block:    fmt.Sprintf("block-%03d", rack/s.RacksPerBlock),
			Capacity: s.Capacity,
		}
	}
	return fleet
}

// Free is what all nodes have left, added up.
func (f Fleet) Free() Amounts {
	var sum Amounts
	for i := range f {
		sum = sum.Plus(f[i].Free())
	}
	return sum
}

// Racks are the fleet's racks, as parts of it.
func (f Fleet) Racks() []Fleet {
	var racks []Fleet
	first := 0
	for i := range f {
		if i+1 == len(f) || f[i+1].Rack != f[i].Rack {
			racks = append(racks, f[first:i+1:i+1])
			first = i + 1
		}
	}
	return racks
}
