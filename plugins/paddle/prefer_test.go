// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/nodeorder"
	"volcano.sh/volcano/pkg/scheduler/plugins/util/k8s"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestWhatAPodWants(t *testing.T) {
	required := &corev1.Affinity{
		NodeAffinity:    &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}},
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}},
	}
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want wanted
	}{
		"nothing":             {},
		"required only":       {spec: corev1.PodSpec{Affinity: required}},
		"a hard spread":       {spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.DoNotSchedule}}}},
		"nodes":               {spec: corev1.PodSpec{Affinity: preferNodes("disk", "ssd", 1)}, want: wanted{nodes: true}},
		"pods near":           {spec: corev1.PodSpec{Affinity: preferPods("db", "rack", 1)}, want: wanted{pods: true}},
		"pods not near":       {spec: corev1.PodSpec{Affinity: preferPods("db", "rack", -1)}, want: wanted{pods: true}},
		"a spread, the last":  {spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{}, softSpread("rack", "db")}}, want: wanted{spread: true}},
		"a spread, the first": {spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{softSpread("rack", "db"), {}}}, want: wanted{spread: true}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, wantedBy(&test.spec, false))
			test.want.clean = true
			require.Equal(t, test.want, wantedBy(&test.spec, true))
		})
	}
}

func TestBelowTheBest(t *testing.T) {
	require.Nil(t, below(nil))
	require.Nil(t, below([]int64{7, 7}))
	require.Equal(t, []int32{0, 3}, below([]int64{-2, -5}))
	require.Equal(t, []int32{1, 0}, below([]int64{4, 5}))
	require.Equal(t, []int32{1<<31 - 1, 0}, below([]int64{0, 1 << 40}))
}

// view is a session over objects, and the plugin's tree of it.
func view(t *testing.T, configuration string, objects ...any) (*framework.Session, *placement.Topology) {
	t.Helper()
	c := newCluster(t, configuration, objects...)
	ssn := framework.OpenSession(c.cache, c.tiers, nil)
	t.Cleanup(func() { framework.CloseSession(ssn) })
	n := topology.New(topology.Options{Labels: []string{"rack"}})
	_, err := n.Sync(topology.SessionView{Nodes: ssn.Nodes, HyperNodes: ssn.HyperNodes, Members: ssn.RealNodesSet, Top: framework.ClusterTopHyperNode})
	require.NoError(t, err)
	return ssn, n.Topology()
}

// furnished are four nodes that differ in all that pods may prefer, and pods that run there.
//
//	       r1                       r2
//	  n1        n2             n3         n4
//	disk=ssd                disk=ssd
//	          1 taint                   2 taints
//	2 x db     1 x db
func furnished() []any {
	nodes := []*corev1.Node{gpuNode("n1", "r1", 8), gpuNode("n2", "r1", 8), gpuNode("n3", "r2", 8), gpuNode("n4", "r2", 8)}
	nodes[0].Labels["disk"], nodes[2].Labels["disk"] = "ssd", "ssd"
	nodes[1].Spec.Taints = []corev1.Taint{shunned("a")}
	nodes[3].Spec.Taints = []corev1.Taint{shunned("a"), shunned("b"), {Key: "c", Effect: corev1.TaintEffectNoExecute}}
	databases := withLabel(plainPods("db", "x", 3, onCPU), "app", "db")
	for i, node := range []string{"n1", "n1", "n2"} {
		databases[i].Spec.NodeName, databases[i].Status.Phase = node, corev1.PodRunning
	}
	return []any{nodes[0], nodes[1], nodes[2], nodes[3], podGroup("db", 3, nil), databases}
}

func TestPenaltiesOfNodes(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   []int32
	}{
		"taints": {func(*corev1.Pod) {}, []int32{0, 150, 0, 300}},
		"a taint is tolerated": {func(pod *corev1.Pod) {
			pod.Spec.Tolerations = []corev1.Toleration{{Key: "b", Operator: corev1.TolerationOpExists}}
		}, []int32{0, 300, 0, 300}},
		"all is tolerated": {tolerate, nil},
		"nodes": {func(pod *corev1.Pod) {
			tolerate(pod)
			pod.Spec.Affinity = preferNodes("disk", "ssd", 7)
		}, []int32{0, 14, 0, 14}},
		"pods near": {func(pod *corev1.Pod) {
			tolerate(pod)
			pod.Spec.Affinity = preferPods("db", corev1.LabelHostname, 1)
		}, []int32{0, 100, 200, 200}},
		"pods not near": {func(pod *corev1.Pod) {
			tolerate(pod)
			pod.Spec.Affinity = preferPods("db", "rack", -1)
		}, []int32{200, 200, 0, 0}},
		"a spread over racks": {func(pod *corev1.Pod) {
			tolerate(pod)
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread("rack", "db")}
		}, []int32{200, 200, 0, 0}},
		"a spread over nodes": {func(pod *corev1.Pod) {
			tolerate(pod)
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread(corev1.LabelHostname, "db")}
		}, []int32{200, 100, 0, 0}},
		"two kinds":           {func(pod *corev1.Pod) { pod.Spec.Affinity = preferNodes("disk", "ssd", 100) }, []int32{0, 350, 0, 500}},
		"what cannot be read": {func(pod *corev1.Pod) { pod.Spec.Affinity = preferNodes("not a key!", "ssd", 100) }, []int32{0, 150, 0, 300}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := pods("j", "worker", 1, onGPU)[0]
			test.change(pod)
			ssn, topology := view(t, labelled(""), append(furnished(), podGroup("j", 1, nil), pod)...)
			task := api.NewTaskInfo(pod)
			require.Equal(t, test.want, newPreferences(ssn).penalties(topology, task))
			if name == "a spread over nodes" || name == "what cannot be read" {
				return // nodeorder counts no pods on nodes, and gives up
			}
			require.Equal(t, test.want, below(nodeOrderScores(t, ssn, topology, task)))
		})
	}
}

