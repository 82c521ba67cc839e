// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Kueue places as topology-aware scheduling of Kueue v0.15.1 does with its feature gates as they are (BestFit; no balanced placement),
// for levels block, rack and host. The rule is that of pkg/cache/scheduler/tas_flavor_snapshot.go:
//
//   - Each role is a PodSet, and PodSets are placed one after the other. One server and its workers are one group of PodSets, which
//     Kueue places together. It takes one leader for a group, so several servers are placed without regard to their workers.
//   - A PodSet asks for hosts (podset-preferred-topology: kubernetes.io/hostname). The lowest level counts at which one domain holds
//     all pods. Of the domains that do, the one that holds the fewest is taken.
//   - Where no block holds all, blocks are taken from the one that holds most downwards. The last one is the one that holds the fewest
//     but all that is left.
//   - From there on down, the children of all domains that were taken are chosen from in this manner, level by level.
//   - Ranks follow the order of the tree. Ties end in names.
//
// If required, a PodSet waits for a domain of the lowest level that holds it on an empty cluster (podset-required-topology).
func Kueue(required bool) Rule {
	return func(c *Cluster, job *workload.Job) (Placement, error) {
		free, placement := slices.Clone(c.Free), make(Placement, len(job.Roles))
		for _, group := range podSets(&job.Job) {
			level, must := host, false
			if required {
				level = newKueue(c, c.empty(), &job.Job, group).lowest()
				must = level < root
			}
			k := newKueue(c, free, &job.Job, group)
			taken := k.find(min(level, block), must)
			if taken == nil {
				return nil, nil
			}
			if taken = k.descend(taken); taken == nil {
				return nil, nil
			}
			for _, t := range taken {
				for range t.take {
					placement[group.workers] = append(placement[group.workers], t.first)
					free[t.first] = free[t.first].Minus(job.Roles[group.workers].Request)
				}
				for range t.lead {
					placement[group.leader] = append(placement[group.leader], t.first)
					free[t.first] = free[t.first].Minus(job.Roles[group.leader].Request)
				}
			}
		}
		return placement, nil
	}
}

// podSet is a role, and the role of its leader if it has one.
type podSet struct{ workers, leader int }

const none = -1

func podSets(job *cluster.Job) (groups []podSet) {
	if len(job.Roles) == 2 && job.Roles[0].Pods == 1 {
		return []podSet{{workers: 1, leader: 0}}
	}
	for r := range job.Roles {
		groups = append(groups, podSet{workers: r, leader: none})
	}
	return groups
}

// kueue places one group of PodSets.
type kueue struct {
	pods, leaders int
	capacities    [levels][]capacity
}

// capacity is what a domain holds, and what is taken of it.
type capacity struct {
	*domain
	// pods without a leader next to them, and with one; leaders is 1 if the domain holds one.
	pods, withLeader, leaders int
	take, lead                int
}

// holds returns how many pods a domain holds if a leader has still to be placed, or not.
func (r *capacity) holds(leaders int) int {
	if leaders > 0 {
		return r.withLeader
	}
	return r.pods
}

func newKueue(c *Cluster, free []cluster.Amounts, job *cluster.Job, group podSet) *kueue {
	workers := &job.Roles[group.workers]
	k := &kueue{pods: workers.Pods}
	for _, d := range c.tree[host] {
		r := capacity{domain: d, pods: fit(free[d.first], workers.Request)}
		r.withLeader = r.pods
		if group.leader != none {
			k.leaders = 1
			leader := job.Roles[group.leader].Request
			if fit(free[d.first], leader) > 0 {
				r.leaders, r.withLeader = 1, fit(free[d.first].Minus(leader), workers.Request)
			}
		}
		k.capacities[host] = append(k.capacities[host], r)
	}
	for level := rack; level < levels; level++ {
		below := k.capacities[level-1]
		for _, d := range c.tree[level] {
			r, least := capacity{domain: d}, many
			for range d.children {
				child := below[0]
				below = below[1:]
				r.pods += child.pods
				r.leaders = max(r.leaders, child.leaders)
				least = min(least, child.pods-child.withLeader)
			}
			r.withLeader = r.pods - least
			k.capacities[level] = append(k.capacities[level], r)
		}
	}
	return k
}

