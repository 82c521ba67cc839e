// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
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
		if role.Eligible == nil {
			g.shapes[r] = t.Shape(role.Request)
		} else {
			g.shapes[r] = tree.NewShape(t, role.Request, role.Eligible)
		}
		for i, amount := range role.Request {
			g.amounts[i] = plusTimes(g.amounts[i], need, amount)
		}
	}
	slices.SortStableFunc(g.roles, func(a, b int) int {
		gpus := func(r int) int64 { return t.GPUs(d.Roles[r].Request) }
		return cmp.Or(cmp.Compare(gpus(b), gpus(a)), cmp.Compare(g.share(b), g.share(a)))
	})
	g.findRunningDomain()
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

func (g *pendingGang) findRunningDomain() {
	if !g.d.Limited() {
		return
	}
	var domains []tree.DomainID
	for r := range g.d.Roles {
		for _, member := range g.d.Roles[r].Placed {
			if v := g.t.Ancestor(member.Node, g.d.HighestTier); !slices.Contains(domains, v) {
				domains = append(domains, v)
			}
		}
	}
	if g.runningDomains = len(domains); g.runningDomains == 1 {
		g.runningDomain = domains[0]
	}
}

// decidingTier returns the tier in one domain of which the gang must be.
func (g *pendingGang) decidingTier() int {
	if g.d.Limited() {
		return g.d.HighestTier
	}
	return len(g.t.Tiers())
}

// domains of a tier that may be used: where members run and must stay together, those around them.
func (g *pendingGang) domains(tier int) (lo, hi tree.DomainID) {
	if g.runningDomain == tree.NoDomain {
		return g.t.Domains(tier)
	}
	first, end := g.t.NodesOf(g.runningDomain)
	return g.t.Ancestor(first, tier), g.t.Ancestor(end-1, tier) + 1
}

// bound is how many members a domain holds at most, as far as sums tell.
func (g *pendingGang) bound(v tree.DomainID) (sum int64) {
	for _, r := range g.roles {
		sum += min(g.need[r], g.shapes[r].Sum(v))
	}
	return sum
}

// shortage is what a domain has less than the gang needs in all: GPUs, and the shares that are short of other amounts.
type shortage struct {
	gpus  int64
	other float64
}

func (a shortage) compare(b shortage) int {
	return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.other, b.other))
}

func (g *pendingGang) shortageOf(v tree.DomainID) (short shortage) {
	for r, free := range g.t.Free(v) {
		if missing := g.amounts[r] - max(0, free); missing > 0 {
			if slices.Contains(g.t.Accelerators(), r) {
				short.gpus += missing
			} else {
				short.other += float64(missing) / float64(g.amounts[r])
			}
		}
	}
	return short
}

// bestDomains is how many domains of a tier an Diagnosis lists.
const bestDomains = 3

type rankedDomain struct {
	domain tree.DomainID
	bound  int64
	short  shortage
	pack   *gangFit
}

func (a *rankedDomain) compare(b *rankedDomain) int {
	return cmp.Or(cmp.Compare(b.bound, a.bound), a.short.compare(b.short), cmp.Compare(a.domain, b.domain))
}

// tierCapacity counts in the domains of a tier that sums find best, until no other can be better.
func (g *pendingGang) tierCapacity(tier int) TierCapacity {
	lo, hi := g.domains(tier)
	capacity := TierCapacity{Tier: tier, Name: g.t.TierName(tier), Domains: int(hi - lo)}
	all := make([]rankedDomain, 0, hi-lo)
	for v := lo; v < hi; v++ {
		all = append(all, rankedDomain{domain: v, bound: g.bound(v), short: g.shortageOf(v)})
	}
	slices.SortFunc(all, func(a, b rankedDomain) int { return a.compare(&b) })
	var best []rankedDomain
	for _, next := range all {
		if len(best) == bestDomains && next.compare(&best[bestDomains-1]) > 0 {
			break // its bound is not above what the last of the best really holds
		}
		next.pack = g.pack(next.domain)
		next.bound = next.pack.total
		at, _ := slices.BinarySearchFunc(best, next, func(a, b rankedDomain) int { return a.compare(&b) })
		best = slices.Insert(best, at, next)
		best = best[:min(len(best), bestDomains)]
	}
	for _, of := range best {
		capacity.Best = append(capacity.Best, g.domainCapacity(of.domain, of.pack))
	}
	return capacity
}

func (g *pendingGang) domainCapacity(v tree.DomainID, pack *gangFit) DomainCapacity {
	capacity := DomainCapacity{
		Domain: v, Name: g.t.DomainName(v), short: g.t.ShortName(v), Together: make([]int, len(g.need)),
	}
	for _, r := range g.roles {
		capacity.Together[r] = int(pack.together[r])
	}
	return capacity
}
