// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling"
	v1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/status"
)

// condition is the PodGroup's condition of our type.
func (c *cluster) condition(group string) scheduling.PodGroupCondition {
	c.cache.Lock()
	defer c.cache.Unlock()
	condition, _ := status.Condition(c.cache.Jobs[api.JobID(namespace+"/"+group)].PodGroup)
	return condition
}

// writeInterval is how many sessions pass between two writes of a condition that differ in the message only.
const writeInterval = 10

// firstLine is the sentence of a condition.
func firstLine(c scheduling.PodGroupCondition) string {
	line, _, _ := strings.Cut(c.Message, "\n")
	return line
}

// report is the report in the annotation of the PodGroup of job.
func (c *cluster) report() *report.Report {
	c.cache.Lock()
	defer c.cache.Unlock()
	return report.Decode(c.cache.Jobs[namespace+"/job"].PodGroup.Annotations)
}

// listen restarts the scheduler; the function gives the events that it has sent since it was called last.
func (c *cluster) listen() func() []string {
	recorder := record.NewFakeRecorder(1000)
	store := &stateStore{clock: c.clock}
	state := newState()
	state.status.Recorder = recorder
	store.release(state)
	framework.RegisterPluginBuilder(PluginName, func(raw framework.Arguments) framework.Plugin {
		arguments, errs := config.Decode(raw, nil)
		require.Empty(c.t, errs)
		return newPlugin(arguments, store)
	})
	return func() (events []string) {
		for len(recorder.Events) > 0 {
			events = append(events, <-recorder.Events)
		}
		return events
	}
}

// hardGroup is a gang of so many workers that must be in one domain of tier 1.
func hardGroup(workers int32) *v1beta1.PodGroup {
	group := podGroup("job", workers, map[string]int32{"worker": workers})
	group.Spec.NetworkTopology = &v1beta1.NetworkTopologySpec{Mode: v1beta1.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(1)}
	return group
}

// A gang waits for a rack with capacity, and is placed after a node has joined one.
//
//	  r1       r3
//	n1  n2   n3  n4   n5 comes later
//	 3   1    4   2    2 GPUs free
func TestConditionOfAGangFromWaitingToPlaced(t *testing.T) {
	group := hardGroup(8)
	group.Status.Conditions = []v1beta1.PodGroupCondition{{Type: "Other", Status: corev1.ConditionTrue, Message: "other"}}
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 3), gpuNode("n2", "r1", 1), gpuNode("n3", "r3", 4), gpuNode("n4", "r3", 2),
		group, pods("job", "worker", 8, onGPU))
	events := c.listen()
	c.session()
	const why = "2 of 8 workers do not fit: rack r3 has capacity for 6 of the 8 GPUs that the workers need (networkTopology hard, tier 1); it fits without a networkTopology limit"
	first := c.condition("job")
	require.Equal(t, corev1.ConditionFalse, first.Status)
	require.Equal(t, "TopologyConstraint", first.Reason)
	require.Equal(t, why, firstLine(first))
	require.Equal(t, why, first.Message)
	got := c.report()
	require.Equal(t, report.TopologyConstraint, got.Reason)
	require.Equal(t, "2 of 8 workers do not fit: rack r3 has capacity for 6 of the 8 GPUs that the workers need (networkTopology hard, tier 1)", got.Message)
	require.Equal(t, &report.Missing{
		Roles:     []report.Role{{Role: "worker", Minimum: 8, Missing: 2}},
		Resources: []report.Resource{{Name: "nvidia.com/gpu", Requested: "8", Available: "6"}},
	}, got.Missing)
	require.Equal(t, report.Suggestion{Kind: report.AllowTier, Text: "it fits without a networkTopology limit"}, got.Suggestions[0])
	require.Contains(t, got.Details(report.English), "workers: 2 of 8 missing")
	const wait = "the gang waits (TopologyConstraint): condition PaddleScheduled of the PodGroup has the details"
	require.Contains(t, c.message("job"), "Origin reason is: "+wait)
	require.Equal(t, wait, c.podMessage("job-worker-0"))
	require.Equal(t, []string{"Warning TopologyConstraint " + why}, events())
	for range 100 {
		c.session()
	}
	require.Equal(t, first, c.condition("job"), "not even its time changes")
	require.Empty(t, events())

	c.listen() // the scheduler is restarted
	c.session()
	require.Equal(t, first, c.condition("job"))
	events = c.listen()
	c.session()
	require.Empty(t, events())

	c.add(gpuNode("n5", "r3", 2))
	c.session()
	c.session()
	placed := c.condition("job")
	require.Equal(t, corev1.ConditionTrue, placed.Status)
	require.Equal(t, "Placed", placed.Reason)
	require.Equal(t, "8 workers are on 3 nodes of rack r3\na step of training sends 5.25 times the model between nodes\n"+
		"n3: 4 workers\nn4: 2 workers\nn5: 2 workers", placed.Message)
	require.Equal(t, []string{"Normal Placed 8 workers are on 3 nodes of rack r3"}, events())
	require.Equal(t, "5.25 times the model between nodes", c.report().Placement.Traffic())
	require.Contains(t, c.report().Details(report.English), "n4: 2 workers")
	c.run()
	for range 20 {
		c.session()
	}
	require.Equal(t, placed, c.condition("job"))
	require.Empty(t, events())

	c.cache.Lock()
	conditions := c.cache.Jobs["ns/job"].PodGroup.Status.Conditions
	c.cache.Unlock()
	require.Equal(t, "other", conditions[0].Message)
}

