// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// apartResource begins the names of resources that no node and no pod has: of each, a node has one while a plan is made,
// and each pod of a role whose pods cannot share a node takes it. So the planner knows what predicates would only say
// after the first pod was placed.
const apartResource = "one-per-node.paddlepaddle.org/"

const maxApart = 4 // roles of one job with such pods; those beyond are found out by predicates

// keepsApart tells whether two pods that are like this one cannot be on one node.
func keepsApart(pod *corev1.Pod) bool { return exclude(pod, pod) }

// exclude tells whether two pods of a job cannot be on one node: they take the same port of it, or one refuses the other.
func exclude(a, b *corev1.Pod) bool {
	return repels(a, b) || repels(b, a) || slices.ContainsFunc(hostPorts(&a.Spec), func(port corev1.ContainerPort) bool {
		return slices.ContainsFunc(hostPorts(&b.Spec), func(other corev1.ContainerPort) bool { return samePort(port, other) })
	})
}

func samePort(a, b corev1.ContainerPort) bool {
	number := func(port corev1.ContainerPort) int32 { return cmp.Or(port.HostPort, port.ContainerPort) }
	return number(a) == number(b) && cmp.Or(a.Protocol, corev1.ProtocolTCP) == cmp.Or(b.Protocol, corev1.ProtocolTCP)
}

// repels tells whether the anti-affinity of a pod keeps it off nodes that hold the other.
func repels(pod, other *corev1.Pod) bool {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err == nil && term.TopologyKey == corev1.LabelHostname && len(term.Namespaces) == 0 && selector.Matches(labels.Set(other.Labels)) {
			return true
		}
	}
	return false
}

// apartName is the resource of one set of roles; what follows the last slash is read by people.
func apartName(number int) string {
	name := apartResource + "node-of-its-own"
	if number > 0 {
		name += "-" + strconv.Itoa(number+1)
	}
	return name
}

// apartNames are the resources for so many roles.
func apartNames(roles int) []string {
	var names []string
	for i := range min(roles, maxApart) {
		names = append(names, apartName(i))
	}
	return names
}

// keepApart makes the pods of such roles take what a node has one of. The changes are of the plan: the caller takes them
// back. Nodes that hold such a pod already have none left.
func (c *cast) keepApart(t *placement.Topology) error {
	for number, roles := range c.apart() {
		column := columnOf(t, apartName(number))
		if column < 0 {
			return nil
		}
		var placed []placement.Placed
		for _, r := range roles {
			role := &c.demand.Roles[r]
			role.Request = slices.Clone(role.Request)
			role.Request[column] = 1
			placed = append(placed, role.Placed...)
		}
		if err := oneEach(t, column, placed); err != nil {
			return err
		}
	}
	return nil
}

// apart is the roles whose pods cannot share a node, together with those whose pods cannot share one with theirs.
func (c *cast) apart() [][]int {
	var sets [][]int
	for r, pending := range c.pending {
		if len(pending) == 0 || !keepsApart(pending[0].Pod) {
			continue
		}
		at := slices.IndexFunc(sets, func(roles []int) bool {
			return !slices.ContainsFunc(roles, func(other int) bool { return !exclude(pending[0].Pod, c.pending[other][0].Pod) })
		})
		if at < 0 {
			at = len(sets)
			sets = append(sets, nil)
		}
		sets[at] = append(sets[at], r)
	}
	return sets
}

func oneEach(t *placement.Topology, column int, but []placement.Placed) error {
	taken := map[placement.NodeID]bool{}
	for _, placed := range but {
		taken[placed.Node] = true
	}
	for node := range placement.NodeID(t.Nodes()) {
		if taken[node] {
			continue
		}
		free := append([]int64(nil), t.Free(placement.DomainID(node))...)
		free[column] = 1
		if err := t.SetFree(node, free, t.Islands(node)); err != nil {
			return fmt.Errorf("keep pods of one role apart: %w", err)
		}
	}
	return nil
}

func columnOf(t *placement.Topology, name string) int {
	for column, resource := range t.Resources() {
		if resource == name {
			return column
		}
	}
	return -1
}

// apartRoles is how many roles of a gang have pending pods that cannot share a node.
func apartRoles(job *api.JobInfo) int {
	roles := map[string]bool{}
	for _, task := range job.TaskStatusIndex[api.Pending] {
		if !roles[task.TaskRole] && keepsApart(task.Pod) {
			roles[task.TaskRole] = true
		}
	}
	return len(roles)
}
