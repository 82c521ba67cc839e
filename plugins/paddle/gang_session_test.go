// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// cycles is how many scheduling cycles a gang that must not start is watched for.
const cycles = 30

var (
	nothing = resources{}
	oneCPU  = resources{"cpu": "1", "memory": "1Gi"}
	twoTwo  = map[string]int32{"ps": 2, "worker": 2}
	allFour = []string{"job-ps-0", "job-ps-1", "job-worker-0", "job-worker-1"}
)

func TestGangOfPodsWithAndWithoutRequests(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name  string
			node  resources
			bound []string
		}{
			// n1: [worker][worker] ps ps
			{"fits", resources{"cpu": "4", "memory": "8Gi"}, allFour},
			// n1: [worker][worker] ps ps, and not a byte or a pod more
			{"fits exactly", resources{"cpu": "2", "memory": "2Gi", "pods": "4"}, allFour},
			// n1: [worker] ps ps, no capacity for the other worker
			{"one worker short", resources{"cpu": "1", "memory": "8Gi"}, nil},
			// n1: [worker][worker] ps, no fourth pod is taken
			{"pod limit hits a server", resources{"cpu": "4", "memory": "8Gi", "pods": "3"}, nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				c := newCluster(t, configuration, podGroup("job", 4, twoTwo),
					pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU), node("n1", test.node))
				c.sessions(cycles, test.bound...)
			})
		}
	})
}

func TestGangOfPodsWithoutRequests(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name  string
			nodes []any
			bound []string
		}{
			// n1: ps ps worker | n2: worker
			{"fits", []any{node("n1", resources{"cpu": "1", "memory": "1Gi", "pods": "3"}),
				node("n2", resources{"cpu": "1", "memory": "1Gi", "pods": "1"})}, allFour},
			// n1: ps ps | n2: worker, no fourth pod is taken
			{"one pod short", []any{node("n1", resources{"cpu": "1", "memory": "1Gi", "pods": "2"}),
				node("n2", resources{"cpu": "1", "memory": "1Gi", "pods": "1"})}, nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				c := newCluster(t, configuration, podGroup("job", 4, twoTwo),
					pods("job", "ps", 2, nothing), pods("job", "worker", 2, nothing))
				c.add(test.nodes...)
				c.sessions(cycles, test.bound...)
			})
		}
	})
}

// A cluster whose memory and CPU are requested to the last byte still takes pods that request nothing.
func TestGangWithoutRequestsOnFullNode(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		full := plainPods("full", "task", 1, oneCPU)
		full[0].Spec.NodeName = "n1"
		full[0].Status.Phase = corev1.PodRunning
		// n1: [full] ps ps worker worker
		c := newCluster(t, configuration, podGroup("full", 1, nil), full, podGroup("job", 4, twoTwo),
			pods("job", "ps", 2, nothing), pods("job", "worker", 2, nothing), node("n1", oneCPU))
		c.sessions(2, append([]string{"full-task-0"}, allFour...)...)
	})
}

// Volcano looks at no role when minMember is below the sum of minTaskMember.
func TestGangMinMemberBelowSum(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name      string
			minMember int32
			ps        resources
			cpu       string
			bound     []string
		}{
			// n1: [ps][ps][worker]: minMember is reached with both servers and one worker
			{"servers and a worker", 3, oneCPU, "3", []string{"job-ps-0", "job-ps-1", "job-worker-0"}},
			// n1: [ps][ps]: minMember is reached, but no worker fits
			{"no worker", 2, oneCPU, "2", nil},
			// n1: [worker]: minMember is reached by one worker alone
			{"one of anything", 1, oneCPU, "1", nil},
			// n1: [ps][ps][worker]: the least that trains, however low minMember is
			{"one of anything, three fit", 1, oneCPU, "3", []string{"job-ps-0", "job-ps-1", "job-worker-0"}},
			// n1: [worker] ps ps
			{"servers without requests", 3, nothing, "1", []string{"job-ps-0", "job-ps-1", "job-worker-0"}},
			// n1: ps ps, and no CPU for a worker
			{"servers without requests, no worker", 2, nothing, "100m", nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				c := newCluster(t, configuration, podGroup("job", test.minMember, twoTwo),
					pods("job", "ps", 2, test.ps), pods("job", "worker", 2, oneCPU),
					node("n1", resources{"cpu": test.cpu, "memory": "8Gi"}))
				c.sessions(cycles, test.bound...)
			})
		}
	})
}

