// SPDX-License-Identifier: Apache-2.0

package preferences

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
	"volcano.sh/volcano/pkg/scheduler/uthelper"
	"volcano.sh/volcano/pkg/scheduler/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestSoftTermsOf(t *testing.T) {
	required := &corev1.Affinity{
		NodeAffinity:    &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}},
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}},
	}
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want softTerms
	}{
		"nothing":             {},
		"required only":       {spec: corev1.PodSpec{Affinity: required}},
		"a hard spread":       {spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.DoNotSchedule}}}},
		"nodes":               {spec: corev1.PodSpec{Affinity: preferNodes("disk", 1)}, want: softTerms{nodeAffinity: true}},
		"pods near":           {spec: corev1.PodSpec{Affinity: preferPods("db", "rack", 1)}, want: softTerms{podAffinity: true}},
		"pods not near":       {spec: corev1.PodSpec{Affinity: preferPods("db", "rack", -1)}, want: softTerms{podAffinity: true}},
		"a spread, the last":  {spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{}, softSpread("rack")}}, want: softTerms{spread: true}},
		"a spread, the first": {spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{softSpread("rack"), {}}}, want: softTerms{spread: true}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, softTermsOf(&test.spec, false))
			test.want.taints = true
			require.Equal(t, test.want, softTermsOf(&test.spec, true))
		})
	}
}

func TestToPenalties(t *testing.T) {
	require.Nil(t, toPenalties(nil))
	require.Nil(t, toPenalties([]int64{7, 7}))
	require.Equal(t, []int32{0, 3}, toPenalties([]int64{-2, -5}))
	require.Equal(t, []int32{1, 0}, toPenalties([]int64{4, 5}))
	require.Equal(t, []int32{1<<31 - 1, 0}, toPenalties([]int64{0, 1 << 40}))
}

// view opens a session over objects, and returns a topology of its nodes in racks.
func view(t *testing.T, nodes []*corev1.Node, pods ...*corev1.Pod) (*framework.Session, *placement.Topology) {
	t.Helper()
	test := uthelper.TestCommonStruct{Nodes: nodes, Pods: pods}
	ssn := test.RegisterSession(nil, nil)
	t.Cleanup(test.Close)
	spec := placement.TopologySpec{Resources: []string{"cpu"}, Tiers: placement.DefaultTiers("rack")}
	for _, node := range nodes {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: node.Name, Domains: []string{node.Labels["rack"]}, Free: []int64{1}})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return ssn, topology
}

func node(name, rack string) *corev1.Node {
	return util.BuildNode(name, api.BuildResourceList("8", "8Gi", api.ScalarResource{Name: "pods", Value: "110"}), map[string]string{corev1.LabelHostname: name, "rack": rack})
}

// pod returns a pod of an app; it runs if node is not "".
func pod(name, app, node string) *corev1.Pod {
	phase := corev1.PodPending
	if node != "" {
		phase = corev1.PodRunning
	}
	return util.BuildPod("ns", name, node, phase, api.BuildResourceList("1", "1Gi"), "", map[string]string{"app": app}, nil)
}

// furnished are four nodes that differ in all that pods may prefer, and pods that run there.
//
//	       r1                       r2
//	  n1        n2             n3         n4
//	disk=ssd                disk=ssd
//	          1 taint                   2 taints
//	2 x db     1 x db
func furnished() ([]*corev1.Node, []*corev1.Pod) {
	nodes := []*corev1.Node{node("n1", "r1"), node("n2", "r1"), node("n3", "r2"), node("n4", "r2")}
	nodes[0].Labels["disk"], nodes[2].Labels["disk"] = "ssd", "ssd"
	nodes[1].Spec.Taints = []corev1.Taint{shunned("a")}
	nodes[3].Spec.Taints = []corev1.Taint{shunned("a"), shunned("b"), {Key: "c", Effect: corev1.TaintEffectNoExecute}}
	return nodes, []*corev1.Pod{pod("db-0", "db", "n1"), pod("db-1", "db", "n1"), pod("db-2", "db", "n2")}
}

