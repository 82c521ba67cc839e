// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// A preemptor evicts no pod unless its own gang fits then, and discarded evictions leave no trace.
func TestPreemptForWholeGangsOnly(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name    string
			minimum map[string]int32
			ps      int
			workers int
			evicted []string
		}{
			// n1: [low 0]  n2: [low 1]  n3: [top]: two pods of high fit, if low is evicted
			{"fits", map[string]int32{"ps": 1, "worker": 1}, 1, 1, []string{"low-worker-0", "low-worker-1"}},
			{"one worker too many", map[string]int32{"ps": 1, "worker": 2}, 1, 2, nil},
			{"fits without the dispensable workers", map[string]int32{"ps": 1, "worker": 1}, 1, 3, []string{"low-worker-0", "low-worker-1"}},
			{"one server too many, but dispensable workers", map[string]int32{"ps": 2, "worker": 1}, 2, 3, nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				c := newPriorities(t, configuration, node("n1", cpus("2")), node("n2", cpus("2")), node("n3", cpus("2")))
				c.add(rigidJob("low", "low", 1, twoCPU, "n1", "n2")...)
				c.add(rigidJob("top", "high", 1, twoCPU, "n3")...)
				c.add(ranked(podGroup("high", test.minimum["ps"]+test.minimum["worker"], test.minimum), "high", 9),
					pods("high", "ps", test.ps, twoCPU), pods("high", "worker", test.workers, twoCPU))
				c.evicts(test.evicted...)
				c.evicts(test.evicted...)
				if test.evicted != nil {
					c.end()
					c.session()
					require.Subset(t, c.bound(), []string{"high-ps-0", "high-worker-0", "top-worker-0"})
				}
			})
		}
	})
}

// Pods that paddle-operator made have no task name, and a discarded eviction must not make it look as if their
// gang had lost them: it would evict others for a dispensable worker.
func TestPreemptDiscarded_KeepsTaskRoles(t *testing.T) {
	operator := func(made []*corev1.Pod, role string) []*corev1.Pod {
		for _, pod := range withLabel(made, paddlejob.ResourceTypeLabel, role) {
			pod.Annotations = map[string]string{"scheduling.k8s.io/group-name": "job"}
		}
		return made
	}
	// n1: [ps][worker]  n2: [other    ]; high would need a third node
	twice := configuration("enqueue, allocate, preempt, preempt, backfill", tier(1, "", withPaddle), tier(2, "", ""))
	c := newPriorities(t, twice, node("n1", cpus("2")), node("n2", cpus("2")),
		started(ranked(podGroup("job", 2, nil), "middle", 1)), operator(plainPods("job", "extra", 1, twoCPU), "worker"),
		running(operator(plainPods("job", "ps", 1, oneCPU), "ps"), "n1"),
		running(operator(plainPods("job", "worker", 1, oneCPU), "worker"), "n1"),
		started(ranked(podGroup("other", 1, nil), "low", 1)), running(plainPods("other", "task", 1, twoCPU), "n2"))
	c.add(wants(pods, 3, twoCPU)...)
	c.evicts()
}

// Two pods that need a node each take what one gang had on both, not each a gang of its own.
func TestPreemptOneGangForTwoPods(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		// n1: [a 0    ][b 0    ]  n2: [b 1    ][a 1    ]  n3: [a 2    ][c 0    ]
		c := newPriorities(t, configuration, node("n1", cpus("4")), node("n2", cpus("4")), node("n3", cpus("4")))
		c.add(rigidJob("a", "low", 1, twoCPU, "n1", "n2", "n3")...)
		c.add(rigidJob("b", "low", 1, twoCPU, "n1", "n2")...)
		c.add(rigidJob("c", "low", 1, twoCPU, "n3")...)
		c.add(wants(pods, 3, twoCPU)...)
		c.evicts("a-worker-0", "a-worker-1", "a-worker-2")
	})
}

// Two jobs of the same cycle: the second one takes what the gang left over that went for the first.
func TestPreemptSecondJobUsesEvictedGang(t *testing.T) {
	// n1: [a 0    ][b 0    ]  n2: [a 1    ][b 1    ]
	c := newPriorities(t, preemptConf, node("n1", cpus("4")), node("n2", cpus("4")))
	c.add(rigidJob("a", "low", 2, twoCPU, "n1", "n2")...)
	c.add(rigidJob("b", "low", 1, twoCPU, "n1", "n2")...)
	c.add(wants(pods, 1, twoCPU)...)
	c.add(ranked(podGroup("later", 1, nil), "high", 10), plainPods("later", "task", 1, twoCPU))
	c.evicts("a-worker-0", "a-worker-1")
}

// Victims of a job that does not fit are no victims of the next job.
func TestPreemptDiscarded_NextJob(t *testing.T) {
	// n1: [low ps 0 ]  n2: [other    ]; high would need a third node
	c := newPriorities(t, preemptConf, node("n1", cpus("2")), node("n2", cpus("2")))
	c.add(started(ranked(podGroup("low", 1, map[string]int32{"ps": 1}), "low", 1)), running(pods("low", "ps", 1, twoCPU), "n1"),
		started(ranked(podGroup("other", 1, nil), "low", 2)), running(plainPods("other", "task", 1, twoCPU), "n2"))
	c.add(wants(pods, 3, twoCPU)...)
	c.add(ranked(podGroup("later", 1, nil), "high", 10), plainPods("later", "task", 1, twoCPU))
	c.evicts("other-task-0")
}

