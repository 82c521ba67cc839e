// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// withoutVolumeBinding switches a predicate off that Volcano makes once in a process, for the cluster of its first test.
const withoutVolumeBinding = "    arguments:\n      predicate.VolumeBindingEnable: false\n"

// marked gives a node more labels: key, value, key, value ...
func marked(n *corev1.Node, pairs ...string) *corev1.Node {
	for i := 0; i < len(pairs); i += 2 {
		n.Labels[pairs[i]] = pairs[i+1]
	}
	return n
}

// tainted keeps pods that do not tolerate it away from a node.
func tainted(n *corev1.Node, key string) *corev1.Node {
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	return n
}

// each changes every pod of a list.
func each(pods []*corev1.Pod, change func(*corev1.Pod)) []*corev1.Pod {
	for _, pod := range pods {
		change(pod)
	}
	return pods
}

// affinityOf is a pod's affinity, made if there is none.
func affinityOf(pod *corev1.Pod) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	return pod.Spec.Affinity
}

// onlyOn requires of nodes that a label has one of these values.
func onlyOn(pods []*corev1.Pod, key string, values ...string) {
	each(pods, func(pod *corev1.Pod) {
		affinityOf(pod).NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values},
			}}},
		}}
	})
}

// term matches the pods of one role of a Paddle job in one domain of a node label.
func term(job, role, key string) []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{paddlejob.JobNameLabel: job, paddlejob.ResourceTypeLabel: role},
	}}}
}

// apartFrom keeps pods out of the domains that hold a pod of some role of a job.
func apartFrom(pods []*corev1.Pod, job, role, key string) []*corev1.Pod {
	return each(pods, func(pod *corev1.Pod) {
		affinityOf(pod).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term(job, role, key)}
	})
}

// beside lets pods go only into domains that hold a pod of some role of a job.
func beside(pods []*corev1.Pod, job, role, key string) []*corev1.Pod {
	return each(pods, func(pod *corev1.Pod) {
		affinityOf(pod).PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term(job, role, key)}
	})
}

// withPort lets pods take one port of their node.
func withPort(pods []*corev1.Pod) []*corev1.Pod {
	const port = 7000
	return each(pods, func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: port, HostPort: port, Protocol: corev1.ProtocolTCP}}
	})
}

// withClaim lets pods mount a volume.
func withClaim(pods []*corev1.Pod, claim string) []*corev1.Pod {
	return each(pods, func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	})
}

// volume is a claim that is bound to a volume of one zone. It is put where the scheduler's informers would put it.
func (c *cluster) volume(claim, zone string) {
	c.t.Helper()
	core := c.cache.SharedInformerFactory().Core().V1()
	require.NoError(c.t, core.PersistentVolumes().Informer().GetIndexer().Add(&corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim, Labels: map[string]string{corev1.LabelTopologyZone: zone}},
	}))
	require.NoError(c.t, core.PersistentVolumeClaims().Informer().GetIndexer().Add(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claim, Namespace: namespace},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "pv-" + claim},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}))
}

// hyper is a HyperNode: the nodes that are below it, through other HyperNodes.
type hyper struct {
	name     string
	tier     int
	tierName string
	nodes    []string
}

// hyperNodes makes these the cluster's HyperNodes. Each is below the smallest one of a higher tier that holds its nodes.
func (c *cluster) hyperNodes(list ...hyper) {
	infos := map[string]*api.HyperNodeInfo{}
	members := map[string]sets.Set[string]{}
	byTier := map[int]sets.Set[string]{}
	slices.SortFunc(list, func(a, b hyper) int { return a.tier - b.tier })
	for i, h := range list {
		object := api.BuildHyperNode(h.name, h.tier, nil)
		object.Spec.TierName = h.tierName
		infos[h.name] = api.NewHyperNodeInfo(object)
		members[h.name] = sets.New(h.nodes...)
		if byTier[h.tier] == nil {
			byTier[h.tier] = sets.New[string]()
		}
		byTier[h.tier].Insert(h.name)
		for _, below := range list[:i] {
			if below.tier < h.tier && infos[below.name].Parent == "" && members[h.name].HasAll(below.nodes...) {
				infos[below.name].Parent = h.name
				infos[h.name].Children.Insert(below.name)
			}
		}
	}
	var ready atomic.Bool
	ready.Store(true)
	c.cache.HyperNodesInfo = api.NewHyperNodesInfoWithCache(infos, byTier, members, &ready)
}

// within is a PodGroup with a networkTopology: mode hard or soft, and up to which tier, by number or by name.
func within(group *scheduling.PodGroup, mode scheduling.NetworkTopologyMode, tier any) *scheduling.PodGroup {
	group.Spec.NetworkTopology = topologyOf(mode, tier)
	return group
}

func topologyOf(mode scheduling.NetworkTopologyMode, tier any) *scheduling.NetworkTopologySpec {
	spec := &scheduling.NetworkTopologySpec{Mode: mode}
	switch tier := tier.(type) {
	case int:
		spec.HighestTierAllowed = ptr.To(tier)
	case string:
		spec.HighestTierName = tier
	}
	return spec
}

