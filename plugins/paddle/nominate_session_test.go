// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// refusing refuses one pod on some nodes, on all if none is named, after its job was planned.
func refusing(pod string, nodes ...string) {
	probing(func(ssn *framework.Session) {
		planned := false
		ssn.AddEventHandler(&framework.EventHandler{AllocateFunc: func(*framework.Event) { planned = true }})
		ssn.AddPredicateFn("probe", func(task *api.TaskInfo, node *api.NodeInfo) error {
			if planned && task.Name == pod && (len(nodes) == 0 || slices.Contains(nodes, node.Name)) {
				return api.NewFitErrWithStatus(task, node, &api.Status{Code: api.UnschedulableAndUnresolvable, Reason: "refused by a test"})
			}
			return nil
		})
	})
}

// Nothing that stays pending has a nomination: not at the API server, and not in the pods that the informers share.
//
//	     r1           r2
//	 n1      n2       n3
//	2 GPUs  2 GPUs   2 GPUs
func TestNoHintIsWritten(t *testing.T) {
	for _, test := range []struct {
		name    string
		workers int
		hard    bool
		refuse  string
		taken   float64
	}{
		{name: "gang fits in part", workers: 7},
		{name: "gang fits in part, hard topology", workers: 5, hard: true},
		{name: "given up at the last pod", workers: 4, refuse: "j-worker-3", taken: 3},
		{name: "given up at the last pod, hard topology", workers: 4, hard: true, refuse: "j-worker-3", taken: 3},
		{name: "given up in the middle", workers: 4, refuse: "j-worker-1", taken: 1},
	} {
		inEveryPlacementWithProbe(t, test.name, func(t *testing.T, configuration string) {
			refusing(test.refuse)
			group, workers := ring("j", test.workers)
			if test.hard {
				within(group, hardMode, 1)
			}
			c := newCluster(t, configuration, gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", 2), group, workers)
			shared := map[string]*corev1.Pod{}
			for _, pod := range workers {
				shared[pod.Name] = pod.DeepCopy()
			}
			for range 2 {
				require.InDelta(t, test.taken, planned(t, c.session).taken, 0)
				require.Empty(t, c.bound())
				statuses := c.statuses("j")
				require.Len(t, statuses, test.workers, "each pod's status says why it waits")
				for _, name := range slices.Sorted(maps.Keys(statuses)) {
					require.Empty(t, statuses[name].NominatedNodeName, name)
					require.Equal(t, shared[name], c.pod(name), name)
				}
			}
		})
	}
}

// inEveryPlacementWithProbe runs a test once per place of the plugin, with a test's own plugin.
func inEveryPlacementWithProbe(t *testing.T, name string, test func(t *testing.T, configuration string)) {
	t.Helper()
	const arguments = "    arguments:\n      topology-labels: rack\n"
	for place, configured := range map[string]string{
		"after gang":        configuration(actionsAll, tier(1, "", withPaddle+arguments), tier(2, "", withProbe)),
		"before gang":       configuration(actionsAll, tier(1, withPaddle+arguments, ""), tier(2, "", withProbe)),
		"last in tier 2":    configuration(actionsAll, tier(1, "", ""), tier(2, withProbe, withPaddle+arguments)),
		"a tier of its own": configuration(actionsAll, "- plugins:\n"+withPaddle+arguments, tier(1, "", ""), tier(2, "", withProbe)),
		"with every action": configuration("enqueue, reclaim, allocate, backfill, preempt", tier(1, "", withPaddle+arguments), tier(2, "", withProbe)),
	} {
		t.Run(name+", "+place, func(t *testing.T) { test(t, configured) })
	}
}

// Pods that are bound leave the shared objects alone as well: a hint is in a copy.
//
//	     r1
//	 n1      n2
//	2 GPUs  2 GPUs
func TestHintsLeaveSharedPodsAlone(t *testing.T) {
	group, workers := ring("j", 4)
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), group, workers)
	shared := workers[0].DeepCopy()
	c.session()
	require.Len(t, c.bound(), 4)
	require.Equal(t, shared, workers[0])
}

// A gang is given up because a node of its plan was cordoned, after its first pod had got its node. It preempts in the
// same session: a hint that were left on that pod would make Volcano think it has a node, and need not preempt.
//
//	    n1              n2
//	8 GPUs, free    8 GPUs: [low 0, 4][low 1, 4]
//	refused for the 2nd pod
func TestStalePlanCanStillPreempt(t *testing.T) {
	fourGPUs := resources{"cpu": "1", "nvidia.com/gpu": "4"}
	for _, role := range []string{"other", "paddle"} {
		t.Run(role, func(t *testing.T) {
			refusing("high-worker-1", "n1")
			c := newPriorities(t, configuration(actionsPreempt, tier(1, "", withPaddle), tier(2, "", withProbe)),
				gpuNode("n1", "", 8), gpuNode("n2", "", 8))
			low := plainPods("low", "task", 2, fourGPUs)
			if role == "paddle" {
				low = pods("low", "worker", 2, fourGPUs)
			}
			c.add(started(ranked(podGroup("low", 1, nil), "low", 1)), running(low, "n2"))
			c.add(wants(pods, 2, fourGPUs)...)
			counts := planned(t, func() { c.evicts(low[1].Name) })
			require.InDelta(t, 1, counts.taken, 0)
			require.InDelta(t, 1, counts.refused, 0)
		})
	}
}