// Reasons of gangs whose pods exist.
func TestReasonOfAGang(t *testing.T) {
	eightCPUs := node("n1", resources{"cpu": "8", "memory": "8Gi"})
	group := func() *v1beta1.PodGroup { return podGroup("job", 4, twoTwo) }
	gated := pods("job", "ps", 2, nothing)
	gated[1].Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	closed := queue("q", nil)
	closed.Status.State = "Closed"
	admitted := group()
	admitted.Status.Phase = "Inqueue"
	now := metav1.Now()
	ending := pods("old", "worker", 1, resources{"cpu": "7"})
	ending[0].Spec.NodeName, ending[0].Status.Phase, ending[0].DeletionTimestamp = "n1", corev1.PodRunning, &now
	promised := asks(group(), resources{"cpu": "2"})
	promised.Status.Phase = v1beta1.PodGroupInqueue
	elastic := podGroup("elastic", 1, nil)
	elastic.Status.Phase = v1beta1.PodGroupRunning
	three := plainPods("elastic", "task", 3, oneCPU)
	for _, pod := range three {
		pod.Spec.NodeName, pod.Status.Phase = "n1", corev1.PodRunning
	}
	unknown := hardGroup(2)
	unknown.Spec.NetworkTopology.HighestTierAllowed, unknown.Spec.NetworkTopology.HighestTierName = nil, "row"
	colocated := podGroup("job", 5, map[string]int32{"ps": 1, "worker": 4})
	colocated.Annotations = map[string]string{paddlejob.ColocationAnnotation: "Required"}
	busy := podGroup("other", 1, nil)
	busy.Spec.Queue = "other"
	hungry := plainPods("other", "task", 8, resources{"cpu": "8"})

	for _, test := range []struct {
		name    string
		objects []any
		reason  report.Reason
		text    string
	}{
		{
			"pods are missing", []any{group(), pods("job", "ps", 1, nothing), pods("job", "worker", 2, nothing), eightCPUs}, report.WaitingForPods,
			"1 of 2 servers does not exist yet: no pod of the gang is started before",
		}, {
			"a gate", []any{group(), gated, pods("job", "worker", 2, nothing), eightCPUs}, report.SchedulingGated,
			"1 of 2 servers has no node: scheduling gates hold pods back (wait)",
		}, {
			"a gate, and the others do not fit", []any{group(), gated, pods("job", "worker", 2, resources{"cpu": "9"}), eightCPUs, gpuNode("n2", "r1", 1), gpuNode("n3", "r1", 1)}, report.InsufficientResources, "",
		}, {
			"no node is good enough for one role", []any{group(), pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "9"}), eightCPUs, gpuNode("n2", "r1", 1), gpuNode("n3", "r1", 1)}, report.InsufficientResources,
			"2 of 2 workers do not fit: node n1, which comes closest, has capacity for 8 of the 9 CPUs that one worker needs; it fits with 2 CPUs more in the cluster (on n2 and n3)",
		}, {
			"the cluster is too small", []any{group(), pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "9"}), eightCPUs}, report.InsufficientResources,
			"the cluster has capacity for 8 of the 18 CPUs that the job needs",
		}, {
			"pods are ending", []any{group(), podGroup("old", 1, nil), ending, pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "4"}), eightCPUs},
			report.TerminatingPods, "the gang fits once terminating pods are gone",
		}, {
			"the queue was closed later", append(inQ(admitted), closed, pods("job", "ps", 2, nothing), pods("job", "worker", 2, nothing), eightCPUs), report.QueueClosed,
			"queue q is not open: it admits no job and starts no pods",
		}, {
			"the queue has a quota", append(inQ(group()), queue("q", resources{"cpu": "1", "memory": "2Gi"}), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU), eightCPUs),
			report.QueueCapacity, "queue q has capacity for 1 of the 2 CPUs that the job needs",
		}, {
			"what the queue keeps for the job itself", append(inQ(promised), queue("q", resources{"cpu": "1", "memory": "2Gi"}), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU), eightCPUs),
			report.QueueCapacity, "queue q has capacity for 1 of the 2 CPUs that the job needs",
		}, {
			"another job of the queue has more than it needs", append(inQ(group(), elastic), three, queue("q", resources{"cpu": "4", "memory": "4Gi"}), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU), eightCPUs),
			report.QueueCapacity, "queue q has capacity for 1 of the 2 CPUs that the job needs",
		}, {
			"the queue's quota and workers beyond the minimum", append(inQ(group()), queue("q", resources{"cpu": "1", "memory": "2Gi"}), pods("job", "ps", 2, nothing), pods("job", "worker", 5, oneCPU), eightCPUs),
			report.QueueCapacity, "queue q has capacity for 1 of the 2 CPUs that the job needs",
		}, {
			"another queue has its share", append(inQ(group()), queue("q", nil), queue("other", nil), busy, hungry,
				pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "3"}), eightCPUs),
			report.QueueOverused, "queue q has used up its share of the cluster",
		}, {
			"an unknown tier", []any{unknown, pods("job", "worker", 2, onGPU), gpuNode("n1", "r1", 3)}, report.UnknownTier,
			`invalid constraint: networkTopology hard: highestTierName "row" is not known: there are rack`,
		}, {
			"no server beside the workers", []any{colocated, pods("job", "ps", 1, resources{"cpu": "8"}), pods("job", "worker", 4, onGPU), gpuNode("n1", "r1", 3), gpuNode("n2", "r2", 1)},
			report.ColocationConstraint, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, labelled(""), test.objects...)
			metrics.SetPending(nil)
			changes := added(t, func() {
				for range 3 {
					c.session()
					condition := c.condition("job")
					require.Equal(t, string(test.reason), condition.Reason, condition.Message)
					require.Equal(t, corev1.ConditionFalse, condition.Status)
					if test.text != "" {
						require.Equal(t, test.text, firstLine(condition))
					}
				}
			})
			require.InDelta(t, 1, changes[`volcano_paddle_pending_jobs{reason="`+string(test.reason)+`"}`], 0)
		})
	}
}

