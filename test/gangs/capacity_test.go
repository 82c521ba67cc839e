// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// amounts are of resources, in thousandths.
type amounts map[corev1.ResourceName]int64

func amountsOf(list corev1.ResourceList) amounts {
	a := amounts{}
	for name, quantity := range list {
		a[name] = quantity.MilliValue()
	}
	return a
}

// requestOf returns what a pod takes of a node. Simulated pods have no init containers that ask for more.
func requestOf(pod *corev1.Pod) amounts {
	sum := amounts{corev1.ResourcePods: 1000}
	for i := range pod.Spec.Containers {
		for name, n := range amountsOf(pod.Spec.Containers[i].Resources.Requests) {
			sum[name] += n
		}
	}
	return sum
}

// use is a pod that begins or ceases to use a node's capacity.
type use struct {
	version uint64
	gang    string
	node    string
	takes   amounts
	ends    bool
}

// capacity is the free capacity of each node.
type capacity struct {
	free  map[string]amounts
	rack  map[string]string
	nodes map[string][]string // of each rack
}

func newCapacity(nodes []corev1.Node) *capacity {
	r := &capacity{free: map[string]amounts{}, rack: map[string]string{}, nodes: map[string][]string{}}
	for i := range nodes {
		node, rack := nodes[i].Name, nodes[i].Labels[topology.LabelRack]
		r.free[node] = amountsOf(nodes[i].Status.Allocatable)
		r.rack[node] = rack
		r.nodes[rack] = append(r.nodes[rack], node)
	}
	return r
}

// without returns the free capacity after the uses up to a version, and those of the gangs in placed at any time, without those of
// one gang.
func (r *capacity) without(uses []use, version uint64, gang string, placed map[string]bool) *capacity {
	after := &capacity{free: map[string]amounts{}, rack: r.rack, nodes: r.nodes}
	for node, free := range r.free {
		after.free[node] = maps.Clone(free)
	}
	for i := range uses {
		if uses[i].gang != gang && (uses[i].version <= version || placed[uses[i].gang]) {
			after.apply(&uses[i])
		}
	}
	return after
}

func (r *capacity) apply(u *use) {
	for name, n := range u.takes {
		if u.ends {
			n = -n
		}
		r.free[u.node][name] -= n
	}
}

// overfull returns the nodes whose pods requested more than the node has, each at the first time.
func (r *capacity) overfull(uses []use) []string {
	var faults []string
	reported := map[string]bool{}
	now := r.without(nil, 0, "", nil)
	for i := range uses {
		now.apply(&uses[i])
		for name, n := range now.free[uses[i].node] {
			if n < 0 && !reported[uses[i].node] {
				reported[uses[i].node] = true
				faults = append(faults, fmt.Sprintf("node %s has too little %s when a pod of %s is bound", uses[i].node, name, uses[i].gang))
			}
		}
	}
	return faults
}

// holds reports whether a rack has free capacity for all pods, the largest first, each on the first node that fits. It may miss a
// placement, and never finds a wrong one.
func (r *capacity) holds(rack string, pods []amounts) bool {
	sorted := slices.Clone(pods)
	slices.SortStableFunc(sorted, func(a, b amounts) int {
		return cmp.Or(cmp.Compare(b["nvidia.com/gpu"], a["nvidia.com/gpu"]), cmp.Compare(b[corev1.ResourceCPU], a[corev1.ResourceCPU]))
	})
	free := map[string]amounts{}
	for _, node := range r.nodes[rack] {
		free[node] = maps.Clone(r.free[node])
	}
	for _, pod := range sorted {
		at := slices.IndexFunc(r.nodes[rack], func(node string) bool {
			for name, n := range pod {
				if free[node][name] < n {
					return false
				}
			}
			return true
		})
		if at < 0 {
			return false
		}
		for name, n := range pod {
			free[r.nodes[rack][at]][name] -= n
		}
	}
	return true
}

// anyHolds returns the first rack that has free capacity for all pods.
func (r *capacity) anyHolds(pods []amounts) (string, bool) {
	for _, rack := range slices.Sorted(maps.Keys(r.nodes)) {
		if r.holds(rack, pods) {
			return rack, true
		}
	}
	return "", false
}
