// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Nodes are left out as Volcano's plugin predicates leaves them out, and not where the configuration has it not look at
// selectors or taints.
func TestPermittedNodes(t *testing.T) {
	topology := gpuRacks(t, []int64{1, 1, 1})
	nodes := map[string]*api.NodeInfo{
		"r0n0": api.NewNodeInfo(marked(node("r0n0", nil), "disk", "ssd")),
		"r0n1": api.NewNodeInfo(tainted(node("r0n1", nil), "broken")),
		"r0n2": api.NewNodeInfo(node("r0n2", nil)),
	}
	preferring := node("r0n0", nil)
	preferring.Spec.Taints = []corev1.Taint{{Key: "slow", Effect: corev1.TaintEffectPreferNoSchedule}}
	selects := func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"disk": "ssd"} }
	wants := func(pod *corev1.Pod) { onlyOn([]*corev1.Pod{pod}, "disk", "ssd", "nvme") }
	tolerates := func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "broken", Operator: corev1.TolerationOpExists}}
	}
	disabled := "    enablePredicate: false\n"
	argument := func(key string) string { return "    arguments:\n      predicate." + key + ": false\n" }
	for name, test := range map[string]struct {
		option string // of the plugin predicates
		change func(*corev1.Pod)
		want   []placement.NodeID // nil is all
	}{
		"a taint":                     {"", func(*corev1.Pod) {}, []placement.NodeID{0, 2}},
		"a taint that is tolerated":   {"", tolerates, nil},
		"taints do not count":         {argument("TaintTolerationEnable"), func(*corev1.Pod) {}, nil},
		"a selector":                  {"", selects, []placement.NodeID{0}},
		"node affinity":               {"", wants, []placement.NodeID{0}},
		"selectors do not count":      {argument("NodeAffinityEnable"), selects, []placement.NodeID{0, 2}},
		"predicates are switched off": {disabled, selects, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, tiers, _, _, err := scheduler.UnmarshalSchedulerConf(configuration(actionsAll, "- plugins:\n  - name: predicates\n"+test.option))
			require.NoError(t, err)
			templates := newTemplates(tiers)
			pod := one(test.change)
			got := templates.permitted(topology, nodes, pod)
			require.Same(t, got, templates.permitted(topology, nodes, pod), "jobs share it")
			if test.want == nil {
				require.Nil(t, got)
				return
			}
			for id := range placement.NodeID(3) {
				require.Equal(t, slices.Contains(test.want, id), got.Has(id), "node %d", id)
			}
		})
	}
	_, tiers, _, _, err := scheduler.UnmarshalSchedulerConf(stock)
	require.NoError(t, err)
	nodes["r0n0"], nodes["r0n1"] = api.NewNodeInfo(preferring), nil
	require.Nil(t, newTemplates(tiers).permitted(topology, nodes, one(func(*corev1.Pod) {})), "preferences and nodes that are gone are not looked at")
}