// A session in which HyperNodes are not read yet skips jobs with a networkTopology.
func TestReasonOfAGangBeforeHyperNodesAreRead(t *testing.T) {
	c := newCluster(t, shipped, hardGroup(2), pods("job", "worker", 2, oneCPU), node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	ssn := framework.OpenSession(c.cache, c.tiers, nil)
	ssn.HyperNodesReadyToSchedule = false
	for _, action := range c.actions {
		action.Execute(ssn)
	}
	framework.CloseSession(ssn)
	condition, ok := status.Condition(c.status.take()["job"])
	require.True(t, ok)
	require.Equal(t, "TopologyNotReady", condition.Reason)
}

// Elastic workers that find no capacity do not make the job wait, and the condition says what they wait for.
func TestConditionOfWorkersBeyondTheMinimum(t *testing.T) {
	c := newCluster(t, shipped, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 4, oneCPU),
		node("n1", resources{"cpu": "3", "memory": "8Gi"}))
	events := c.listen()
	for range 2 * writeInterval {
		c.session()
	}
	c.run()
	condition := c.condition("job")
	require.Equal(t, corev1.ConditionTrue, condition.Status)
	require.Regexp(t, "^2 servers and 3 workers are on 1 node\n(.*\n)*n1: 2 servers and 3 workers\nwaiting: 1 worker beyond the minimum waits: .+", condition.Message)
	require.Empty(t, events(), "it never waited")

	c.add(node("n2", resources{"cpu": "1", "memory": "8Gi"}))
	for range 2 * writeInterval {
		c.session()
	}
	condition = c.condition("job")
	require.Regexp(t, "^2 servers and 4 workers are on 2 nodes\n(.*\n)*n1: 2 servers and 3 workers\nn2: 1 worker$", condition.Message)
}

// An elastic job grows as soon as it runs, in which the pause between words must not swallow where it is.
func TestConditionOfAGangThatGrowsAtOnce(t *testing.T) {
	workers := pods("job", "worker", 4, oneCPU)
	c := newCluster(t, shipped, podGroup("job", 2, nil), workers[:2], node("n1", resources{"cpu": "3", "memory": "8Gi"}),
		node("n2", resources{"cpu": "3", "memory": "8Gi"}))
	c.session()
	c.run()
	c.session()
	require.Regexp(t, "^2 workers are on 1 node\n", c.condition("job").Message)
	c.add(workers[2:])
	c.session()
	c.run()
	for range 2 * writeInterval {
		c.session()
		require.Regexp(t, "^4 workers are on 2 nodes\n", c.condition("job").Message)
	}
}

