// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"slices"
)

// Who has a cell if no pod that was read has it: nobody, or perhaps a pod that could not be read.
const (
	free    = -2
	unknown = -3
)

const (
	// eighths are the cells of a node that has no GPUs: shares of its CPUs.
	eighths = 8
	// mostCells is how many GPUs of a node are drawn one by one; nodes with more show shares of them.
	mostCells = 32
)

// run is cells side by side that one pod has, or nobody.
type run struct{ owner, cells int }

// row is a node's cells from left to right. Which of its GPUs a pod has is not known.
func (m *Map) row(n *Node) []run {
	if n.Total.GPUs == 0 {
		return m.shares(n, n.Total.MilliCPUs, func(a Amounts) int64 { return a.MilliCPUs })
	}
	if n.Total.GPUs > mostCells {
		return m.shares(n, n.Total.GPUs, func(a Amounts) int64 {
			if a.GPUs == 0 {
				return nothing
			}
			return a.GPUs
		})
	}
	var runs []run
	left := int(n.Total.GPUs)
	for _, p := range n.Pods {
		if taken := min(int(p.Holds.GPUs), left); taken > 0 {
			runs = append(runs, run{p.owner, taken})
			left -= taken
		}
	}
	return m.rest(runs, left)
}

// beside are the shares of a GPU node's CPUs that pods without GPUs have; nothing if there are none of jobs.
func (m *Map) beside(n *Node) []run {
	if n.Total.GPUs == 0 || !slices.ContainsFunc(n.Pods, func(p *Pod) bool { return p.Holds.GPUs == 0 && p.owner != others }) {
		return nil
	}
	return m.shares(n, n.Total.MilliCPUs, func(a Amounts) int64 {
		if a.GPUs > 0 {
			return nothing
		}
		return a.MilliCPUs
	})
}

// nothing is the amount of a pod that is not drawn; a pod whose amount is 0 is.
const nothing = -1

// shares are eighths of an amount. Each job that has a pod there has at least one, if there are enough.
func (m *Map) shares(n *Node, total int64, of func(Amounts) int64) []run {
	sums := map[int]int64{}
	for _, p := range n.Pods {
		if amount := of(p.Holds); amount >= 0 {
			sums[p.owner] += amount
		}
	}
	owners := make([]int, 0, len(sums))
	for owner := range sums {
		owners = append(owners, owner)
	}
	slices.SortFunc(owners, func(a, b int) int { return cmp.Or(cmp.Compare(min(b, 0), min(a, 0)), cmp.Compare(a, b)) })
	var runs []run
	sum, used := int64(0), 0
	for _, owner := range owners {
		sum += sums[owner]
		to := eighths
		if total > 0 {
			to = int(min((sum*eighths+total/2)/total, eighths))
		}
		if owner != others {
			to = min(max(to, used+1), eighths)
		}
		if to > used {
			runs = append(runs, run{owner, to - used})
			used = to
		}
	}
	return m.rest(runs, eighths-used)
}

func (m *Map) rest(runs []run, left int) []run {
	if left <= 0 {
		return runs
	}
	owner := free
	if m.partial {
		owner = unknown
	}
	return append(runs, run{owner, left})
}

// signs stand for jobs; with more jobs than these, the smallest share the last one.
const (
	signs  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	shared = "+"
)

// sign gives each job that has nodes its sign, in the order of their names. The jobs with most pods have one of their own.
func (m *Map) sign() {
	var with []*Job
	for _, job := range m.Jobs {
		if job.placed() > 0 {
			with = append(with, job)
		}
	}
	own := slices.Clone(with)
	slices.SortStableFunc(own, func(a, b *Job) int { return cmp.Compare(b.placed(), a.placed()) })
	if m.chosen >= 0 {
		chosen := m.Jobs[m.chosen]
		slices.SortStableFunc(own, func(a, b *Job) int {
			return cmp.Compare(map[bool]int{true: 0, false: 1}[a == chosen], map[bool]int{true: 0, false: 1}[b == chosen])
		})
	}
	own = own[:min(len(own), len(signs))]
	next := 0
	for _, job := range with {
		job.Sign = shared
		if slices.Contains(own, job) {
			job.Sign = signs[next : next+1]
			next++
		}
	}
}

// placed is how many pods of a job have nodes.
func (j *Job) placed() (sum int) {
	for _, role := range j.Roles {
		sum += role.Placed
	}
	return sum
}
