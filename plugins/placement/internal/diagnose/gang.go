// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// pendingGang is what a demand still needs: of each role, the members up to its minimum that have no node.
type pendingGang struct {
	t              *tree.Topology
	d              *gang.Demand
	need           []int64 // of each role
	total          int64
	roles          []int         // with a need: most GPUs first, then largest share of what is free
	shapes         []*tree.Shape // of each role with a need
	amounts        []int64       // that all together need
	runningDomain  tree.DomainID // domain of the highest tier where members run; NoDomain if there is none, or no limit
	runningDomains int           // in how many domains of the highest tier members run
}

func newGang(t *tree.Topology, d *gang.Demand) *pendingGang {
	g := &pendingGang{
		t: t, d: d, need: make([]int64, len(d.Roles)), shapes: make([]*tree.Shape, len(d.Roles)),
		amounts: make([]int64, len(t.Resources())), runningDomain: tree.NoDomain,
	}
	for r := range d.Roles {
		role := &d.Roles[r]
		need := int64(role.Minimum - len(role.Placed))
		if need <= 0 {
			continue
		}
		g.need[r] = need
		g.total += need
		g.roles = append(g.roles, r)
		g.shapes[r] = t.ShapeOn(role.Request, role.Eligible)
		for i, amount := range role.Request {
			g.amounts[i] = plusTimes(g.amounts[i], need, amount)
		}
	}
	slices.SortStableFunc(g.roles, func(a, b int) int {
		gpus := func(r int) int64 { return t.GPUs(d.Roles[r].Request) }
		return cmp.Or(cmp.Compare(gpus(b), gpus(a)), cmp.Compare(g.share(b), g.share(a)))
	})
	var running []tree.DomainID
	for r := range d.Roles {
		for _, member := range d.Roles[r].Placed {
			if v := t.Ancestor(member.Node, d.HighestTier); d.Limited() && !slices.Contains(running, v) {
				running = append(running, v)
			}
		}
	}
	if g.runningDomains = len(running); g.runningDomains == 1 {
		g.runningDomain = running[0]
	}
	return g
}

// plusTimes is sum + n * amount, or the largest number if that is more.
func plusTimes(sum, n, amount int64) int64 {
	if amount <= 0 {
		return sum
	}
	if n > (math.MaxInt64-sum)/amount {
		return math.MaxInt64
	}
	return sum + n*amount
}

// share of the scarcest resource that one member of a role takes.
func (g *pendingGang) share(role int) float64 {
	most := 0.0
	for r, amount := range g.d.Roles[role].Request {
		if amount > 0 {
			most = max(most, float64(amount)/float64(max(1, g.t.Free(g.t.Root())[r])))
		}
	}
	return most
}

// domains returns those that may hold the whole gang: of the highest tier, the one where members run, if they run in one.
func (g *pendingGang) domains() (lo, hi tree.DomainID) {
	switch {
	case !g.d.Limited():
		return g.t.Root(), g.t.Root() + 1
	case g.runningDomain != tree.NoDomain:
		return g.runningDomain, g.runningDomain + 1
	}
	return g.t.Domains(g.d.HighestTier)
}

// bound is how many members a domain holds at most, by sums.
func (g *pendingGang) bound(v tree.DomainID) (sum int64) {
	for _, r := range g.roles {
		sum += min(g.need[r], g.shapes[r].Sum(v))
	}
	return sum
}

// shortage is what is free less than is needed: GPUs, and the shares that are short of other amounts.
type shortage struct {
	gpus  int64
	other float64
}

func (a shortage) compare(b shortage) int {
	return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.other, b.other))
}

func (g *pendingGang) shortage(free, needed []int64) (short shortage) {
	for r, amount := range needed {
		if missing := amount - max(0, free[r]); missing > 0 {
			if slices.Contains(g.t.Accelerators(), r) {
				short.gpus += missing
			} else {
				short.other += float64(missing) / float64(g.amounts[r])
			}
		}
	}
	return short
}

// candidate is a domain and how many members it holds: at most, until it is packed.
type candidate struct {
	domain tree.DomainID
	holds  int64
	short  shortage
}

func (a *candidate) compare(b *candidate) int {
	return cmp.Or(cmp.Compare(b.holds, a.holds), a.short.compare(b.short), cmp.Compare(a.domain, b.domain))
}

// best returns how the gang fits into the domain that holds most of it: most members, then least that is short in all, then the
// first by name. It packs the domains that sums find best, until no other can be better.
func (g *pendingGang) best(stop func() bool) (*gangFit, error) {
	lo, hi := g.domains()
	candidates := make([]candidate, 0, hi-lo)
	for v := lo; v < hi; v++ {
		candidates = append(candidates, candidate{v, g.bound(v), g.shortage(g.t.Free(v), g.amounts)})
	}
	slices.SortFunc(candidates, func(a, b candidate) int { return a.compare(&b) })
	var best *candidate
	var fit *gangFit
	for i := range candidates {
		next := &candidates[i]
		if best != nil && best.compare(next) < 0 {
			break
		}
		if stop != nil && stop() {
			return nil, solver.ErrStopped
		}
		packed := g.pack(next.domain)
		if next.holds = packed.total; best == nil || next.compare(best) < 0 {
			best, fit = next, packed
		}
	}
	return fit, nil
}

// gangFit is a way to put as much of a gang as was found into one domain, with capacities and eligible nodes as the only
// limits.
type gangFit struct {
	g        *pendingGang
	domain   tree.DomainID
	lo, hi   tree.NodeID
	left     []int64 // of each node, node-major
	together []int64 // of each role
	total    int64
}

// pack puts the roles in one after the other, the hardest first.
func (g *pendingGang) pack(v tree.DomainID) *gangFit {
	p := &gangFit{g: g, domain: v, together: make([]int64, len(g.need))}
	p.lo, p.hi = g.t.NodesOf(v)
	p.left = make([]int64, 0, int(p.hi-p.lo)*len(g.t.Resources()))
	for n := p.lo; n < p.hi; n++ {
		p.left = append(p.left, g.t.Free(tree.DomainID(n))...)
	}
	for _, role := range g.roles {
		p.put(role)
	}
	return p
}

func (p *gangFit) capacity() DomainCapacity {
	t := p.g.t
	tier := t.TierOf(p.domain)
	c := DomainCapacity{ID: p.domain, Name: t.ShortName(p.domain), Tier: tier, TierName: t.TierName(tier)}
	for _, n := range p.together {
		c.Fits = append(c.Fits, int(n))
	}
	return c
}

// of is what is left of a node.
func (p *gangFit) of(n tree.NodeID) []int64 {
	size := len(p.g.t.Resources())
	at := int(n-p.lo) * size
	return p.left[at : at+size]
}

// put puts as many members of a role as are needed on the first nodes that hold them.
func (p *gangFit) put(role int) {
	of := &p.g.d.Roles[role]
	for n := p.lo; n < p.hi && p.together[role] < p.g.need[role]; n++ {
		if !of.Eligible.Has(n) {
			continue
		}
		left := p.of(n)
		take := min(int64(tree.Fits(left, of.Request)), p.g.need[role]-p.together[role])
		p.together[role] += take
		p.total += take
		for r, amount := range of.Request {
			if amount > 0 {
				left[r] -= take * amount
			}
		}
	}
}