// lowest returns the lowest level of which one domain holds all pods.
func (k *kueue) lowest() int {
	for level := range k.capacities {
		for i := range k.capacities[level] {
			if r := &k.capacities[level][i]; r.withLeader >= k.pods && r.leaders >= k.leaders {
				return level
			}
		}
	}
	return root
}

// find returns the domains to descend from: one of a level or of those above, or several blocks.
func (k *kueue) find(level int, required bool) []capacity {
	capacities := slices.Clone(k.capacities[level])
	slices.SortStableFunc(capacities, func(a, b capacity) int {
		return cmp.Or(cmp.Compare(b.leaders, a.leaders), cmp.Compare(b.withLeader, a.withLeader))
	})
	if capacities[0].withLeader >= k.pods && capacities[0].leaders >= k.leaders {
		return []capacity{tightest(capacities, k.pods, k.leaders)}
	}
	if required {
		return nil
	}
	if level < block {
		return k.find(level+1, false)
	}
	return k.several(capacities)
}

// several returns blocks that hold all together. The leader comes first.
func (k *kueue) several(capacities []capacity) (taken []capacity) {
	pods, leaders := k.pods, k.leaders
	for leaders > 0 {
		if len(capacities) == 0 || capacities[0].leaders == 0 {
			return nil
		}
		taken = append(taken, capacities[0])
		leaders -= capacities[0].leaders
		pods -= capacities[0].withLeader
		capacities = capacities[1:]
	}
	capacities = mostFirst(capacities)
	for i := 0; pods > 0; i++ {
		if i == len(capacities) {
			return nil
		}
		r := capacities[i]
		if r.pods >= pods {
			r = tightest(capacities[i:], pods, 0)
		}
		taken = append(taken, r)
		pods -= r.pods
	}
	return taken
}

// descend returns the hosts that are taken below some domains, with what each of them takes, in the order of the tree.
func (k *kueue) descend(capacities []capacity) []capacity {
	taken := k.take(capacities)
	for len(taken) > 0 && taken[0].level > host {
		var below []capacity
		for _, t := range taken {
			for _, r := range k.capacities[t.level-1] {
				if t.first <= r.first && r.end <= t.end {
					below = append(below, r)
				}
			}
		}
		taken = k.take(mostFirst(below))
	}
	slices.SortFunc(taken, func(a, b capacity) int { return cmp.Compare(a.first, b.first) })
	return taken
}

// take returns the first of some domains that hold all, the last one the tightest that will do; none if they do not hold all.
func (k *kueue) take(capacities []capacity) (taken []capacity) {
	pods, leaders := k.pods, k.leaders
	for i, r := range capacities {
		if r.holds(leaders) >= pods && r.leaders >= leaders {
			r = tightest(capacities[i:], pods, leaders)
			r.take, r.lead = pods, leaders
			return append(taken, r)
		}
		r.take, r.lead = min(r.holds(leaders), pods), min(r.leaders, leaders)
		pods -= r.take
		leaders -= r.lead
		taken = append(taken, r)
	}
	return nil
}

// tightest returns the domain that holds the fewest pods of those that hold enough.
func tightest(capacities []capacity, pods, leaders int) capacity {
	best := capacities[0]
	for _, r := range capacities[1:] {
		if r.leaders >= leaders && r.holds(leaders) >= pods && r.holds(leaders) < best.holds(leaders) {
			best = r
		}
	}
	return best
}

// mostFirst returns the domains in the order of what they hold. Ties are in the order of the tree.
func mostFirst(capacities []capacity) []capacity {
	sorted := slices.Clone(capacities)
	slices.SortFunc(sorted, func(a, b capacity) int {
		return cmp.Or(cmp.Compare(b.pods, a.pods), cmp.Compare(a.first, b.first))
	})
	return sorted
}
