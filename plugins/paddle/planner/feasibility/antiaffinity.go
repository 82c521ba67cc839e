// SPDX-License-Identifier: Apache-2.0

package feasibility

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

// slotResource prefixes synthetic resources, which exist only while a job is planned. Every node offers one unit of each,
// and each pod of a role whose pods cannot share a node requests one. The planner then places at most one such pod on a
// node, which predicates would reveal only after the first pod was placed.
const slotResource = "one-per-node.paddlepaddle.org/"

// maxSlots is how many roles of one job can have a slot resource. The pods of further roles are left to predicates.
const maxSlots = 4

// SlotResources returns the names of the slot resources that the plan of a job needs.
func SlotResources(job *api.JobInfo) (names []string) {
	roles := map[string]bool{}
	for _, task := range job.TaskStatusIndex[api.Pending] {
		if !roles[task.TaskRole] && conflict(task.Pod, task.Pod) {
			roles[task.TaskRole] = true
		}
	}
	for i := range min(len(roles), maxSlots) {
		names = append(names, slotName(i))
	}
	return names
}

// slotName returns the name of a slot resource. Messages show what follows the slash.
func slotName(number int) string {
	name := slotResource + "node-of-its-own"
	if number > 0 {
		name += "-" + strconv.Itoa(number+1)
	}
	return name
}

// RequestSlots adds requests of slot resources to a demand, and the slots to the nodes of a topology that has them among its
// resources. pending are the pods of each role. A node that holds a pod of such a role offers no slot. The caller rolls the
// topology back.
func RequestSlots(t *placement.Topology, d *placement.Demand, pending [][]*api.TaskInfo) error {
	for number, roles := range conflictingRoles(pending) {
		column := slices.Index(t.Resources(), slotName(number))
		if column < 0 {
			return nil
		}
		var placed []placement.Placed
		for _, r := range roles {
			role := &d.Roles[r]
			role.Request = slices.Clone(role.Request)
			role.Request[column] = 1
			placed = append(placed, role.Placed...)
		}
		if err := oneSlotPerNode(t, column, placed); err != nil {
			return err
		}
	}
	return nil
}

// conflictingRoles returns sets of roles of which no two pods can share a node, neither of one role nor of two.
func conflictingRoles(pending [][]*api.TaskInfo) (sets [][]int) {
	for r, tasks := range pending {
		if len(tasks) == 0 || !conflict(tasks[0].Pod, tasks[0].Pod) {
			continue
		}
		at := slices.IndexFunc(sets, func(roles []int) bool {
			return !slices.ContainsFunc(roles, func(other int) bool { return !conflict(tasks[0].Pod, pending[other][0].Pod) })
		})
		if at < 0 {
			at = len(sets)
			sets = append(sets, nil)
		}
		sets[at] = append(sets[at], r)
	}
	return sets
}

func oneSlotPerNode(t *placement.Topology, column int, except []placement.Placed) error {
	taken := map[placement.NodeID]bool{}
	for _, placed := range except {
		taken[placed.Node] = true
	}
	for node := range placement.NodeID(t.Nodes()) {
		if taken[node] {
			continue
		}
		free := slices.Clone(t.Free(placement.DomainID(node)))
		free[column] = 1
		if err := t.SetFree(node, free, t.Islands(node)); err != nil {
			return fmt.Errorf("offer a slot on node %s: %w", t.NodeName(node), err)
		}
	}
	return nil
}

// conflict reports whether two pods of a job, or two pods like one, cannot share a node: they have a host port in common, or
// one has required anti-affinity to the other.
func conflict(a, b *corev1.Pod) bool {
	return hasAntiAffinityTo(a, b) || hasAntiAffinityTo(b, a) || slices.ContainsFunc(hostPorts(&a.Spec), func(port corev1.ContainerPort) bool {
		return slices.ContainsFunc(hostPorts(&b.Spec), func(other corev1.ContainerPort) bool { return samePort(port, other) })
	})
}

// hasAntiAffinityTo reports whether required anti-affinity of a pod rules out the node of another pod of its namespace.
func hasAntiAffinityTo(pod, other *corev1.Pod) bool {
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

// hostPorts returns the ports of the node that a pod takes. A pod in the host's network takes the ports of its containers
// also where hostPort has not been defaulted.
func hostPorts(spec *corev1.PodSpec) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				if port.HostPort > 0 || spec.HostNetwork && port.ContainerPort > 0 {
					ports = append(ports, port)
				}
			}
		}
	}
	return ports
}

func samePort(a, b corev1.ContainerPort) bool {
	number := func(port corev1.ContainerPort) int32 { return cmp.Or(port.HostPort, port.ContainerPort) }
	return number(a) == number(b) && cmp.Or(a.Protocol, corev1.ProtocolTCP) == cmp.Or(b.Protocol, corev1.ProtocolTCP)
}