const (
	hardMode = scheduling.HardNetworkTopologyMode
	softMode = scheduling.SoftNetworkTopologyMode
)

// grouped makes the pods that have one value of label "group" a group that goes together or not at all, within a tier;
// two groups must be whole.
func grouped(group *scheduling.PodGroup, size int32, mode scheduling.NetworkTopologyMode, tier any) *scheduling.PodGroup {
	group.Spec.SubGroupPolicy = append(group.Spec.SubGroupPolicy, scheduling.SubGroupPolicySpec{
		Name: "group", NetworkTopology: topologyOf(mode, tier), SubGroupSize: &size, MinSubGroups: ptr.To[int32](2), MatchLabelKeys: []string{"group"},
	})
	return group
}

// inGroups labels pods: so many are group 0, so many group 1 ...
func inGroups(pods []*corev1.Pod, size int) []*corev1.Pod {
	for i, pod := range pods {
		pod.Labels["group"] = strconv.Itoa(i / size)
	}
	return pods
}

// colocated is a PodGroup with an annotation that says how near servers and workers must be.
func colocated(group *scheduling.PodGroup, value string) *scheduling.PodGroup {
	if group.Annotations == nil {
		group.Annotations = map[string]string{}
	}
	group.Annotations[paddlejob.ColocationAnnotation] = value
	return group
}

// ring is a job of n workers with one GPU each that all must run: its PodGroup and its pods.
func ring(job string, n int) (*scheduling.PodGroup, []*corev1.Pod) {
	return podGroup(job, int32(n), map[string]int32{"worker": int32(n)}), pods(job, "worker", n, onGPU)
}

// racked is labelled with more plugins first and last in tier 2.
func racked(first, last string) string {
	return configuration(actionsAll, tier(1, "", withPaddle+"    arguments:\n      topology-labels: rack\n"), tier(2, first, last))
}

// withProbe is the line that enables a test's own plugin.
const withProbe = "  - name: probe\n"

// probe is a plugin of a test; it is registered in each session.
type probe func(ssn *framework.Session)

// Name implements framework.Plugin.
func (probe) Name() string { return "probe" }

// OnSessionOpen implements framework.Plugin.
func (p probe) OnSessionOpen(ssn *framework.Session) { p(ssn) }

// OnSessionClose implements framework.Plugin.
func (probe) OnSessionClose(*framework.Session) {}

// probing registers a test's own plugin.
func probing(open func(ssn *framework.Session)) {
	framework.RegisterPluginBuilder("probe", func(framework.Arguments) framework.Plugin { return probe(open) })
}

// planning is what the metrics counted of plans and hints.
type planning struct{ placed, noFit, stale, fallback, taken, refused float64 }

// planned is what was planned while do ran.
func planned(t *testing.T, do func()) planning {
	t.Helper()
	counts := added(t, do)
	plans := func(outcome string) float64 { return counts[metrics.Subsystem+`_plans_total{outcome="`+outcome+`"}`] }
	hints := func(result string) float64 { return counts[metrics.Subsystem+`_hints_total{result="`+result+`"}`] }
	return planning{
		placed: plans(metrics.OutcomePlaced), noFit: plans(metrics.OutcomeNoFit), stale: plans(metrics.OutcomeStale), fallback: plans(metrics.OutcomeFallback),
		taken: hints(metrics.HintTaken), refused: hints(metrics.HintRefused),
	}
}

// count is how many pods of a job, whose names begin with prefix, each node has.
func (c *cluster) count(prefix string) map[string]int {
	counts := map[string]int{}
	for pod, node := range c.nodes() {
		if len(pod) >= len(prefix) && pod[:len(prefix)] == prefix {
			counts[node]++
		}
	}
	return counts
}

// on is the names of the nodes that have pods of a job.
func (c *cluster) on(prefix string) []string { return slices.Sorted(maps.Keys(c.count(prefix))) }

// cordon refuses nodes from some moment on.
type cordon struct {
	mu    sync.Mutex
	nodes map[string]bool
}

// predicate is the cordon's predicate.
func (c *cordon) predicate(task *api.TaskInfo, node *api.NodeInfo) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes[node.Name] {
		return api.NewFitErrWithStatus(task, node, &api.Status{Code: api.UnschedulableAndUnresolvable, Reason: "node(s) were unschedulable"})
	}
	return nil
}

func (c *cordon) close(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[node] = true
}

// cordoning cordons the node that a plan names, as often as n times: after the plan was made, before its node is taken.
// Where pods are named, it does so at these.
func cordoning(n int, pods ...string) {
	c := &cordon{nodes: map[string]bool{}}
	probing(func(ssn *framework.Session) {
		ssn.AddPredicateFn("probe", func(task *api.TaskInfo, node *api.NodeInfo) error {
			if n > 0 && (len(pods) == 0 || slices.Contains(pods, task.Name)) && task.Pod.Status.NominatedNodeName == node.Name {
				n--
				c.close(node.Name)
			}
			return c.predicate(task, node)
		})
	})
}