// The 2019 example has no PaddleJob: labels, variables and task names say what it is.
func TestGangOfRawVolcanoJob(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		ctr := func(minMember int32) []any {
			servers := withEnv(plainPods("ctr", "pserver", 2, oneCPU), "TRAINING_ROLE", "PSERVER")
			trainers := withEnv(plainPods("ctr", "trainer", 2, nothing), "TRAINING_ROLE", "TRAINER")
			return []any{
				podGroup("ctr", minMember, map[string]int32{"pserver": 2, "trainer": 2}),
				withLabel(servers, paddlejob.CtrServerLabel, "fluid-ctr"), withLabel(trainers, paddlejob.CtrWorkerLabel, "fluid-ctr"),
			}
		}
		// n1: [pserver][pserver] trainer trainer
		t.Run("fits", func(t *testing.T) {
			c := newCluster(t, configuration, append(ctr(4), node("n1", resources{"cpu": "2", "memory": "8Gi"}))...)
			c.sessions(2, "ctr-pserver-0", "ctr-pserver-1", "ctr-trainer-0", "ctr-trainer-1")
		})
		// n1: [pserver] trainer trainer: minMember is reached, but a server is missing
		t.Run("one server short", func(t *testing.T) {
			c := newCluster(t, configuration, append(ctr(3), node("n1", resources{"cpu": "1", "memory": "8Gi"}))...)
			c.sessions(cycles)
		})
	})
}

// paddle-operator's pods belong to no Volcano Job: they have no task names, and its PodGroup has no minTaskMember.
func TestGangOfPaddleOperator(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		job := func(role string, n int, requests resources) []*corev1.Pod {
			made := withLabel(plainPods("job", role, n, requests), paddlejob.ResourceTypeLabel, role)
			for _, pod := range made {
				pod.Annotations = map[string]string{"scheduling.k8s.io/group-name": "job"}
			}
			return made
		}
		// n1: [ps] worker worker worker: minMember is reached, but a server is missing
		c := newCluster(t, configuration, podGroup("job", 4, nil), job("ps", 2, oneCPU), job("worker", 3, nothing),
			node("n1", resources{"cpu": "1", "memory": "8Gi"}))
		c.sessions(cycles)
		// n2: [ps]
		c.add(node("n2", resources{"cpu": "1", "memory": "8Gi"}))
		c.sessions(2, "job-ps-0", "job-ps-1", "job-worker-0", "job-worker-1", "job-worker-2")
	})
}

// Jobs that are not Paddle's are left to Volcano, whatever their tasks are called.
func TestOtherJobsAreUntouched(t *testing.T) {
	objects := func() []any {
		return []any{
			podGroup("tf", 4, twoTwo), plainPods("tf", "ps", 2, nothing), plainPods("tf", "worker", 2, oneCPU),
			podGroup("mpi", 1, twoTwo), plainPods("mpi", "worker", 3, oneCPU), plainPods("mpi", "ps", 2, oneCPU),
			podGroup("idle", 1, nil), plainPods("idle", "worker", 2, nothing),
			// A Paddle gang that never fits must not change what the others get.
			podGroup("job", 4, twoTwo), pods("job", "ps", 2, resources{"cpu": "9"}), pods("job", "worker", 2, nothing),
			// n1: 3 CPU, 8 pods | n2: 2 CPU, 8 pods
			node("n1", resources{"cpu": "3", "memory": "8Gi", "pods": "8"}),
			node("n2", resources{"cpu": "2", "memory": "8Gi", "pods": "8"}),
		}
	}
	without := newCluster(t, stock, objects()...)
	without.session()
	bound := without.bound()
	require.Contains(t, bound, "idle-worker-0", "backfill binds pods without requests")
	require.Contains(t, bound, "tf-ps-0", "the gang of other frameworks is Volcano's")
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		if configuration == placements["without gang"] || configuration == placements["without backfill"] {
			return // then Volcano's own answer is another
		}
		c := newCluster(t, configuration, objects()...)
		c.session()
		require.Equal(t, bound, c.bound())
	})
}

// Capacity for one of two gangs: one of them gets all of it.
func TestTwoGangsCompete(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		first, second := podGroup("job", 4, twoTwo), podGroup("late", 4, twoTwo)
		first.CreationTimestamp = metav1.Unix(1, 0)
		second.CreationTimestamp = metav1.Unix(2, 0)
		// n1: [worker][worker] ps ps, pods for one gang and a half
		c := newCluster(t, configuration, first, second,
			pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
			pods("late", "ps", 2, nothing), pods("late", "worker", 2, oneCPU),
			node("n1", resources{"cpu": "3", "memory": "8Gi", "pods": "6"}))
		c.sessions(cycles, allFour...)

		for _, name := range allFour {
			c.remove(name)
		}
		c.sessions(2, "late-ps-0", "late-ps-1", "late-worker-0", "late-worker-1")
	})
}

// A gang that cannot start holds nothing back from others, in the same cycle.
func TestWaitingGangReservesNothing(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name     string
			fussy    string // the task whose pods no node takes
			requests resources
		}{
			// n1: worker worker worker worker, which are minMember; pending servers without requests must not count
			{"servers have no capacity", "ps", nothing},
			// n1: [ps][ps]
			{"workers have no capacity", "worker", oneCPU},
		} {
			t.Run(test.name, func(t *testing.T) {
				waiting, other := podGroup("job", 4, twoTwo), podGroup("other", 1, nil)
				waiting.CreationTimestamp = metav1.Unix(1, 0)
				other.CreationTimestamp = metav1.Unix(2, 0)
				members := map[string][]*corev1.Pod{
					"ps": pods("job", "ps", 2, test.requests), "worker": pods("job", "worker", 4, oneCPU),
				}
				for _, pod := range members[test.fussy] {
					pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
				}
				c := newCluster(t, configuration, waiting, other, members["ps"], members["worker"],
					plainPods("other", "task", 1, resources{"cpu": "4"}), node("n1", resources{"cpu": "4", "memory": "8Gi"}))
				c.sessions(2, "other-task-0")
			})
		}
	})
}

