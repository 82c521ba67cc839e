// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

func TestTopologiesThatAreRefused(t *testing.T) {
	type spec = tree.Spec
	for want, spoil := range map[string]func(s *spec){
		"0 resources, want 1 to 256":                    func(s *spec) { s.Resources = nil },
		"257 resources, want 1 to 256":                  func(s *spec) { s.Resources = make([]string, 257) },
		"1 tiers, want 2 (island and node)":             func(s *spec) { s.Tiers = s.Tiers[:1] },
		"17 tiers":                                      func(s *spec) { s.Tiers = make([]tree.Tier, 17) },
		"no nodes":                                      func(s *spec) { s.Nodes = nil },
		"a tier has no name":                            func(s *spec) { s.Tiers[2].Name = "" },
		`tier "rack" has weight -1`:                     func(s *spec) { s.Tiers[2].Weight = -1 },
		`tier "rack" has weight 16385, want 0 to`:       func(s *spec) { s.Tiers[2].Weight = 1<<14 + 1 },
		`tier "rack" has weight NaN`:                    func(s *spec) { s.Tiers[2].Weight = math.NaN() },
		`tier "node" has bandwidth -1`:                  func(s *spec) { s.Tiers[1].Bandwidth = -1 },
		`tier "node" has bandwidth NaN`:                 func(s *spec) { s.Tiers[1].Bandwidth = math.NaN() },
		`tier "node" has bandwidth +Inf`:                func(s *spec) { s.Tiers[1].Bandwidth = math.Inf(1) },
		`two tiers are called "node"`:                   func(s *spec) { s.Tiers[3].Name = "node" },
		`resource "": names must be set`:                func(s *spec) { s.Resources[1] = "" },
		`resource "cpu": names must be set and unique`:  func(s *spec) { s.Resources[2] = "cpu" },
		`accelerator "tpu" is not one of the resources`: func(s *spec) { s.Accelerators[0] = "tpu" },
		`two nodes are called "n2"`:                     func(s *spec) { s.Nodes[0].Name = "n2" },
		`node "": it has no name`:                       func(s *spec) { s.Nodes[3].Name = "" },
		`node "n3": it is in 1 domains, want one for each of the 2 tiers above`: func(s *spec) {
			s.Nodes[0].Domains = s.Nodes[0].Domains[:1]
		},
		`node "n3": domain "a/b" has a "/" in its name`: func(s *spec) { s.Nodes[0].Domains[1] = "a/b" },
		`node "n3": 65 islands, want 64 at most`:        func(s *spec) { s.Nodes[0].Islands = make([]tree.Island, 65) },
		`node "n3": 2 amounts, want one for each of the 3 resources`: func(s *spec) {
			s.Nodes[0].Free = s.Nodes[0].Free[:2]
		},
		"amount 9223372036854775807 is out of range":  func(s *spec) { s.Nodes[0].Free[0] = math.MaxInt64 },
		"amount -9223372036854775808 is out of range": func(s *spec) { s.Nodes[0].Free[0] = math.MinInt64 },
		"an island has -1 of 8 GPUs free": func(s *spec) {
			s.Nodes[0].Islands = []tree.Island{{Size: 8, Free: -1}, {Size: 8, Free: 5}}
		},
		"an island has 4 of 3 GPUs free":         func(s *spec) { s.Nodes[0].Islands = []tree.Island{{Size: 3, Free: 4}} },
		"an island has 4 of 32768 GPUs free":     func(s *spec) { s.Nodes[0].Islands = []tree.Island{{Size: 1 << 15, Free: 4}} },
		"3 GPUs are free in its islands, and 4 ": func(s *spec) { s.Nodes[0].Islands = []tree.Island{{Size: 8, Free: 3}} },
	} {
		s := treeSpec()
		spoil(&s)
		_, err := tree.New(s)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "read the topology: ")
	}
}

func TestTopologiesAtTheLimits(t *testing.T) {
	s := treeSpec()
	for i := range 256 - len(s.Resources) {
		s.Resources = append(s.Resources, fmt.Sprint("r", i))
	}
	for i := range s.Nodes {
		s.Nodes[i].Free = append(s.Nodes[i].Free, make([]int64, 253)...)
	}
	s.Nodes[0].Free[0], s.Nodes[2].Free[0] = math.MaxInt64/1024, -math.MaxInt64/1024
	s.Nodes[0].Islands = make([]tree.Island, 64)
	s.Nodes[0].Islands[63] = tree.Island{Size: math.MaxInt16, Free: 4}
	s.Tiers[2].Weight, s.Tiers[3].Weight = 1<<14, 0
	for i := len(s.Tiers); i < 16; i++ {
		s.Tiers = append(s.Tiers, tree.Tier{Name: fmt.Sprint("t", i)})
		for n := range s.Nodes {
			s.Nodes[n].Domains = append(s.Nodes[n].Domains, "")
		}
	}
	topology := built(t, s)
	node, _ := topology.Node("n3")
	require.Len(t, topology.Islands(node), 64)
	require.Equal(t, "(b1)/(b1)", topology.DomainName(topology.Ancestor(node, 14)), "unknown tiers take the name of what is below")
}
