// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// neighborPods are pods of some other job that run on a node.
func neighborPods(job, label, node string, n int) []any {
	pods := withLabel(plainPods(job, "x", n, resources{"cpu": "1"}), "app", label)
	for _, pod := range pods {
		pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
	}
	return []any{podGroup(job, int32(n), nil), pods}
}

// Two equal racks with a node each, of which names choose n1. One worker, alone: no traffic.
//
//	     r1            r2
//	     n1            n2
//	   8 GPUs        8 GPUs
//	web, disk=hdd  disk=ssd
func TestPreferencesOfPodsDecideBetweenEqualNodes(t *testing.T) {
	for name, test := range map[string]struct {
		change func(n1 *corev1.Node, worker *corev1.Pod)
		more   string // arguments of nodeorder
		want   string
	}{
		"none":           {func(*corev1.Node, *corev1.Pod) {}, "", "n1"},
		"node affinity":  {func(_ *corev1.Node, w *corev1.Pod) { w.Spec.Affinity = preferNodes("disk", "ssd", 1) }, "", "n2"},
		"pod affinity":   {func(_ *corev1.Node, w *corev1.Pod) { w.Spec.Affinity = preferPods("api", "rack", 1) }, "", "n2"},
		"anti-affinity":  {func(_ *corev1.Node, w *corev1.Pod) { w.Spec.Affinity = preferPods("web", "rack", -1) }, "", "n2"},
		"a taint":        {func(n1 *corev1.Node, _ *corev1.Pod) { n1.Spec.Taints = []corev1.Taint{shunned()} }, "", "n2"},
		"a taint it may": {func(n1 *corev1.Node, w *corev1.Pod) { n1.Spec.Taints = []corev1.Taint{shunned()}; tolerate(w) }, "", "n1"},
		"spread": {func(_ *corev1.Node, w *corev1.Pod) {
			w.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread(corev1.LabelHostname, "web")}
		}, "", "n2"},
		"hard spread only": {func(_ *corev1.Node, w *corev1.Pod) {
			w.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread("rack", "web")}
			w.Spec.TopologySpreadConstraints[0].MaxSkew = 9
			w.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = corev1.DoNotSchedule
		}, "", "n1"},
		"affinity against a taint":                  {affinityAgainstTaint, "", "n2"},
		"affinity against a taint that weighs less": {affinityAgainstTaint, "tainttoleration.weight: 1", "n1"},
		"affinity that weighs nothing":              {affinityAgainstTaint, "nodeaffinity.weight: 0", "n2"},
	} {
		t.Run(name, func(t *testing.T) {
			n1, n2 := gpuNode("n1", "r1", 8), gpuNode("n2", "r2", 8)
			n1.Labels["disk"], n2.Labels["disk"] = "hdd", "ssd"
			worker := pods("j", "worker", 1, onGPU)
			test.change(n1, worker[0])
			configuration := labelled("")
			if test.more != "" {
				configuration = labelledWith(test.more)
			}
			c := newCluster(t, configuration, n1, n2, podGroup("j", 1, nil), worker)
			c.add(neighborPods("w", "web", "n1", 1)...)
			c.add(neighborPods("a", "api", "n2", 1)...)
			c.session()
			require.Equal(t, test.want, c.nodes()["j-worker-0"])
		})
	}
}

// affinityAgainstTaint makes n1 the node that the worker prefers by a label (2 x 100 points) and shuns by a taint (3 x 100).
func affinityAgainstTaint(n1 *corev1.Node, worker *corev1.Pod) {
	n1.Spec.Taints = []corev1.Taint{shunned()}
	worker.Spec.Affinity = preferNodes("disk", "hdd", 100)
}

// labelledWith is the shipped configuration with racks from a label, and an argument of nodeorder.
func labelledWith(argument string) string {
	return configuration(actionsAll,
		tier(1, "", withPaddle+"    arguments:\n      topology-labels: rack\n"),
		"- plugins:\n  - name: predicates\n  - name: proportion\n  - name: nodeorder\n    arguments:\n      "+argument+"\n")
}

// Four workers fit one rack only with n2, which has a taint: fewer bytes over racks go before the taint. One worker alone
// sends nothing: it takes the node without taint, though n2 is the tighter one and would be left without a gap.
//
//	      r1                r2
//	  n1       n2         n3
//	2 GPUs   2 GPUs     3 GPUs
//	        (tainted)
func TestPreferences_AfterBytesAndBeforeFragmentation(t *testing.T) {
	for _, test := range []struct {
		workers int
		want    map[string]int
	}{
		{4, map[string]int{"n1": 2, "n2": 2}},
		{2, map[string]int{"n3": 2}},
	} {
		nodes := []*corev1.Node{gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", 3)}
		nodes[1].Spec.Taints = []corev1.Taint{shunned()}
		if test.workers == 2 {
			nodes[0].Spec.Taints = nodes[1].Spec.Taints
		}
		c := newCluster(t, labelled(""), nodes[0], nodes[1], nodes[2],
			podGroup("j", int32(test.workers), map[string]int32{"worker": int32(test.workers)}), pods("j", "worker", test.workers, onGPU))
		c.session()
		require.Equal(t, test.want, c.counts("j"))
	}
}

// counts is how many pods of a job are on each node.
func (c *cluster) counts(job string) map[string]int {
	counts := map[string]int{}
	for pod, node := range c.nodes() {
		if len(pod) > len(job) && pod[:len(job)+1] == job+"-" {
			counts[node]++
		}
	}
	return counts
}

func shunned() corev1.Taint {
	return corev1.Taint{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}
}

func tolerate(pod *corev1.Pod) {
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

func preferNodes(key, value string, weight int32) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: weight,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value},
			}}},
		}},
	}}
}

// preferPods wants to be near the pods of an app; with a weight below 0 not near them.
func preferPods(app, domain string, weight int32) *corev1.Affinity {
	term := corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, TopologyKey: domain,
	}
	if weight < 0 {
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: -weight, PodAffinityTerm: term}},
		}}
	}
	return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: term}},
	}}
}

func softSpread(domain, app string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: domain, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
	}
}