// The PodGroup is Inqueue, and the Job controller has made only a part of the pods yet.
func TestGangWaitsForItsPods(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		servers, workers := pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU)
		// n1: [worker][worker] ps ps
		c := newCluster(t, configuration, podGroup("job", 3, twoTwo), servers[:1], workers,
			node("n1", resources{"cpu": "2", "memory": "8Gi"}))
		c.sessions(cycles)
		c.add(servers[1])
		c.sessions(2, allFour...)
	})
}

// A pod of a running gang is lost and made again.
func TestGangLosesOnePod(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		for _, lost := range []string{"job-ps-1", "job-worker-1"} {
			t.Run(lost, func(t *testing.T) {
				// n1: [worker][worker] ps ps
				c := newCluster(t, configuration, podGroup("job", 4, twoTwo),
					pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
					node("n1", resources{"cpu": "2", "memory": "8Gi", "pods": "4"}))
				c.sessions(1, allFour...)
				c.run()
				c.sessions(1, allFour...)
				require.Equal(t, "Running", c.phase("job"))
				rest := without(allFour, lost)

				now := metav1.Now()
				c.change(lost, func(pod *corev1.Pod) { pod.DeletionTimestamp = &now })
				c.sessions(2, rest...)

				again := c.pod(lost).DeepCopy()
				again.UID += "-again"
				again.DeletionTimestamp = nil
				again.Spec.NodeName = ""
				again.Status = corev1.PodStatus{Phase: corev1.PodPending}
				c.remove(lost)
				c.add(again)
				c.sessions(2, allFour...)
			})
		}
	})
}

// The whole gang is made again while the pods of the one before are still ending: none starts until all have capacity.
func TestGangWaitsForEndingPods(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		// n1: [ending][ending]
		ending := pods("old", "worker", 2, oneCPU)
		now := metav1.Now()
		for _, pod := range ending {
			pod.Spec.NodeName = "n1"
			pod.Status.Phase = corev1.PodRunning
			pod.DeletionTimestamp = &now
		}
		c := newCluster(t, configuration, podGroup("old", 2, nil), ending, podGroup("job", 4, twoTwo),
			pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
			node("n1", resources{"cpu": "2", "memory": "8Gi"}))
		c.sessions(2)
		c.remove("old-worker-0")
		c.sessions(2)
		c.remove("old-worker-1")
		c.sessions(2, allFour...)
	})
}

// A queue's quota counts like any other capacity.
func TestGangAndQueueCapability(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name  string
			cpu   string
			bound []string
		}{
			{"quota is just the demand", "2", allFour},
			{"quota is one worker short", "1", nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				group := podGroup("job", 4, twoTwo)
				group.Spec.Queue = "small"
				c := newCluster(t, configuration, queue("small", resources{"cpu": test.cpu, "memory": "2Gi"}), group,
					pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
					node("n1", resources{"cpu": "8", "memory": "8Gi"}))
				c.sessions(cycles, test.bound...)
			})
		}
	})
}

// Workers beyond the minimum must not take the servers' capacity, or the gang never starts.
func TestGatedPodIsNotReady(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		servers := pods("job", "ps", 2, nothing)
		servers[1].Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
		// n1: [worker][worker] ps, the other ps is gated
		c := newCluster(t, configuration, podGroup("job", 4, twoTwo), servers, pods("job", "worker", 2, oneCPU),
			node("n1", resources{"cpu": "2", "memory": "8Gi"}))
		c.sessions(cycles)
		c.change("job-ps-1", func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil })
		c.sessions(2, allFour...)
	})
}

// A gang under a hard networkTopology is tried in one HyperNode after the other, on copies of its tasks.
func TestGangUnderHardTopology(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		for _, test := range []struct {
			name  string
			cpu   string
			bound []string
		}{
			// s1{n1: [worker]} s2{n2: [worker][worker] ps ps}
			{"fits one rack", "2", allFour},
			// s1{n1: [worker]} s2{n2: [worker]}: capacity for all, but in two racks
			{"fits two racks only", "1", nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				group := podGroup("job", 4, twoTwo)
				group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{
					Mode: scheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(1),
				}
				c := newCluster(t, configuration+"  - name: network-topology-aware\n", group,
					pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
					node("n1", resources{"cpu": "1", "memory": "8Gi"}), node("n2", resources{"cpu": test.cpu, "memory": "8Gi"}))
				c.racks(map[string][]string{"s1": {"n1"}, "s2": {"n2"}})
				c.sessions(2, test.bound...)
			})
		}
	})
}

func without(names []string, name string) []string {
	var rest []string
	for _, n := range names {
		if n != name {
			rest = append(rest, n)
		}
	}
	return rest
}
