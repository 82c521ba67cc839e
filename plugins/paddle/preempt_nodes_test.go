// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// A gang stays whole if there is room elsewhere, but only if Volcano would find it there.
func TestGangIsEvictedIfOtherNodesOnlySeemToFit(t *testing.T) {
	other := func(group *scheduling.PodGroup) []any {
		return []any{started(ranked(group, "low", 2)), running(plainPods(group.Name, "task", 1, twoCPU), "n2")}
	}
	protected := other(podGroup("other", 1, nil))
	protected[1].([]*corev1.Pod)[0].Annotations[scheduling.PodPreemptable] = "false" //nolint:errcheck // as other makes it
	cordoned := node("n2", cpus("2"))
	cordoned.Spec.Unschedulable = true
	kept := queue("kept", nil)
	kept.Spec.Reclaimable = ptr.To(false)
	for name, test := range map[string]struct {
		actions string
		n2      *corev1.Node
		objects []any
		wants   int
	}{
		"preempt: the pod there may not go":      {actionsPreempt, node("n2", cpus("2")), inQueues("a", protected), 1},
		"preempt: it is of another queue":        {actionsPreempt, node("n2", cpus("2")), inQueues("b", other(podGroup("other", 1, nil))), 1},
		"preempt: the node takes no pods":        {actionsPreempt, cordoned, inQueues("a", other(podGroup("other", 1, nil))), 1},
		"reclaim: the pod there is of the queue": {actionsReclaim, node("n2", cpus("2")), inQueues("b", other(podGroup("other", 1, nil))), 1},
		"reclaim: its queue keeps what it has":   {actionsReclaim, node("n2", cpus("2")), append(inQueues("kept", other(podGroup("other", 1, nil))), kept), 1},
		"reclaim: no pod to reclaim from":        {actionsReclaim, node("n2", cpus("2")), nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			// n1: [low 0    ][low 1    ]  n2: [other    ]
			a, b := queue("a", nil), queue("b", nil)
			b.Spec.Weight = 5
			c := newPriorities(t, configuration(test.actions, tier(1, "", withPaddle), tier(2, "", "")), a, b)
			c.add(node("n1", cpus("4")), test.n2)
			c.add(test.objects...)
			c.add(inQueues("a", rigidJob("low", "low", 1, twoCPU, "n1", "n1"))...)
			queue := map[string]string{actionsPreempt: "a", actionsReclaim: "b"}[test.actions]
			c.add(inQueues(queue, wants(pods, test.wants, twoCPU))...)
			c.evictsAtLast("low-worker-0", "low-worker-1")
		})
	}
}

// victimsOf opens a session and returns its selector of victims.
func selectorOf(c *cluster, configurations ...conf.Configuration) (*framework.Session, *victimSelector) {
	c.t.Helper()
	ssn, p := c.open(configurations...)
	return ssn, p.victims
}

func TestIdleAndCheaperNodes(t *testing.T) {
	aware := conf.Configuration{Name: "preempt", Arguments: map[string]any{topologyAware: true}}
	// n1: [low 3][other][ ][ ]  n2: [low 0][low 1][low 2][ ], and the queue of low and high is full
	objects := func() []any {
		full := append(wants(pods, 1, twoCPU),
			started(ranked(podGroup("low", 1, map[string]int32{"worker": 1}), "low", 1)),
			running(pods("low", "worker", 4, oneCPU), "n2", "n2", "n2", "n1"))
		return append(inQueues("full", full), queue("full", resources{"cpu": "4", "memory": "64Gi"}),
			started(podGroup("other", 1, nil)), running(plainPods("other", "task", 1, oneCPU), "n1"),
			node("n1", cpus("4")), node("n2", cpus("4")))
	}
	for name, test := range map[string]struct {
		kind          preemptionKind
		configuration []conf.Configuration
		shard         sets.Set[string]
		room          float64 // thousandths of a CPU that n1 has without victims
		cheap         []string
	}{
		"preempt in a full queue":      {preempting, nil, nil, 0, []string{"n2"}},
		"topology-aware, queues aside": {preempting, []conf.Configuration{aware}, nil, 2000, []string{"n2"}},
		"reclaim":                      {reclaiming, []conf.Configuration{aware}, nil, 2000, []string{"n1"}},
		"a shard of the nodes":         {preempting, nil, sets.New("n1"), 0, nil},
		"another":                      {preempting, nil, sets.New("n2"), 0, []string{"n2"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newPriorities(t, preempt, objects()...)
			ssn, v := selectorOf(c, test.configuration...)
			ssn.NodesInShard = test.shard
			p := preemption{test.kind, paddlejob.InOrder(ssn.Jobs[namespace+"/high"])[0]}
			require.NoError(t, ssn.PrePredicateFn(p.preemptor))
			require.InDelta(t, test.room, v.idle(p, ssn.Nodes["n1"]).MilliCPU, 0)
			var cheap []string
			for _, name := range []string{"n1", "n2"} {
				if v.isCheaper(p, ssn.Nodes[name]) {
					cheap = append(cheap, name)
				}
			}
			require.Equal(t, test.cheap, cheap)
		})
	}
}