// What preemption nominated stays: the pod goes to the nominated node, and the other is planned next to it, although
// n4 would hold both and n1 is the node that leaves least behind.
//
//	 r1                  r2
//	 n1         n2        n3      n4
//	1 free   1 promised  1 free  4 free
func TestNominatedPodKeepsItsNode(t *testing.T) {
	group, workers := ring("j", 2)
	workers[0].Status.NominatedNodeName = "n2"
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r2", 1), gpuNode("n3", "r2", 1), gpuNode("n4", "r2", 4),
		group, workers)
	require.Equal(t, planning{placed: 1, taken: 1}, planned(t, c.session))
	require.Equal(t, map[string]string{"j-worker-0": "n2", "j-worker-1": "n3"}, c.nodes())
}

// The nominated capacity is not given to another pod of the same gang, and a nomination is not taken from a pod that waits on.
//
//	 n1 (1 GPU)            n2 (1 GPU)
//	promised to worker 1
func TestNominationOutlivesAGangThatWaits(t *testing.T) {
	group, workers := ring("j", 3)
	workers[1].Status.NominatedNodeName = "n1"
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), group, workers)
	c.sessions(2)
	require.Equal(t, "n1", c.pod("j-worker-1").Status.NominatedNodeName)
	require.Empty(t, c.statuses("j")["j-worker-0"].NominatedNodeName)
	require.Equal(t, "n1", c.statuses("j")["j-worker-1"].NominatedNodeName)

	c.add(gpuNode("n3", "r1", 1))
	c.session()
	require.Equal(t, "n1", c.nodes()["j-worker-1"])
	require.Len(t, c.bound(), 3)
}

// Preemption's own nomination is written, and kept until the pod is bound there.
//
//	    n1              n2
//	1 GPU, free     1 GPU: [low 0]
func TestNominationOfPreemptionIsWritten(t *testing.T) {
	c := newPriorities(t, preemptConf, gpuNode("n1", "", 1), gpuNode("n2", "", 1),
		started(ranked(podGroup("low", 1, nil), "low", 1)), running(plainPods("low", "task", 1, onGPU), "n2"))
	c.add(wants(pods, 2, onGPU)...)
	c.evicts("low-task-0")
	nominated := map[string]string{}
	for name, status := range c.statuses("high") {
		if status.NominatedNodeName != "" {
			nominated[name] = status.NominatedNodeName
			c.change(name, func(pod *corev1.Pod) { pod.Status.NominatedNodeName = status.NominatedNodeName })
		}
	}
	require.Len(t, nominated, 1, "the other pod has a node that is free")
	c.end()
	c.session()
	require.Len(t, prefixed(c.bound(), "high-"), 2)
	require.Subset(t, c.nodes(), nominated)
}

// A queue that another plugin calls overused ends allocate before the hint of a pod that found no node is taken back. The
// next action takes it back: preempt would else find that the pod has a node, and evict no pod for it.
//
//	    n1              n2
//	8 GPUs, free    8 GPUs: [low 0, 4][low 1, 4]
//	refused, but for a pod that is still said to have it afterwards
func TestNominationIsClearedBeforeTheNextAction(t *testing.T) {
	fourGPUs := resources{"cpu": "1", "nvidia.com/gpu": "4"}
	asked := 0
	probing(func(ssn *framework.Session) {
		ssn.AddOverusedFn("probe", func(any) bool {
			asked++
			return asked > 1
		})
		ssn.AddPredicateFn("probe", func(task *api.TaskInfo, node *api.NodeInfo) error {
			hinted := task.Pod.Status.NominatedNodeName == "n1"
			if node.Name == "n1" && hinted == (asked == 1) { // asked 0 or 1 and no hint: the job is planned
				return api.NewFitErrWithStatus(task, node, &api.Status{Code: api.UnschedulableAndUnresolvable, Reason: "refused by a test"})
			}
			return nil
		})
	})
	c := newPriorities(t, configuration(actionsPreempt, tier(1, withProbe, withPaddle), tier(2, "", "")), gpuNode("n1", "", 8), gpuNode("n2", "", 8))
	c.add(started(ranked(podGroup("low", 1, nil), "low", 1)), running(plainPods("low", "task", 2, fourGPUs), "n2"))
	c.add(wants(pods, 1, fourGPUs)...)
	counts := planned(t, func() { c.evicts("low-task-1") })
	require.InDelta(t, 1, counts.refused, 0)
	require.Greater(t, asked, 1)
}
