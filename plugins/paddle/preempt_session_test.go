// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

var (
	oneTwo      = map[string]int32{"ps": 1, "worker": 2}
	twoCPU      = resources{"cpu": "2", "memory": "2Gi"}
	lowAll      = []string{"low-ps-0", "low-worker-0", "low-worker-1", "low-worker-2", "low-worker-3"}
	preemptConf = configuration(actionsPreempt, tier(1, "", withPaddle), tier(2, "", ""))
)

func cpus(n string) resources { return resources{"cpu": n, "memory": "64Gi"} }

// elasticJob is a job called low, of 1 server and 4 workers, 2 of them beyond the minimum, that runs: the server on the first node.
func elasticJob(class string, nodes ...string) []any {
	return []any{
		started(ranked(podGroup("low", 3, oneTwo), class, 1)),
		running(pods("low", "ps", 1, oneCPU), nodes...),
		running(pods("low", "worker", 4, oneCPU), nodes[min(1, len(nodes)-1):]...),
	}
}

// rigidJob is a job of n workers that all must run, and do.
func rigidJob(name, class string, age int64, requests resources, nodes ...string) []any {
	n := len(nodes)
	return []any{
		started(ranked(podGroup(name, int32(n), map[string]int32{"worker": int32(n)}), class, age)),
		running(pods(name, "worker", n, requests), nodes...),
	}
}

// wants is a job of n pods that waits, Paddle's or not.
func wants(made func(job, task string, n int, requests resources) []*corev1.Pod, n int, requests resources) []any {
	return []any{ranked(podGroup("high", int32(n), map[string]int32{"worker": int32(n)}), "high", 9), made("high", "worker", n, requests)}
}

// Dispensable workers are evicted one by one, the highest rank first; if they are not enough, the whole gang is.
func TestPreemptElasticWorkersThenWholeGang(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name    string
			cpu     string
			evicted []string
		}{
			// n1: [ps 0][worker 0][worker 1][worker 2][worker 3]
			{"one", "1", []string{"low-worker-3"}},
			{"two", "2", []string{"low-worker-2", "low-worker-3"}},
			{"three", "3", lowAll},
			{"more than there is", "6", nil},
		} {
			for who, made := range map[string]func(string, string, int, resources) []*corev1.Pod{"paddle": pods, "other": plainPods} {
				t.Run(test.name+" for "+who, func(t *testing.T) {
					c := newPriorities(t, configuration, node("n1", cpus("5")))
					c.add(elasticJob("low", "n1")...)
					c.add(wants(made, 1, resources{"cpu": test.cpu, "memory": "1Gi"})...)
					c.evicts(test.evicted...)
					c.evicts(test.evicted...) // and no more while they end
					if test.evicted != nil {
						c.end()
						c.session()
						require.Contains(t, c.bound(), "high-worker-0")
					}
				})
			}
		}
	})
}

// Members on other nodes are evicted too, with a reason that names the job.
func TestPreemptWholeGangOnManyNodes(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		// n1: [low worker 0    ]  n2: [low worker 1    ]  n3: [low worker 2    ]; high needs a node of 2
		c := newPriorities(t, configuration, node("n1", cpus("2")), node("n2", cpus("2")), node("n3", cpus("2")))
		c.add(rigidJob("low", "low", 1, twoCPU, "n1", "n2", "n3")...)
		c.add(wants(pods, 1, twoCPU)...)
		reasons := c.reasons()
		c.evicts("low-worker-0", "low-worker-1", "low-worker-2")
		rest := map[string]string{}
		for pod, reason := range reasons(3) {
			if reason != "preempt" {
				rest[pod] = reason
			}
		}
		require.Len(t, rest, 2)
		for _, reason := range rest {
			require.Equal(t, "gang preempted by job ns/high", reason)
		}
	})
}

// What stock would not evict is not evicted: jobs that are as important, and pods that are not preemptable.
func TestPreemptNoMoreThanStock(t *testing.T) {
	for name, test := range map[string]struct {
		configuration string
		class         string
		protected     string // the pod that is not preemptable
		evicted       []string
		cpu           string // that the preemptor wants, 3 if not given
	}{
		"as important":                         {preemptConf, "high", "", nil, ""},
		"as important, and one is dispensable": {preemptConf, "high", "", nil, "1"},
		// stock evicts the workers one by one, and ends with a job of one server
		"server is not preemptable, dispensable workers are not enough":    {preemptConf, "low", "low-ps-0", nil, ""},
		"dispensable worker is not preemptable, so the gang is not either": {preemptConf, "low", "low-worker-3", nil, ""},
		"gang's own veto": {configuration(actionsPreempt, gangVeto, tier(2, "", "")), "low", "", nil, ""},
		// The tier of the plugin finds no victim, and the next one would permit all.
		"veto in every tier": {configuration(actionsPreempt, "- plugins:\n"+withPaddle+"  - name: gang\n    enablePreemptable: false\n",
			"- plugins:\n  - name: priority\n", "- plugins:\n  - name: conformance\n", tier(2, "", "")), "low", "low-ps-0", nil, ""},
		"without the plugin priority": {configuration(actionsPreempt, "- plugins:\n  - name: gang\n    enablePreemptable: false\n"+
			"  - name: conformance\n"+withPaddle, tier(2, "", "")), "high", "", lowAll, ""},
	} {
		t.Run(name, func(t *testing.T) {
			// n1: [ps 0][worker 0][worker 1][worker 2][worker 3]
			c := newPriorities(t, test.configuration, node("n1", cpus("5")))
			for _, object := range elasticJob(test.class, "n1") {
				if list, ok := object.([]*corev1.Pod); ok {
					for _, pod := range list {
						if pod.Name == test.protected {
							pod.Annotations[scheduling.PodPreemptable] = "false"
						}
					}
				}
				c.add(object)
			}
			c.add(wants(pods, 1, resources{"cpu": cmp.Or(test.cpu, "3"), "memory": "1Gi"})...)
			c.evicts(test.evicted...)
		})
	}
}

