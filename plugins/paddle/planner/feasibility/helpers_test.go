// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Labels of the tests' pods; values of the second one differ from pod to pod.
const (
	roleLabel  = "role"
	perPodName = "pod.example.com/name"
)

// pod returns a pod of one container and applies changes to it.
func pod(role string, index int, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: fmt.Sprintf("j-%s-%d", role, index), UID: "uid", Labels: map[string]string{roleLabel: role},
			Annotations: map[string]string{batch.TaskSpecKey: role},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func task(changes ...func(*corev1.Pod)) *api.TaskInfo {
	return api.NewTaskInfo(pod("worker", 0, changes...))
}

func unchanged(*corev1.Pod) {}

func withLabel(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

func withAnnotation(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

func withHostPort(port int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: port, HostPort: port}}
	}
}

func withGPUs(n string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(n)}
		p.Spec.Containers[0].Resources.Requests = p.Spec.Containers[0].Resources.Limits
	}
}

// term returns an affinity term about the pods of a role.
func term(role, topologyKey string) []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{TopologyKey: topologyKey, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{roleLabel: role}}}}
}

func withAffinity(terms []corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func withAntiAffinity(terms []corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func withVolume(name string, source corev1.VolumeSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{{Name: name, VolumeSource: source}} }
}

func claim(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

// topologyOf returns a topology of so many nodes n0, n1, ... that have resources.
func topologyOf(t *testing.T, nodes int, resources ...string) *placement.Topology {
	t.Helper()
	spec := placement.TopologySpec{Resources: append([]string{"cpu"}, resources...), Tiers: placement.DefaultTiers()}
	for i := range nodes {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: fmt.Sprintf("n%d", i), Free: make([]int64, len(spec.Resources))})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}

// nodesOf returns a session's nodes, changed by name.
func nodesOf(t *placement.Topology, changes map[string]func(*corev1.Node)) map[string]*api.NodeInfo {
	nodes := map[string]*api.NodeInfo{}
	for id := range placement.NodeID(t.Nodes()) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: t.NodeName(id), Labels: map[string]string{}}}
		if change := changes[node.Name]; change != nil {
			change(node)
		}
		nodes[node.Name] = api.NewNodeInfo(node)
	}
	return nodes
}

// checkerOf returns a Checker of a topology whose nodes have no taints, without filters.
func checkerOf(t *placement.Topology, p Predicates) *Checker {
	return New(Session{Topology: t, Nodes: nodesOf(t, nil), Predicates: p, PerPodKey: func(key string) bool {
		return key == batch.TaskIndex || strings.HasPrefix(key, "pod.example.com/")
	}})
}

func setOf(t *placement.Topology, ids ...placement.NodeID) *placement.NodeSet {
	set := placement.NewNodeSet(t)
	for _, id := range ids {
		set.Add(id)
	}
	return set
}
