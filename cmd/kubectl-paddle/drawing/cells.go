// SPDX-License-Identifier: Apache-2.0

package drawing

import "slices"

// Who has a cell if no pod that was read has it: nobody, or perhaps a pod that could not be read.
const (
	free    = -2
	unknown = -3
)

// eighths are the cells of a node that has no GPUs: shares of its CPUs.
const eighths = 8

// cells returns who has each cell of a node, from left to right. Which of its GPUs a pod has is not known.
func (m *Map) cells(n *Node) (owners []int) {
	total := eighths
	if n.Total.GPUs > 0 {
		total = int(n.Total.GPUs)
		for _, p := range n.Pods {
			owners = append(owners, slices.Repeat([]int{p.owner}, int(p.Holds.GPUs))...)
		}
		owners = owners[:min(len(owners), total)]
	} else {
		owners = shares(n)
	}
	rest := free
	if m.partial {
		rest = unknown
	}
	return append(owners, slices.Repeat([]int{rest}, total-len(owners))...)
}

// shares returns who has the eighths of a node's CPUs. Each job that has a pod there has at least one, if there are enough.
func shares(n *Node) (owners []int) {
	sum := int64(0)
	for i, p := range n.Pods {
		sum += p.Holds.MilliCPUs
		if i+1 < len(n.Pods) && n.Pods[i+1].owner == p.owner {
			continue
		}
		to := eighths
		if n.Total.MilliCPUs > 0 {
			to = int(min((sum*eighths+n.Total.MilliCPUs/2)/n.Total.MilliCPUs, eighths))
		}
		if p.owner != others {
			to = min(max(to, len(owners)+1), eighths)
		}
		owners = append(owners, slices.Repeat([]int{p.owner}, max(to-len(owners), 0))...)
	}
	return owners
}

// beside returns the jobs that have pods without GPUs on a node with GPUs.
func beside(n *Node) (owners []int) {
	for _, p := range n.Pods {
		if n.Total.GPUs > 0 && p.Holds.GPUs == 0 && p.owner != others && !slices.Contains(owners, p.owner) {
			owners = append(owners, p.owner)
		}
	}
	return owners
}