// With gang's veto on, only workers beyond the minimum are evicted.
func TestPreemptBesideGangsVeto(t *testing.T) {
	// n1: [ps 0][worker 0][worker 1][worker 2][worker 3]
	c := newPriorities(t, configuration(actionsPreempt, gangVeto, tier(2, "", "")), node("n1", cpus("5")))
	c.add(elasticJob("low", "n1")...)
	c.add(wants(pods, 1, twoCPU)...)
	c.evicts("low-worker-2", "low-worker-3")
}

// A gang is evicted only where nothing else is enough, on whichever node.
func TestPreemptCheapestVictims(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		other := func(node string) []any {
			return []any{started(ranked(podGroup("other", 1, nil), "low", 2)), running(plainPods("other", "task", 1, oneCPU), node)}
		}
		for _, test := range []struct {
			name    string
			objects [][]any
			evicted []string
		}{
			// n1: [low 0][other]   n2: [low 1][high of others]
			{"a pod of another job on the node", [][]any{
				rigidJob("low", "low", 1, oneCPU, "n1", "n2"), other("n1"), rigidJob("top", "high", 1, oneCPU, "n2"),
			}, []string{"other-task-0"}},
			// n1: [low 0][low 1]   n2: [other][top]; n1 comes first or last
			{"a pod of another job elsewhere", [][]any{
				rigidJob("low", "low", 1, oneCPU, "n1", "n1"), other("n2"), rigidJob("top", "high", 1, oneCPU, "n2"),
			}, []string{"other-task-0"}},
			{"and the other way round", [][]any{
				rigidJob("low", "low", 1, oneCPU, "n2", "n2"), other("n1"), rigidJob("top", "high", 1, oneCPU, "n1"),
			}, []string{"other-task-0"}},
			// n1: [low 0][low 1]   n2: [spare 0 and 1, each half][spare 2]
			{"a dispensable worker elsewhere", [][]any{
				rigidJob("low", "low", 1, oneCPU, "n1", "n1"), {
					started(ranked(podGroup("spare", 1, map[string]int32{"worker": 1}), "low", 2)),
					running(pods("spare", "worker", 2, oneCPU), "n2"),
				},
			}, []string{"spare-worker-1"}},
			// n1: [low 0][young 0]   n2: [low 1][young 1]
			{"the least important gang", [][]any{
				rigidJob("young", "low", 2, oneCPU, "n1", "n2"), rigidJob("low", "low", 1, oneCPU, "n1", "n2"),
			}, []string{"young-worker-0", "young-worker-1"}},
		} {
			t.Run(test.name, func(t *testing.T) {
				c := newPriorities(t, configuration, node("n1", cpus("2")), node("n2", cpus("2")))
				for _, objects := range test.objects {
					c.add(objects...)
				}
				c.add(wants(pods, 1, oneCPU)...)
				c.evicts(test.evicted...)
			})
		}
	})
}

// A pod of another job that stock would not evict is not evicted because a Paddle job's pod is beside it.
func TestPreemptNoImportantNeighbor(t *testing.T) {
	// n1: [low 0][top 0]  n2: [low 1][top 1]; low 1 is not preemptable
	c := newPriorities(t, preemptConf, node("n1", cpus("2")), node("n2", cpus("2")))
	low := rigidJob("low", "low", 1, oneCPU, "n1", "n2")
	members, ok := low[1].([]*corev1.Pod)
	require.True(t, ok)
	members[1].Annotations[scheduling.PodPreemptable] = "false"
	c.add(low...)
	c.add(started(ranked(podGroup("top", 2, nil), "high", 1)), running(plainPods("top", "task", 2, oneCPU), "n1", "n2"))
	c.add(wants(pods, 1, oneCPU)...)
	c.evicts()
}

// A job that lacks only dispensable workers evicts no pod, whatever else decides about starvation; one that
// lacks a minimum does.
func TestStarvingByRole(t *testing.T) {
	inEveryEvictingPlacement(t, actionsPreempt, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name    string
			missing string
			evicted []string
		}{
			{"server", "high-ps-0", []string{"low-task-0"}},
			{"needed worker", "high-worker-0", []string{"low-task-0"}},
			{"no victim", "", nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				// n1: [ps 0][worker 0][worker 1][low], and worker 2 waits
				servers := running(pods("high", "ps", 1, oneCPU), "n1")
				workers := running(pods("high", "worker", 3, oneCPU), "n1")
				for _, pod := range append(servers, workers...) {
					if pod.Name == test.missing || pod.Name == "high-worker-2" {
						pod.Spec.NodeName, pod.Status.Phase = "", "Pending"
					}
				}
				cpu := "4"
				if test.missing != "" {
					cpu = "3"
				}
				c := newPriorities(t, configuration, node("n1", cpus(cpu)),
					started(ranked(podGroup("high", 3, oneTwo), "high", 1)), servers, workers,
					started(ranked(podGroup("low", 1, nil), "low", 1)), running(plainPods("low", "task", 1, oneCPU), "n1"))
				c.evicts(test.evicted...)
			})
		}
	})
}
