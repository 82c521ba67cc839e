// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/uthelper"
	"volcano.sh/volcano/pkg/scheduler/util"
)

func TestIsCheaper(t *testing.T) {
	aware := conf.Configuration{Name: "preempt", Arguments: map[string]any{topologyAware: true}}
	for name, test := range map[string]struct {
		kind          kind
		configuration []conf.Configuration
		shard         sets.Set[string]
		idle          float64 // thousandths of a CPU that n1 has without victims
		cheaper       []string
	}{
		"preempt in a full queue":                    {preempting, nil, nil, 0, []string{"n2"}},
		"topology-aware, which disregards the queue": {preempting, []conf.Configuration{aware}, nil, 2000, []string{"n2"}},
		"reclaim": {reclaiming, []conf.Configuration{aware}, nil, 2000, []string{"n1"}},
		"the node with victims is in another shard":    {preempting, nil, sets.New("n1"), 0, nil},
		"the node without victims is in another shard": {preempting, nil, sets.New("n2"), 0, []string{"n2"}},
	} {
		t.Run(name, func(t *testing.T) {
			// n1: [low 3][other][ ][ ]  n2: [low 0][low 1][low 2][ ], and the queue of low and high is full
			ssn, s := open(t, uthelper.TestCommonStruct{
				Queues: []*scheduling.Queue{util.BuildQueue("full", 1, api.BuildResourceList("4", "64Gi"))},
				Nodes:  []*corev1.Node{node("n1", "4"), node("n2", "4")},
				PodGroups: []*scheduling.PodGroup{
					podGroup("low", "full", "low", map[string]int32{"worker": 1}), podGroup("high", "full", "high", map[string]int32{"worker": 1}),
					podGroup("other", "default", "", map[string]int32{"task": 1}),
				},
				Pods: slices.Concat(pods("low", "worker", 4, "1", "n2", "n2", "n2", "n1"), pods("high", "worker", 1, "2"),
					plainPods("other", "task", 1, "1", "n1")),
			}, test.configuration...)
			ssn.NodesInShard = test.shard
			p := preemption{test.kind, tasks(ssn, "high")[0]}
			require.NoError(t, ssn.PrePredicateFn(p.preemptor))
			require.InDelta(t, test.idle, s.idle(p, ssn.Nodes["n1"]).MilliCPU, 0)
			var cheaper []string
			for _, name := range []string{"n1", "n2"} {
				if s.isCheaper(p, ssn.Nodes[name]) {
					cheaper = append(cheaper, name)
				}
			}
			require.Equal(t, test.cheaper, cheaper)
		})
	}
}

// A node on which pods of a role do not fit without disrupting a gang is checked again only after it has changed.
func TestHasCheaperNode_CachesNodes(t *testing.T) {
	const nodes, preemptors = 120, 8
	objects := uthelper.TestCommonStruct{
		PodGroups: []*scheduling.PodGroup{
			podGroup("low", "default", "low", map[string]int32{"worker": 3}), podGroup("high", "default", "high", map[string]int32{"worker": preemptors}),
		},
		Pods: append(pods("low", "worker", 3, "1", "n0", "n0", "n1"), plainPods("high", "worker", preemptors, "2")...),
	}
	for i := range nodes {
		objects.Nodes = append(objects.Nodes, node(fmt.Sprintf("n%d", i), "4"))
	}
	ssn, s := open(t, objects)
	checked := map[string]int{}
	ssn.AddPredicateFn("first", func(_ *api.TaskInfo, node *api.NodeInfo) error {
		checked[node.Name]++
		return errors.New("this node takes no such pods")
	})
	low := tasks(ssn, "low")
	for i, preemptor := range tasks(ssn, "high") {
		require.False(t, s.hasCheaperNode(preemption{preempting, preemptor}))
		if i == 3 {
			statement := framework.NewStatement(ssn)
			require.NoError(t, statement.Evict(low[2].Clone(), "preempt")) // of n1
		}
		s.invalidate(low[0]) // of n0
	}
	require.Len(t, checked, nodes)
	for name, times := range checked {
		want := 1
		switch name {
		case "n0":
			want = preemptors
		case "n1":
			want = 2
		}
		require.Equal(t, want, times, name)
	}
}

// All nodes of a gang are checked again once it is disrupted, and once it no longer is.
func TestHasCheaperNode_DisruptedGang(t *testing.T) {
	// n1: [low 0    ]  n2: [low 1    ]
	ssn, s := open(t, uthelper.TestCommonStruct{
		Nodes: []*corev1.Node{node("n1", "2"), node("n2", "2")},
		PodGroups: []*scheduling.PodGroup{
			podGroup("low", "default", "low", map[string]int32{"worker": 2}), podGroup("high", "default", "high", map[string]int32{"worker": 2}),
		},
		Pods: append(pods("low", "worker", 2, "2", "n1", "n2"), plainPods("high", "worker", 2, "2")...),
	})
	low, high := tasks(ssn, "low"), tasks(ssn, "high")
	for _, preemptor := range high {
		require.NoError(t, ssn.PrePredicateFn(preemptor))
	}
	require.False(t, s.hasCheaperNode(preemption{preempting, high[0]}))
	statement := framework.NewStatement(ssn)
	for _, victim := range ssn.Preemptable(high[0], []*api.TaskInfo{low[0].Clone()}) {
		require.NoError(t, statement.Evict(victim, "preempt"))
	}
	require.NoError(t, statement.Pipeline(high[0], "n1", true))
	require.True(t, s.hasCheaperNode(preemption{preempting, high[1]}))
	statement.Discard()
	require.False(t, s.hasCheaperNode(preemption{preempting, high[1]}))
}

func TestMayEvict(t *testing.T) {
	for name, test := range map[string]struct {
		kind      kind
		preemptor api.TaskInfo
		task      func(*api.TaskInfo)
		want      bool
	}{
		"preempt a running pod":                     {preempting, api.TaskInfo{}, func(*api.TaskInfo) {}, true},
		"reclaim it":                                {reclaiming, api.TaskInfo{}, func(*api.TaskInfo) {}, true},
		"preempt a bound pod":                       {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.Status = api.Bound }, true},
		"not reclaim it":                            {reclaiming, api.TaskInfo{}, func(task *api.TaskInfo) { task.Status = api.Bound }, false},
		"not a pod being bound":                     {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.Status = api.Binding }, false},
		"not preempt a pod that is not preemptable": {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.Preemptable = false }, false},
		"not reclaim a pod that is not preemptable": {reclaiming, api.TaskInfo{}, func(task *api.TaskInfo) { task.Preemptable = false }, false},
		"not for one without requests":              {preempting, api.TaskInfo{BestEffort: true}, func(*api.TaskInfo) {}, false},
		"unless it has none either":                 {preempting, api.TaskInfo{BestEffort: true}, func(task *api.TaskInfo) { task.BestEffort = true }, true},
		"one with requests takes others":            {preempting, api.TaskInfo{}, func(task *api.TaskInfo) { task.BestEffort = true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			task := api.TaskInfo{Preemptable: true, TransactionContext: api.TransactionContext{Status: api.Running}}
			test.task(&task)
			require.Equal(t, test.want, preemption{test.kind, &test.preemptor}.mayEvict(&task))
		})
	}
}
