// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/uthelper"
)

// elastic is a job of one server and four workers, of which two are dispensable, and a job that waits.
//
//	n1: [ps 0][worker 0][worker 1][worker 2][worker 3]
func elastic() uthelper.TestCommonStruct {
	return uthelper.TestCommonStruct{
		Nodes: []*corev1.Node{node("n1", "5")},
		PodGroups: []*scheduling.PodGroup{
			podGroup("low", "default", "low", oneTwo), podGroup("high", "default", "high", map[string]int32{"worker": 2}),
			podGroup("tf", "default", "low", map[string]int32{"worker": 1}),
		},
		Pods: slices.Concat(pods("low", "ps", 1, "1", "n1"), pods("low", "worker", 4, "1", "n1"), pods("high", "worker", 2, "1"),
			plainPods("tf", "worker", 2, "", "n1")),
	}
}

func TestTaskOrder(t *testing.T) {
	ssn, s := open(t, elastic())
	low, high, tf := tasks(ssn, "low"), tasks(ssn, "high"), tasks(ssn, "tf")
	require.Negative(t, s.taskOrder(low[2], low[3]))
	require.Positive(t, s.taskOrder(low[3], low[2]))
	require.Zero(t, s.taskOrder(low[2], high[0]), "of two jobs")
	require.Zero(t, s.taskOrder(high[0], high[1]), "pending pods are ordered by the plugin")
	require.Zero(t, s.taskOrder(tf[0], tf[1]), "not a Paddle job")
	require.Zero(t, s.taskOrder(low[2], "not a task"))
}

// Answers hold until a pod is placed or evicted.
func TestInvalidate(t *testing.T) {
	ssn, s := open(t, elastic())
	p := preemption{preempting, tasks(ssn, "high")[0]}
	require.NoError(t, ssn.PrePredicateFn(p.preemptor))
	worker := tasks(ssn, "low")[4]
	for _, event := range []func(*framework.Event){s.onAllocate, s.onDeallocate} {
		require.True(t, s.gangEvictable(p, worker.Job))
		require.True(t, s.hasCheaperNode(p))
		known := s.answersFor(p)
		require.Len(t, known.evictable, 1)
		require.NotNil(t, known.hasCheaperNode)
		require.Len(t, s.evictabilities, 1)
		event(&framework.Event{Task: worker})
		require.Empty(t, known.evictable)
		require.Nil(t, known.hasCheaperNode)
		require.Empty(t, s.evictabilities)
	}
}

// Pods of a node that the session does not know are no victims.
func TestVictims_UnknownNode(t *testing.T) {
	ssn, s := open(t, elastic())
	worker := tasks(ssn, "low")[4].Clone()
	p := preemption{preempting, tasks(ssn, "high")[0]}
	require.Len(t, s.victims(p, []*api.TaskInfo{worker}), 1)
	worker.NodeName = "unknown"
	require.Empty(t, s.victims(p, []*api.TaskInfo{worker}))
}
