// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
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
const apartResource = "batch.paddlepaddle.org/one-per-node-"

const maxApart = 4 // roles of one job with such pods; those beyond are found out by predicates

// keepsApart tells whether two such pods cannot be on one node: they take the same ports of it, or refuse each other.
func keepsApart(pod *corev1.Pod) bool {
	if len(hostPorts(&pod.Spec)) > 0 {
		return true
	}
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err == nil && term.TopologyKey == corev1.LabelHostname && len(term.Namespaces) == 0 && selector.Matches(labels.Set(pod.Labels)) {
			return true
		}
	}
	return false
}

// apartNames are the resources for so many roles.
func apartNames(roles int) []string {
	var names []string
	for i := range min(roles, maxApart) {
		names = append(names, apartResource+strconv.Itoa(i))
	}
	return names
}

// keepApart makes the pods of such roles take what a node has one of. The changes are of the plan: the caller takes them
// back. Nodes that hold such a pod already have none left.
func (c *cast) keepApart(t *placement.Topology) error {
	number := 0
	for r := range c.demand.Roles {
		role := &c.demand.Roles[r]
		if len(role.Pending) == 0 || !keepsApart(c.pending[r][0].Pod) {
			continue
		}
		column := columnOf(t, apartResource+strconv.Itoa(number))
		if column < 0 {
			return nil
		}
		number++
		role.Request = append([]int64(nil), role.Request...)
		role.Request[column] = 1
		if err := oneEach(t, column, role.Placed); err != nil {
			return err
		}
	}
	return nil
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
