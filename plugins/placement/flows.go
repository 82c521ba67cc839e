// SPDX-License-Identifier: Apache-2.0

package placement

// flows is traffic between classes of members, the same between any two members of two classes.
//
// A domain that holds k_a of the n_a members of class a carries, in one direction of its uplink,
//
//	T = unit * sum over pairs of classes (a, b) of weight_ab * (k_a (n_b - k_b) + k_b (n_a - k_a))
//
// as each pair with one member inside and one outside sends weight_ab * unit bytes each way. Summed over the domains of a
// tier, T is X, what crosses the tier: each pair in two domains is counted once for either, once for each direction.
type flows struct {
	total []int64
	pairs []pair
	bytes float64 // of one unit
}

type pair struct {
	a, b   int
	weight int64
}

func (f *flows) unit() float64 { return f.bytes }

func (f *flows) classes() int { return len(f.total) }

// load of a domain with row members of each class, in units.
func (f *flows) load(_ DomainID, row []int32) int64 {
	var sum int64
	for _, p := range f.pairs {
		a, b := int64(row[p.a]), int64(row[p.b])
		sum += p.weight * (a*(f.total[p.b]-b) + b*(f.total[p.a]-a))
	}
	return sum
}

// island load: what servers and workers exchange leaves the GPU anyway.
func (f *flows) island(NodeID, []int32, int) (sum, most int64) { return 0, 0 }
