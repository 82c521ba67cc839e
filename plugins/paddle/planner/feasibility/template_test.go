// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Nodes are left out as Volcano's plugin predicates leaves them out, and not where the configuration disables a filter.
func TestPermittedNodes(t *testing.T) {
	topology := topologyOf(t, 3)
	nodes := nodesOf(topology, map[string]func(*corev1.Node){
		"n0": func(n *corev1.Node) {
			n.Labels["disk"] = "ssd"
			n.Spec.Taints = []corev1.Taint{{Key: "slow", Effect: corev1.TaintEffectPreferNoSchedule}}
		},
		"n1": func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "broken", Effect: corev1.TaintEffectNoSchedule}}
		},
	})
	selects := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }
	requires := func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd", "nvme"}},
			}}},
		}}}
	}
	tolerates := func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "broken", Operator: corev1.TolerationOpExists}}
	}
	argument := func(key string) string { return "    arguments:\n      predicate." + key + ": false\n" }
	for name, test := range map[string]struct {
		option string // of the plugin predicates
		change func(*corev1.Pod)
		want   []placement.NodeID // nil is all
	}{
		"a taint":                     {"", unchanged, []placement.NodeID{0, 2}},
		"a taint that is tolerated":   {"", tolerates, nil},
		"taints are disabled":         {argument("TaintTolerationEnable"), unchanged, nil},
		"a node selector":             {"", selects, []placement.NodeID{0}},
		"node affinity":               {"", requires, []placement.NodeID{0}},
		"node affinity is disabled":   {argument("NodeAffinityEnable"), selects, []placement.NodeID{0, 2}},
		"the plugin does not predict": {"    enablePredicate: false\n", selects, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, tiers, _, _, err := scheduler.UnmarshalSchedulerConf("actions: allocate\ntiers:\n- plugins:\n  - name: predicates\n" + test.option)
			require.NoError(t, err)
			checker := New(Session{Topology: topology, Nodes: nodes, Filters: FiltersOf(tiers)})
			worker := pod("worker", 0, test.change)
			got := checker.permittedNodes(worker)
			require.Same(t, got, checker.permittedNodes(worker), "jobs share it")
			if test.want == nil {
				require.Nil(t, got)
				return
			}
			for id := range placement.NodeID(3) {
				require.Equal(t, slices.Contains(test.want, id), got.Has(id), "node %d", id)
			}
		})
	}
	nodes["n1"] = nil
	checker := New(Session{Topology: topology, Nodes: nodes, Filters: Filters{true, true, true}})
	require.Nil(t, checker.permittedNodes(pod("worker", 0)), "preferences, and nodes that are gone, are left to others")
}
