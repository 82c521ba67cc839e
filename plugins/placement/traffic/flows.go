// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Flows is traffic between classes of members, the same between any two members of two classes.
//
// A domain that holds k_a of the n_a members of class a carries, in one direction of its uplink,
//
//	T = unit * sum over pairs of classes (a, b) of weight_ab * (k_a (n_b - k_b) + k_b (n_a - k_a))
//
// as each pair with one member inside and one outside sends weight_ab * unit bytes each way. Summed over the domains of a
// tier, T is X, what crosses the tier: each pair in two domains is counted once for either, once for each direction.
type Flows struct {
	// Total members of each class.
	Total []int64
	Pairs []Pair
	bytes float64 // of one unit
}

// Pair is two classes whose members communicate, and how much.
type Pair struct {
	A, B   int
	Weight int64
}

// Unit returns the bytes of one unit of load.
func (f *Flows) Unit() float64 { return f.bytes }

// Classes returns the number of classes of members.
func (f *Flows) Classes() int { return len(f.Total) }

// Load returns the load of a domain with row members of each class, in units.
func (f *Flows) Load(_ tree.DomainID, row []int32) int64 {
	var sum int64
	for _, p := range f.Pairs {
		a, b := int64(row[p.A]), int64(row[p.B])
		sum += p.Weight * (a*(f.Total[p.B]-b) + b*(f.Total[p.A]-a))
	}
	return sum
}

// Island returns no load: what servers and workers exchange leaves the GPU anyway.
func (f *Flows) Island(tree.NodeID, []int32) (sum, most int64) { return 0, 0 }

// NewFlows returns the traffic of a demand with the given number of members of each class.
func NewFlows(d *gang.Demand, total []int) *Flows {
	switch d.Pattern {
	case gang.ParameterServer:
		return parameterServer(total[gang.ServerClass], total[gang.WorkerClass], d.ModelBytes())
	case gang.Pipeline:
		return pipeline(total, d.ModelBytes())
	case gang.Single, gang.Collective: // no member communicates, or those on a Ring do
	}
	return &Flows{}
}
