// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/flows"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// gradients are the bytes that the pods of a gang all-reduce in a step.
const gradients = 1e9

// Places is where the pods of all gangs are.
type Places struct {
	// OneRack counts the gangs whose pods are in one rack. Racks are the most that one gang has.
	OneRack int `json:"gangs_in_one_rack"`
	Racks   int `json:"most_racks_of_a_gang"`
	// Crossing are the bytes that leave nodes, racks and blocks in a step, if each gang all-reduces a gigabyte in a ring.
	Crossing Crossing `json:"crossing_bytes"`
}

// Crossing are bytes by what they leave.
type Crossing struct {
	Nodes  float64 `json:"nodes"`
	Racks  float64 `json:"racks"`
	Blocks float64 `json:"blocks"`
}

// placesOf returns where bindings have the pods of gangs.
func placesOf(bindings []*corev1.Binding, nodes []*corev1.Node) Places {
	hosts, racks, blocks := map[string]int{}, make([]string, len(nodes)), make([]string, len(nodes))
	for i, node := range nodes {
		hosts[node.Name], racks[i], blocks[i] = i, node.Labels[topology.LabelRack], node.Labels[topology.LabelBlock]
	}
	gangs := map[string]map[string]int{}
	for _, binding := range bindings {
		gang := times.Gang(binding.Name)
		if gangs[gang] == nil {
			gangs[gang] = map[string]int{}
		}
		gangs[gang][binding.Name] = hosts[binding.Target.Name]
	}
	var p Places
	var exchanges []flows.Exchange
	for _, pods := range gangs {
		var ring []int
		in := map[string]bool{}
		for _, pod := range slices.SortedFunc(maps.Keys(pods), func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) }) {
			ring = append(ring, pods[pod])
			in[racks[pods[pod]]] = true
		}
		if len(in) == 1 {
			p.OneRack++
		}
		p.Racks = max(p.Racks, len(in))
		exchanges = append(exchanges, flows.Ring(ring, gradients)...)
	}
	network := flows.NewNetwork(racks, blocks, [flows.Tiers]float64{1, 1, 1})
	bytes := network.Crossing(network.Flows(exchanges))
	p.Crossing = Crossing{Nodes: bytes[flows.NIC], Racks: bytes[flows.Rack], Blocks: bytes[flows.Block]}
	return p
}

// rank returns the number of a pod in its gang: the first number that follows the gang's name.
func rank(pod string) int {
	for _, part := range strings.Split(pod, "-")[1:] {
		if n, err := strconv.Atoi(part); err == nil {
			return n
		}
	}
	return 0
}
