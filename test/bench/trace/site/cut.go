// SPDX-License-Identifier: Apache-2.0

// Package site is the cluster of the trace: a cut of the Lingjun topology of whole racks, how wide its links are, and what
// placed jobs send over them. No time passes here.
package site

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/placement/lingjun"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Machine is a host as Amazon's p3dn.24xlarge, since the trace's durations are those of V100s.
var Machine = cluster.Amounts{CPU: 96, Memory: 768, GPU: 8}

// Positions in a host's domains, as package lingjun has them.
const (
	rackOf = iota
	blockOf
)

// Cut takes whole racks out of the Lingjun topology, about as many hosts as asked for. Each block gives its share of hosts:
// its racks in the order of their names, as long as they do not exceed it.
func Cut(hosts int) cluster.Fleet {
	spec := lingjun.Spec()
	blocks := map[string]map[string]cluster.Fleet{}
	sizes := map[string]int{}
	for i := range spec.Nodes {
		n := &spec.Nodes[i]
		block := strings.ToLower(n.Domains[blockOf])
		rack := block + "-" + strings.ToLower(n.Domains[rackOf])
		if blocks[block] == nil {
			blocks[block] = map[string]cluster.Fleet{}
		}
		blocks[block][rack] = append(blocks[block][rack], cluster.Node{Name: n.Name, Rack: rack, Block: block, Capacity: Machine})
		sizes[block]++
	}
	var fleet cluster.Fleet
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		share := int(math.Round(float64(hosts) * float64(sizes[block]) / float64(len(spec.Nodes))))
		for _, rack := range slices.Sorted(maps.Keys(blocks[block])) {
			nodes := blocks[block][rack]
			if len(nodes) > share {
				continue
			}
			share -= len(nodes)
			slices.SortFunc(nodes, func(a, b cluster.Node) int { return cmp.Compare(a.Name, b.Name) })
			fleet = append(fleet, nodes...)
		}
	}
	return fleet
}

// Describe returns a description of a fleet.
func Describe(fleet cluster.Fleet) string {
	blocks := map[string]bool{}
	for i := range fleet {
		blocks[fleet[i].Block] = true
	}
	return fmt.Sprintf("%d hosts of %d GPUs in %d racks of %d blocks", len(fleet), Machine.GPU, len(fleet.Racks()), len(blocks))
}