func TestPenalties(t *testing.T) {
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
			pod.Spec.Affinity = preferNodes("disk", 7)
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
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread("rack")}
		}, []int32{200, 200, 0, 0}},
		"a spread over nodes": {func(pod *corev1.Pod) {
			tolerate(pod)
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread(corev1.LabelHostname)}
		}, []int32{200, 100, 0, 0}},
		"two kinds":           {func(pod *corev1.Pod) { pod.Spec.Affinity = preferNodes("disk", 100) }, []int32{0, 350, 0, 500}},
		"what cannot be read": {func(pod *corev1.Pod) { pod.Spec.Affinity = preferNodes("not a key!", 100) }, []int32{0, 150, 0, 300}},
	} {
		t.Run(name, func(t *testing.T) {
			worker := pod("worker", "worker", "")
			test.change(worker)
			nodes, pods := furnished()
			ssn, topology := view(t, nodes, append(pods, worker)...)
			require.Equal(t, test.want, New(ssn).Penalties(topology, worker))
			if name == "a spread over nodes" || name == "what cannot be read" {
				return // nodeorder counts no pods on nodes, and gives up
			}
			require.Equal(t, test.want, toPenalties(nodeOrderScores(t, ssn, topology, api.NewTaskInfo(worker))))
		})
	}
}

// What pods that run would rather have near them is their preference, not the pod's.
func TestPenalties_LeaveOutPreferencesOfOthers(t *testing.T) {
	nodes, pods := furnished()
	fan, mine := pod("fan", "fan", "n4"), pod("worker", "mine", "")
	fan.Spec.Affinity = preferPods("mine", "rack", 1)
	tolerate(mine)
	mine.Spec.Affinity = preferNodes("disk", 7)
	ssn, topology := view(t, nodes, append(pods, fan)...)
	require.Equal(t, []int32{0, 14, 0, 14}, New(ssn).Penalties(topology, mine))
}

func TestNodeScorer_ScoresAreZeroWhereNothingMatches(t *testing.T) {
	nodes, pods := furnished()
	ssn, topology := view(t, nodes, pods...)
	worker := pod("worker", "worker", "")
	worker.Spec.Affinity = preferPods("none", "rack", 1)
	scores, err := newNodeScorer(ssn).scores(topology, worker, softTerms{podAffinity: true})
	require.NoError(t, err)
	require.Equal(t, make([]int64, 4), scores)
}

// nodeOrderScores returns what nodeorder itself says, without the scores that are no preferences of the pod.
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

func TestPenalties_AreCached(t *testing.T) {
	nodes, pods := furnished()
	ssn, topology := view(t, nodes, pods...)
	p := New(ssn)
	plain := pod("worker", "worker", "")
	first, second := p.Penalties(topology, plain), p.Penalties(topology, plain)
	require.Same(t, &first[0], &second[0])
	tolerating := pod("worker", "worker", "")
	tolerate(tolerating)
	require.Nil(t, p.Penalties(topology, tolerating))

	spread := pod("worker", "worker", "")
	spread.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{softSpread("rack")}
	first, second = p.Penalties(topology, spread), p.Penalties(topology, spread)
	require.NotSame(t, &first[0], &second[0], "pods that are placed in between count")
}

func TestPenalties_OfPodsWithoutPreferences(t *testing.T) {
	ssn, topology := view(t, []*corev1.Node{node("n1", "r1"), node("n2", "r1")})
	p := New(ssn)
	require.Nil(t, p.Penalties(topology, pod("worker", "worker", "")))
	require.Nil(t, p.scorer)
	require.Empty(t, p.known)
}

func TestNodeOrderWeights(t *testing.T) {
	require.Equal(t, defaultWeights, nodeOrderWeights(nil))
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

func preferNodes(key string, weight int32) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: weight,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"},
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

func softSpread(domain string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: domain, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
	}
}
