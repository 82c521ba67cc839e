// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// A gang of two workers of 4 CPUs that three nodes of 8 CPUs would hold, but for one cause.
func TestReportOfWhatRefusesNodes(t *testing.T) {
	large := resources{"cpu": "8", "memory": "8Gi"}
	workers := func() []*corev1.Pod { return pods("job", "worker", 2, resources{"cpu": "4"}) }
	nodes := func(change func(*corev1.Node)) (objects []any) {
		for _, name := range []string{"n1", "n2", "n3"} {
			n := node(name, large)
			n.Labels[corev1.LabelHostname], n.Labels[corev1.LabelTopologyZone] = name, "z"
			if change != nil {
				change(n)
			}
			objects = append(objects, n)
		}
		return objects
	}
	// beside are pods of others that run, one on each node.
	besides := func(change func(*corev1.Pod)) []any {
		group := podGroup("old", 3, nil)
		group.Status.Phase = scheduling.PodGroupRunning
		running := plainPods("old", "task", 3, resources{"cpu": "1"})
		for i, pod := range running {
			pod.Spec.NodeName, pod.Status.Phase = []string{"n1", "n2", "n3"}[i], corev1.PodRunning
			change(pod)
		}
		return []any{group, running}
	}
	against := func(key string, labels map[string]string) []corev1.PodAffinityTerm {
		return []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}
	}
	worker := map[string]string{paddlejob.ResourceTypeLabel: "worker"}

	for name, test := range map[string]struct {
		objects []any
		want    report.Reason
		text    string
		helps   []report.Suggestion
	}{
		"a taint": {
			append(nodes(func(n *corev1.Node) { tainted(n, "infra") }), workers()), report.UntoleratedTaint,
			"2 of 2 workers have no node: the taint infra:NoSchedule is on 3 of 3 nodes, and the pods do not tolerate it",
			[]report.Suggestion{report.Suggest(report.AddToleration, "infra:NoSchedule"), report.Suggest(report.RemoveTaint, "infra:NoSchedule")},
		},
		"cordoned, with the taint of that": {
			append(nodes(func(n *corev1.Node) {
				n.Spec.Unschedulable = true
				tainted(n, corev1.TaintNodeUnschedulable)
			}), workers()), report.NodeUnschedulable, "2 of 2 workers have no node: cordons exclude 3 of 3 nodes",
			[]report.Suggestion{report.Suggest(report.Uncordon, "n1")},
		},
		"one node is free": {
			append(nodes(func(n *corev1.Node) {
				if n.Name != "n1" {
					tainted(n, "infra")
				}
			}), pods("job", "worker", 3, resources{"cpu": "4"})), report.UntoleratedTaint,
			"1 of 3 workers has no node: the taint infra:NoSchedule is on 2 of 3 nodes, and the pods do not tolerate it", nil,
		},
		"a node selector": {
			append(nodes(nil), each(workers(), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })), report.NodeAffinity,
			"2 of 2 workers have no node: the node selector or node affinity of the pods (disk=ssd) matches 0 of 3 nodes, which is too few",
			[]report.Suggestion{report.Suggest(report.ChangeNodeSelector, "disk=ssd")},
		},
		"full nodes that a selector picks": {
			append(append(nodes(func(n *corev1.Node) {
				if n.Name != "n3" {
					marked(n, "disk", "ssd")
				}
			}), besides(func(*corev1.Pod) {})...), each(pods("job", "worker", 2, resources{"cpu": "8"}), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })),
			report.InsufficientResources, "", nil,
		},
		"a host port": {
			append(append(nodes(nil), besides(func(p *corev1.Pod) { withPort([]*corev1.Pod{p}) })...), withPort(workers())), report.HostPortConflict,
			"2 of 2 workers have no node: host port 7000 is in use on 3 of 3 nodes", []report.Suggestion{report.Suggest(report.ChangeHostPort, "7000")},
		},
		"the anti-affinity of others": {
			append(append(nodes(nil), besides(func(p *corev1.Pod) {
				affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: against(corev1.LabelHostname, worker)}
			})...), workers()), report.PodAntiAffinity,
			"2 of 2 workers have no node: anti-affinity between the pods and pods of others excludes 3 of 3 nodes", nil,
		},
		"anti-affinity against others": {
			append(append(nodes(nil), besides(func(p *corev1.Pod) { p.Labels = map[string]string{"app": "old"} })...), each(workers(), func(p *corev1.Pod) {
				affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: against(corev1.LabelHostname, map[string]string{"app": "old"})}
			})), report.PodAntiAffinity, "", nil,
		},
		"its own anti-affinity": {
			append(nodes(nil), each(pods("job", "worker", 4, resources{"cpu": "1"}), func(p *corev1.Pod) {
				affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: against(corev1.LabelHostname, worker)}
			})), report.GangAntiAffinity,
			"1 of 4 workers has no node: the pods exclude each other by anti-affinity (topologyKey kubernetes.io/hostname), and only 3 nodes can take one each",
			[]report.Suggestion{{Kind: report.FewerReplicas, Role: "worker", Value: "3", Text: "it fits with 3 workers"}},
		},
		"pod affinity": {
			append(nodes(nil), each(workers(), func(p *corev1.Pod) {
				affinityOf(p).PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: against(corev1.LabelHostname, map[string]string{"app": "cache"})}
			})), report.PodAffinity, "", nil,
		},
		"a spread that no node can have": {
			append(nodes(nil), each(workers(), func(p *corev1.Pod) {
				p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "row", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: worker},
				}}
			})), report.TopologySpread, "2 of 2 workers have no node: the pods would break their topology spread constraints on 3 of 3 nodes", nil,
		},
		"too many pods": {
			append(append(nodes(func(n *corev1.Node) {
				n.Status.Allocatable[corev1.ResourcePods] = resources{"pods": "1"}.list()[corev1.ResourcePods]
			}), besides(func(*corev1.Pod) {})...), workers()), report.TooManyPods, "2 of 2 workers have no node: the limit of pods is reached on 3 of 3 nodes", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, shipped, test.objects...)
			members := int32(0)
			for _, object := range test.objects {
				if list, ok := object.([]*corev1.Pod); ok && list[0].Labels[paddlejob.ResourceTypeLabel] == "worker" {
					members = int32(len(list))
				}
			}
			c.add(podGroup("job", members, map[string]int32{"worker": members}))
			for range 3 {
				c.session()
				got := c.report()
				require.NotNil(t, got)
				require.Equal(t, test.want, got.Reason, got.Message)
				require.Equal(t, string(test.want), c.condition("job").Reason)
				message, _, _ := strings.Cut(c.condition("job").Message, "; it fits ")
				require.Equal(t, got.Message, message)
				if test.text != "" {
					require.Equal(t, test.text, got.Message)
				}
				if test.helps != nil {
					require.Equal(t, test.helps, got.Suggestions)
				}
			}
		})
	}
}

// A gang that starts is not diagnosed.
func TestNodesAreCheckedForDiagnosesOnly(t *testing.T) {
	c, _ := withFaults(t, func(of guard.Work, _ bool) { require.NotEqual(t, metrics.PartExplanation, of.Part) },
		podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 2, nothing), node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	c.session()
	require.NotEmpty(t, c.bound())
}