// The scheduler ended after it had bound the pods and before it could say so.
func TestConditionOfAGangThatWasPlacedBefore(t *testing.T) {
	group := podGroup("job", 2, nil)
	group.Status.Phase = v1beta1.PodGroupRunning
	group.Status.Conditions = []v1beta1.PodGroupCondition{{
		Type: report.Condition, Status: corev1.ConditionFalse, Reason: "InsufficientResources", Message: "it does not fit",
	}}
	workers := pods("job", "worker", 2, oneCPU)
	for _, pod := range workers {
		pod.Spec.NodeName, pod.Status.Phase = "n1", corev1.PodRunning
	}
	c := newCluster(t, shipped, group, workers, node("n1", resources{"cpu": "3", "memory": "8Gi"}))
	events := c.listen()
	for range 3 {
		c.session()
		require.Equal(t, "2 workers are on 1 node\nn1: 2 workers", c.condition("job").Message)
		require.Equal(t, corev1.ConditionTrue, c.condition("job").Status)
	}
	require.Equal(t, []string{"Normal Placed 2 workers are on 1 node"}, events())
}

// A running gang that loses a pod waits again, and does so since then.
func TestConditionOfAGangThatLostAPod(t *testing.T) {
	c := newCluster(t, shipped, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
		node("n1", resources{"cpu": "2", "memory": "8Gi"}))
	events := c.listen()
	c.session()
	require.Equal(t, corev1.ConditionTrue, c.condition("job").Status)
	c.run()
	now := metav1.Now()
	c.change("job-worker-1", func(pod *corev1.Pod) { pod.DeletionTimestamp = &now })
	lost := pods("job", "worker", 2, resources{"nvidia.com/gpu": "1"})[1]
	lost.UID, lost.Name = "again", "job-worker-again"
	c.remove("job-worker-1")
	c.add(lost)
	c.session()
	require.Equal(t, "InsufficientResources", c.condition("job").Reason)
	require.Equal(t, []string{"Warning InsufficientResources the cluster has capacity for none of the 1 GPU that the job needs"}, events())
}

// Jobs that are not Paddle's get no condition of the plugin.
func TestNoConditionForOthers(t *testing.T) {
	c := newCluster(t, shipped, podGroup("tf", 2, nil), plainPods("tf", "worker", 2, resources{"cpu": "9"}), podGroup("empty", 2, nil),
		podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "9"}),
		node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	c.session()
	require.Empty(t, c.condition("tf"))
	require.Empty(t, c.condition("empty"))
	require.NotEmpty(t, c.condition("job"))
}

// Numbers change while a job waits; since when it waits for that reason does not.
func TestConditionKeepsItsTime(t *testing.T) {
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), hardGroup(8), pods("job", "worker", 8, onGPU))
	c.session()
	first := c.condition("job")
	c.add(gpuNode("n2", "r1", 1))
	for range writeInterval {
		c.session()
	}
	second := c.condition("job")
	require.NotEqual(t, first.Message, second.Message)
	require.Equal(t, first.Reason, second.Reason)
	require.Equal(t, first.LastTransitionTime, second.LastTransitionTime)
	require.NotEqual(t, first.TransitionID, second.TransitionID)

	c.add(gpuNode("n3", "r2", 8), gpuNode("n4", "r1", 1))
	for _, name := range []string{"n1", "n2", "n4"} { // capacity for 8 in two racks only
		require.NoError(t, c.cache.AddOrUpdateNode(gpuNode(name, "r1", 2)))
	}
	require.NoError(t, c.cache.AddOrUpdateNode(gpuNode("n3", "r2", 3)))
	c.session()
	third := c.condition("job")
	require.Equal(t, "TopologyConstraint", third.Reason)
	require.NotEqual(t, first.LastTransitionTime, third.LastTransitionTime)
}

// A session that does not look at the network keeps the last report.
func TestConditionKeepsWhatWasPlanned(t *testing.T) {
	workers := pods("job", "worker", 3, onGPU)
	workers[2].Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), podGroup("job", 2, map[string]int32{"worker": 2}), workers)
	for range 2 * writeInterval {
		c.session()
		require.Equal(t, "2 workers are on 1 node of rack r1\na step of training sends nothing between nodes\nn1: 2 workers\n"+
			"waiting: 1 worker beyond the minimum waits", c.condition("job").Message)
	}
}