// A job does not lose its running pods because a server that it lost does not fit.
func TestPreemptDiscarded_RunningJob(t *testing.T) {
	// n1: [other    ]  n2: [high worker 0]; two servers of high wait, and one of them fits
	c := newPriorities(t, preemptConf, node("n1", cpus("2")), node("n2", cpus("2")),
		started(ranked(podGroup("high", 3, map[string]int32{"ps": 2, "worker": 1}), "high", 9)),
		pods("high", "ps", 2, twoCPU), running(pods("high", "worker", 1, twoCPU), "n2"),
		started(ranked(podGroup("other", 1, nil), "low", 2)), running(plainPods("other", "task", 1, twoCPU), "n1"),
		ranked(podGroup("later", 1, nil), "middle", 10), plainPods("later", "task", 1, twoCPU))
	c.evicts("other-task-0")
}

// A job never evicts its own pods: preempt would exchange a worker for a server of higher priority, and disrupt the gang.
func TestPreemptNeverWithinAJob(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		for name, more := range map[string][]any{
			// n1: [worker 0][worker 1][worker 2]
			"alone": {started(ranked(podGroup("low", 1, nil), "low", 1)), running(plainPods("low", "task", 1, nothing), "n1")},
			// n1: [worker 0][worker 1][worker 2], and a job of others on n2
			"beside others": rigidJob("top", "high", 1, oneCPU, "n2"),
		} {
			t.Run(name, func(t *testing.T) {
				server := pods("job", "ps", 1, oneCPU)
				server[0].Spec.Priority = ptr.To(int32(100))
				c := newPriorities(t, configuration, node("n1", cpus("3")), node("n2", cpus("1")),
					started(ranked(podGroup("job", 2, map[string]int32{"ps": 1, "worker": 1}), "high", 1)), server,
					running(pods("job", "worker", 3, oneCPU), "n1"))
				c.add(more...)
				if name == "alone" {
					c.add(rigidJob("full", "high", 1, oneCPU, "n2")...)
				}
				c.evicts()
			})
		}
	})
}

// The queue is full, not the nodes: as much of the queue is evicted as the preemptor requests.
func TestPreemptInFullQueue(t *testing.T) {
	for _, test := range []struct {
		cpu     string
		evicted []string
	}{
		{"1", []string{"low-worker-3"}},
		{"2", []string{"low-worker-2", "low-worker-3"}},
		{"3", lowAll},
	} {
		t.Run(test.cpu, func(t *testing.T) {
			// n1: [ps 0][worker 0][worker 1][worker 2][worker 3][ ][ ][ ][ ][ ], of a quota of 5
			c := newPriorities(t, preemptConf, queue("full", resources{"cpu": "5", "memory": "64Gi"}), node("n1", cpus("10")))
			for _, object := range append(elasticJob("low", "n1"), wants(pods, 1, resources{"cpu": test.cpu, "memory": "1Gi"})...) {
				if group, ok := object.(*scheduling.PodGroup); ok {
					inQueue(group, "full").Status.Phase = scheduling.PodGroupInqueue
				}
				c.add(object)
			}
			c.evicts(test.evicted...)
		})
	}
}

// Topology-aware preemption tries nodes in parallel, and reprieves victims that it does not need.
func TestPreemptTopologyAware(t *testing.T) {
	aware := preemptConf + "configurations:\n- name: preempt\n  arguments:\n    enableTopologyAwarePreemption: true\n"
	for name, test := range map[string]struct {
		wants   []any
		evicted []string
	}{
		"a dispensable worker": {wants(pods, 1, oneCPU), []string{"low-worker-3"}},
		"two":                  {wants(plainPods, 1, twoCPU), []string{"low-worker-2", "low-worker-3"}},
		"whole gang":           {wants(pods, 1, resources{"cpu": "3"}), lowAll},
		"more than fits":       {wants(pods, 2, resources{"cpu": "4"}), nil},
		"one after another":    {wants(pods, 2, oneCPU), []string{"low-worker-2", "low-worker-3"}},
	} {
		t.Run(name, func(t *testing.T) {
			// n1: [ps 0][top][top]  n2: [worker 0][worker 1][worker 2][worker 3]  n3: [rigid 0][rigid 1]  n4: [top][rigid 2]
			c := newPriorities(t, aware, node("n1", cpus("3")), node("n2", cpus("4")), node("n3", cpus("2")), node("n4", cpus("2")))
			c.add(elasticJob("low", "n1", "n2")...)
			c.add(rigidJob("top", "high", 1, oneCPU, "n1", "n1", "n4")...)
			c.add(rigidJob("rigid", "low", 1, oneCPU, "n3", "n3", "n4")...)
			c.add(test.wants...)
			for range 2 {
				c.sessionOf(aware)
			}
			require.Equal(t, test.evicted, c.evicted())
		})
	}
}