// What pods that run would rather have near them is their preference, not the pod's.
func TestPreferencesOfOthersDoNotCount(t *testing.T) {
	objects := furnished()
	fans := withLabel(plainPods("fan", "x", 1, onCPU), "app", "fan")
	fans[0].Spec.NodeName, fans[0].Status.Phase = "n4", corev1.PodRunning
	fans[0].Spec.Affinity = preferPods("mine", "rack", 1)
	mine := withLabel(pods("j", "worker", 1, onGPU), "app", "mine")
	tolerate(mine[0])
	mine[0].Spec.Affinity = preferNodes("disk", "ssd", 7)
	ssn, topology := view(t, labelled(""), append(objects, podGroup("fan", 1, nil), fans)...)
	require.Equal(t, []int32{0, 14, 0, 14}, newPreferences(ssn).penalties(topology, api.NewTaskInfo(mine[0])))
}

func TestPreferencesThatNothingMeets(t *testing.T) {
	ssn, topology := view(t, labelled(""), furnished()...)
	pod := pods("j", "worker", 1, onGPU)[0]
	pod.Spec.Affinity = preferPods("nobody", "rack", 1)
	scores, err := newScorers(ssn).scores(topology, pod, wanted{pods: true})
	require.NoError(t, err)
	require.Equal(t, make([]int64, 4), scores)
}

// nodeOrderScores is what nodeorder itself says, without the scores that are no preferences of the pod.
func nodeOrderScores(t *testing.T, ssn *framework.Session, topology *placement.Topology, task *api.TaskInfo) []int64 {
	order, ok := nodeorder.New(framework.Arguments{
		nodeorder.LeastRequestedWeight: 0, nodeorder.BalancedResourceWeight: 0, nodeorder.ImageLocalityWeight: 0,
	}).(*nodeorder.NodeOrderPlugin)
	require.True(t, ok)
	order.Handle = k8s.NewFramework(ssn.NodeMap, k8s.WithInformerFactory(ssn.InformerFactory()))
	order.InitPlugin()
	nodes := make([]*api.NodeInfo, topology.Nodes())
	for id := range nodes {
		nodes[id] = ssn.Nodes[topology.NodeName(placement.NodeID(id))]
	}
	batch, err := order.BatchNodeOrderFn(task, nodes, k8sframework.NewCycleState())
	require.NoError(t, err)
	scores := make([]int64, len(nodes))
	for id, node := range nodes {
		score, err := order.NodeOrderFn(task, node, ssn.NodeMap[node.Name], k8sframework.NewCycleState())
		require.NoError(t, err)
		scores[id] = int64(score + batch[node.Name])
	}
	return scores
}

func TestPenaltiesAreAskedForOnce(t *testing.T) {
	ssn, topology := view(t, labelled(""), furnished()...)
	p := newPreferences(ssn)
	lasting := api.NewTaskInfo(pods("j", "worker", 1, onGPU)[0])
	first, second := p.penalties(topology, lasting), p.penalties(topology, lasting)
	require.Same(t, &first[0], &second[0])

	spread := api.NewTaskInfo(pods("j", "worker", 1, onGPU)[0])
	spread.Pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread("rack", "db")}
	first, second = p.penalties(topology, spread), p.penalties(topology, spread)
	require.NotSame(t, &first[0], &second[0], "pods that are placed in between count")
}

func TestNothingIsAskedWhereNothingIsPreferred(t *testing.T) {
	ssn, topology := view(t, labelled(""), gpuNode("n1", "r1", 8), gpuNode("n2", "r1", 8))
	p := newPreferences(ssn)
	require.Nil(t, p.penalties(topology, api.NewTaskInfo(pods("j", "worker", 1, onGPU)[0])))
	require.Nil(t, p.scorers)
	require.Empty(t, p.known)
}

func TestNodeOrderWeights(t *testing.T) {
	require.Equal(t, preferenceWeights, nodeOrderWeights(nil))
	require.Equal(t, map[string]int{
		nodeorder.NodeAffinityWeight: 2, nodeorder.PodAffinityWeight: 0,
		nodeorder.TaintTolerationWeight: 3, nodeorder.PodTopologySpreadWeight: 9,
	}, nodeOrderWeights([]conf.Tier{{}, {Plugins: []conf.PluginOption{
		{Name: "binpack", Arguments: map[string]any{nodeorder.NodeAffinityWeight: 5}},
		{Name: nodeorder.PluginName, Arguments: map[string]any{
			nodeorder.PodTopologySpreadWeight: 9, nodeorder.PodAffinityWeight: 0, nodeorder.TaintTolerationWeight: "5",
		}},
	}}}))
}

func shunned(key string) corev1.Taint {
	return corev1.Taint{Key: key, Effect: corev1.TaintEffectPreferNoSchedule}
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