func TestMayEvict(t *testing.T) {
	for name, test := range map[string]struct {
		kind      preemptionKind
		preemptor api.TaskInfo
		task      func(*api.TaskInfo)
		want      bool
	}{
		"preempt a running pod":          {preempting, api.TaskInfo{}, func(*api.TaskInfo) {}, true},
		"reclaim it":                     {reclaiming, api.TaskInfo{}, func(*api.TaskInfo) {}, true},
		"preempt a bound pod":            {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.Status = api.Bound }, true},
		"not reclaim it":                 {reclaiming, api.TaskInfo{}, func(task *api.TaskInfo) { task.Status = api.Bound }, false},
		"not a pod being bound":          {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.Status = api.Binding }, false},
		"not preempt a marked pod":       {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.Preemptable = false }, false},
		"not reclaim a marked pod":       {reclaiming, api.TaskInfo{}, func(task *api.TaskInfo) { task.Preemptable = false }, false},
		"not for one without requests":   {preempting, api.TaskInfo{BestEffort: true}, func(*api.TaskInfo) {}, false},
		"unless it has none either":      {preempting, api.TaskInfo{BestEffort: true}, func(task *api.TaskInfo) { task.BestEffort = true }, true},
		"one with requests takes others": {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.BestEffort = true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			task := api.TaskInfo{Preemptable: true, TransactionContext: api.TransactionContext{Status: api.Running}}
			test.task(&task)
			require.Equal(t, test.want, preemption{test.kind, &test.preemptor}.mayEvict(&task))
		})
	}
}

// Pending pods are ordered by what is needed first, not here.
func TestOrderOfRunningPodsOnly(t *testing.T) {
	c := newPriorities(t, preempt, node("n1", cpus("5")))
	c.add(elasticJob("low", "n1")...)
	c.add(wants(pods, 2, oneCPU)...)
	c.add(started(podGroup("tf", 1, nil)), running(plainPods("tf", "worker", 2, nothing), "n1"))
	ssn, v := selectorOf(c)
	low, high, tf := paddlejob.InOrder(ssn.Jobs[namespace+"/low"]), paddlejob.InOrder(ssn.Jobs[namespace+"/high"]), paddlejob.InOrder(ssn.Jobs[namespace+"/tf"])
	require.Negative(t, v.taskOrder(low[2], low[3]))
	require.Positive(t, v.taskOrder(low[3], low[2]))
	require.Zero(t, v.taskOrder(low[2], high[0]), "of two jobs")
	require.Zero(t, v.taskOrder(high[0], high[1]), "pending")
	require.Zero(t, v.taskOrder(tf[0], tf[1]), "not ours")
	require.Zero(t, v.taskOrder(low[2], "not a task"))
}

// What was worked out holds until a pod is placed, or goes.
func TestInvalidate(t *testing.T) {
	c := newPriorities(t, preempt, node("n1", cpus("5")))
	c.add(elasticJob("low", "n1")...)
	c.add(wants(pods, 2, oneCPU)...)
	ssn, v := selectorOf(c)
	p := preemption{preempting, paddlejob.InOrder(ssn.Jobs[namespace+"/high"])[0]}
	require.NoError(t, ssn.PrePredicateFn(p.preemptor))
	worker := paddlejob.InOrder(ssn.Jobs[namespace+"/low"])[4]
	for _, event := range []func(*framework.Event){v.onAllocate, v.onDeallocate} {
		require.True(t, v.gangEvictable(p, worker.Job))
		require.True(t, v.hasCheaperNode(p))
		require.Len(t, v.evictable, 1)
		require.Len(t, v.cheaperElsewhere, 1)
		require.Len(t, v.evictabilities, 1)
		event(&framework.Event{Task: worker})
		require.Empty(t, v.evictable)
		require.Empty(t, v.cheaperElsewhere)
		require.Empty(t, v.evictabilities)
	}
}