// Whatever a predicate may read makes pods differ, but for the index and the name of each.
func TestAlike(t *testing.T) {
	limits := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Limits = resources{"nvidia.com/gpu": "1"}.list()
	}
	volume := func(name, claim string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			withClaim([]*corev1.Pod{pod}, claim)
			pod.Spec.Volumes[0].Name = name
		}
	}
	for name, test := range map[string]struct {
		a, b func(*corev1.Pod)
		want bool
	}{
		"nothing":              {func(*corev1.Pod) {}, func(*corev1.Pod) {}, true},
		"index":                {annotation(paddlejob.TaskIndexKey, "1"), annotation(paddlejob.TaskIndexKey, "2"), true},
		"label with the index": {label(paddlejob.TaskIndexKey, "1"), func(*corev1.Pod) {}, true},
		"label with the name":  {label(paddlejob.ResourceNameLabel, "a"), label(paddlejob.ResourceNameLabel, "b"), true},
		"our own annotation":   {annotation(paddlejob.Prefix+"address", "10.0.0.1"), annotation(paddlejob.Prefix+"address", "10.0.0.2"), true},
		"variables":            {variable("VC_TASK_INDEX", "1"), variable("VC_TASK_INDEX", "2"), true},
		"names of volumes":     {volume("a", "data"), volume("b", "data"), true},
		"a label":              {label("app", "x"), label("app", "y"), false},
		"a label of one":       {label("app", "x"), func(*corev1.Pod) {}, false},
		"an annotation":        {annotation("volcano.sh/revocable-zone", "*"), func(*corev1.Pod) {}, false},
		"claims":               {volume("a", "data"), volume("a", "other"), false},
		"limits":               {limits, func(*corev1.Pod) {}, false},
		"requests":             {func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Requests = oneCPU.list() }, func(*corev1.Pod) {}, false},
		"amounts": {limits, func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Limits = resources{"nvidia.com/gpu": "2"}.list()
		}, false},
		"ports":              {func(pod *corev1.Pod) { withPort([]*corev1.Pod{pod}) }, func(*corev1.Pod) {}, false},
		"device claims":      {func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}} }, func(*corev1.Pod) {}, false},
		"the host's network": {func(pod *corev1.Pod) { pod.Spec.HostNetwork = true }, func(*corev1.Pod) {}, false},
		"priority":           {func(pod *corev1.Pod) { pod.Spec.PriorityClassName = "high" }, func(*corev1.Pod) {}, false},
		"selectors":          {func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"a": "b"} }, func(*corev1.Pod) {}, false},
		"affinity":           {func(pod *corev1.Pod) { affinityOf(pod) }, func(*corev1.Pod) {}, false},
		"tolerations":        {func(pod *corev1.Pod) { pod.Spec.Tolerations = make([]corev1.Toleration, 1) }, func(*corev1.Pod) {}, false},
		"spread":             {func(pod *corev1.Pod) { pod.Spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 1) }, func(*corev1.Pod) {}, false},
		"resource claims":    {func(pod *corev1.Pod) { pod.Spec.ResourceClaims = make([]corev1.PodResourceClaim, 1) }, func(*corev1.Pod) {}, false},
		"containers":         {func(pod *corev1.Pod) { pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{}) }, func(*corev1.Pod) {}, false},
		"init containers":    {func(pod *corev1.Pod) { pod.Spec.InitContainers = make([]corev1.Container, 1) }, func(*corev1.Pod) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := api.NewTaskInfo(one(test.a)), api.NewTaskInfo(one(test.b))
			require.Equal(t, test.want, alike(a, b))
			require.Equal(t, test.want, alike(b, a))
		})
	}
	stands := api.NewTaskInfo(one(func(*corev1.Pod) {}))
	stands.InitResreq.Memory = paddlejob.PlaceholderMemory
	require.False(t, alike(stands, api.NewTaskInfo(one(func(*corev1.Pod) {}))))
}

// What a pod is refused for the sake of pods of its own job, it may be given later.
func TestMayCome(t *testing.T) {
	near := func(role string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { beside([]*corev1.Pod{pod}, "j", role, "rack") }
	}
	job := jobInfo(2, nil, nil)
	for _, pod := range pods("j", "ps", 2, nothing) {
		job.AddTaskInfo(api.NewTaskInfo(pod))
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":                {func(*corev1.Pod) {}, false},
		"beside pods of the job": {near("ps"), true},
		"beside others":          {near("worker"), false},
		"beside what cannot be read": {func(pod *corev1.Pod) {
			near("worker")(pod)
			pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}}
		}, true},
		"apart from pods of the job": {func(pod *corev1.Pod) { apartFrom([]*corev1.Pod{pod}, "j", "ps", "rack") }, false},
		"spread":                     {func(pod *corev1.Pod) { pod.Spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 1) }, true},
		"devices of its own": {func(pod *corev1.Pod) {
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{ResourceClaimTemplateName: ptr.To("gpu")}}
		}, true},
		"a volume of all": {func(pod *corev1.Pod) { withClaim([]*corev1.Pod{pod}, "data") }, false},
		"a volume of its own": {func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, mayCome(job, one(test.change))) })
	}
}

// Only what is certain of all pods of a role proves anything.
func TestPossibleNodes(t *testing.T) {
	topology := gpuRacks(t, []int64{1, 1, 1})
	task := api.NewTaskInfo(one(func(*corev1.Pod) {}))
	permitted := placement.NewNodeSet(topology)
	permitted.Add(0)
	permitted.Add(1)
	asked := newSuit(topology, task, permitted)
	asked.refuse(topology, 0)
	remembered := newSuit(topology, task, permitted)
	remembered.remember(topology, 0)
	fresh := newSuit(topology, task, permitted)
	for name, test := range map[string]struct {
		kinds   kinds
		want    *placement.NodeSet
		certain bool
	}{
		"no pod":                {kinds{}, nil, true},
		"all are alike":         {kinds{suits: []*suit{asked}, final: true}, asked.eligible, true},
		"it may come":           {kinds{suits: []*suit{asked}}, permitted, false},
		"nothing was refused":   {kinds{suits: []*suit{fresh}}, permitted, true},
		"refused later":         {kinds{suits: []*suit{remembered}, final: true}, permitted, false},
		"two kinds":             {kinds{suits: []*suit{asked, fresh}, final: true}, permitted, false},
		"more kinds":            {kinds{suits: []*suit{asked}, more: true, final: true}, permitted, false},
		"templates that differ": {kinds{suits: []*suit{asked}, differ: true, final: true}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Same(t, test.want, test.kinds.possible())
			require.Equal(t, test.certain, test.kinds.certain())
		})
	}
}
