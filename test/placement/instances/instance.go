// SPDX-License-Identifier: Apache-2.0

// Package instances draws random jobs on random topologies from a seed; no placement is chosen or judged here.
//
// Small draws the jobs that the planner's tests, its fuzzing and its benchmark share; Cluster and Fleet draw large ones.
package instances

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Resources returns the names of the columns of large clusters.
func Resources() []string { return []string{"cpu", "memory", "nvidia.com/gpu"} }

// Instance is one job on one topology.
type Instance struct {
	// Spec of the topology, of small instances.
	Spec     placement.TopologySpec
	Topology *placement.Topology
	Demand   *placement.Demand
	Options  placement.Options
}

// Some returns how many of its random cases a test draws: few, or all where everything is tested (make test-all).
func Some(few, all int) int {
	if os.Getenv("TEST_ALL") == "1" {
		return all
	}
	return few
}

func source(seed, index uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, index)) }

// chance reports true with probability p.
func chance(rng *rand.Rand, p float64) bool { return rng.Float64() < p }

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// Fits returns how many pods of a request fit a node with this free capacity, up to a number.
func Fits(free, request []int64, most int) int {
	for c, amount := range request {
		if amount > 0 {
			most = min(most, int(max(0, free[c])/amount))
		}
	}
	return most
}

// String shows the topology and the job.
func (in *Instance) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "resources %v, accelerators %v\ntiers %+v\n", in.Spec.Resources, in.Spec.Accelerators, in.Spec.Tiers)
	for i := range in.Spec.Nodes {
		node := &in.Spec.Nodes[i]
		fmt.Fprintf(&text, "node %s in %q: free %v, islands %+v\n", node.Name, node.Domains, node.Free, node.Islands)
	}
	return text.String() + in.Job()
}

// Job shows the job alone.
func (in *Instance) Job() string {
	var text strings.Builder
	d := *in.Demand
	d.Roles = nil
	fmt.Fprintf(&text, "job %+v, objective %d\n", d, in.Options.Objective)
	for i := range in.Demand.Roles {
		role := in.Demand.Roles[i]
		var eligible []int
		for n := range in.Topology.Nodes() {
			if role.Eligible != nil && role.Eligible.Has(placement.NodeID(n)) {
				eligible = append(eligible, n)
			}
		}
		limited := role.Eligible != nil
		role.Eligible = nil
		fmt.Fprintf(&text, "  role %+v", role)
		if limited {
			fmt.Fprintf(&text, ", eligible %v", eligible)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// Pods of the job, placed ones included.
func (in *Instance) Pods() int {
	pods := 0
	for r := range in.Demand.Roles {
		pods += len(in.Demand.Roles[r].Pending) + len(in.Demand.Roles[r].Placed)
	}
	return pods
}
