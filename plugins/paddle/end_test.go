// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestEnded(t *testing.T) {
	type statuses = map[string]api.TaskStatus
	for name, test := range map[string]struct {
		statuses statuses
		ended    []string // of those that wait
	}{
		"all run":                 {statuses{"worker-1": api.Pending}, nil},
		"a worker has succeeded":  {statuses{"worker-0": api.Succeeded, "worker-1": api.Pending, "trainer-0": api.Pending}, []string{"job-trainer-0", "job-worker-1"}},
		"one of another task has": {statuses{"trainer-0": api.Succeeded, "worker-1": api.Pending}, []string{"job-worker-1"}},
		"a server may still come": {statuses{"worker-0": api.Succeeded, "ps-0": api.Pending, "heter-0": api.Pending, "board-0": api.Pending}, nil},
		"a server has":            {statuses{"ps-0": api.Succeeded, "worker-1": api.Pending}, nil},
		"what else there was has": {statuses{"board-0": api.Succeeded, "heter-0": api.Succeeded, "worker-1": api.Pending}, nil},
		"a worker has failed":     {statuses{"worker-0": api.Failed, "worker-1": api.Pending}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(4, nil, map[string]int{"ps": 1, "heter": 1, "worker": 2, "trainer": 1, "board": 1}), test.statuses)
			var got []string
			for _, task := range inOrder(job) {
				if task.Status == api.Pending && ended(job, task, defaultTaskRoles) {
					got = append(got, task.Name)
				}
			}
			require.ElementsMatch(t, test.ended, got)
		})
	}
}

// A worker that failed after another had succeeded, and is started again alone.
func TestStartedAgainAfterAnotherHasSucceeded(t *testing.T) {
	for name, test := range map[string]struct {
		servers  int
		attempts map[string]string
		ended    bool
	}{
		"with servers":             {1, map[string]string{"job-worker-1": "1"}, false},
		"the other too, later":     {1, map[string]string{"job-worker-0": "3", "job-worker-1": "4"}, false},
		"not started yet":          {1, nil, true},
		"of the same attempt":      {1, map[string]string{"job-worker-0": "1", "job-worker-1": "1", "job-worker-2": "1"}, true},
		"peers that it would miss": {0, map[string]string{"job-worker-1": "1"}, true},
		"an attempt that is none":  {1, map[string]string{"job-worker-1": "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(2+int32(test.servers), map[string]int32{"worker": 2}, map[string]int{"ps": test.servers, "worker": 3}),
				map[string]api.TaskStatus{"worker-0": api.Succeeded, "worker-1": api.Pending})
			for _, task := range inOrder(job) {
				if n, set := test.attempts[task.Name]; set {
					metav1.SetMetaDataAnnotation(&task.Pod.ObjectMeta, batch.JobRetryCountKey, n)
				}
			}
			for _, task := range inOrder(job) {
				if task.Name == "job-worker-1" {
					require.Equal(t, test.ended, ended(job, task, defaultTaskRoles))
				}
			}
		})
	}
}

// Whoever makes the pod again without counting it, such as a controller that deletes the failed one.
func TestMadeAgainAfterAnotherHasSucceeded(t *testing.T) {
	start := metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		servers int
		created time.Duration // after the start of the one that has succeeded
		ended   bool
	}{
		"after the others had started":   {1, 8 * time.Second, false},
		"within the same second":         {1, 0, false},
		"with the others, and never run": {1, -3 * time.Second, true},
		"peers that it would miss":       {0, 8 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(2+int32(test.servers), map[string]int32{"worker": 2}, map[string]int{"ps": test.servers, "worker": 2}),
				map[string]api.TaskStatus{"worker-0": api.Succeeded, "worker-1": api.Pending})
			var again *api.TaskInfo
			for _, task := range inOrder(job) {
				switch task.Name {
				case "job-worker-0":
					task.Pod.Status.StartTime = &start
				case "job-worker-1":
					task.Pod.CreationTimestamp = metav1.NewTime(start.Add(test.created))
					again = task
				}
			}
			require.Equal(t, test.ended, ended(job, again, defaultTaskRoles))
		})
	}
}

// The whole session: [ps 0][worker 0, ended][ ][ ]; worker 1 has failed since and is made again.
func TestRestartedWorkerIsPlaced(t *testing.T) {
	workers := pods("job", "worker", 2, oneCPU)
	running(workers[:1], "n1")[0].Status.Phase = "Succeeded"
	metav1.SetMetaDataAnnotation(&workers[1].ObjectMeta, batch.JobRetryCountKey, "1")
	c := newCluster(t, shipped, started(podGroup("job", 3, map[string]int32{"ps": 1, "worker": 2})),
		running(pods("job", "ps", 1, oneCPU), "n1"), workers, node("n1", cpus("4")))
	c.sessions(2, "job-ps-0", "job-worker-1")
}

// The gang is whole with the workers that are there; servers are needed as before.
func TestLetEnd(t *testing.T) {
	type statuses = map[string]api.TaskStatus
	for name, test := range map[string]struct {
		statuses  statuses
		want      gang
		minMember int32
	}{
		"all run": {statuses{"worker-2": api.Pending}, gang{{"ps", roleServer, 2}, {"worker", roleWorker, 3}}, 6},
		"one has succeeded, one waits": {
			statuses{"worker-0": api.Succeeded, "worker-2": api.Pending, "ps-0": api.Pending}, gang{{"ps", roleServer, 2}, {"worker", roleWorker, 2}}, 4,
		},
		"one has succeeded, the others run": {statuses{"worker-0": api.Succeeded}, gang{{"ps", roleServer, 2}, {"worker", roleWorker, 3}}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			job := inStatus(t, jobInfo(6, map[string]int32{"ps": 2, "worker": 3}, map[string]int{"ps": 2, "worker": 3}), test.statuses)
			g := newGang(job, defaultTaskRoles)
			g.letEnd(job, defaultTaskRoles)
			require.Equal(t, test.want, g)
			require.Equal(t, test.minMember, job.MinAvailable)
		})
	}
}

// Once a worker has succeeded no more workers start, by whatever action, and nobody is evicted for one. A server does.
func TestNoWorkerAfterTheFirstEnd(t *testing.T) {
	inEveryEvictingPlacement(t, "enqueue, allocate, preempt, reclaim, backfill", func(t *testing.T, configuration string) {
		for name, requests := range map[string]resources{"with requests": oneCPU, "without": nothing} {
			t.Run(name, func(t *testing.T) {
				for _, test := range []struct {
					name  string
					ends  string
					node  string
					bound []string
				}{
					// n1: [ps 0][worker 0][worker 1][low][ ][ ]; worker 2 and the board wait
					{"all run", "", "6", []string{"job-board-0", "job-ps-0", "job-worker-0", "job-worker-1", "job-worker-2", "low-task-0"}},
					{"a worker has succeeded", "job-worker-0", "6", []string{"job-board-0", "job-ps-0", "job-worker-1", "low-task-0"}},
					// n1: [ps 0][worker 0][worker 1][low]
					{"and there is no room", "job-worker-0", "3", []string{"job-ps-0", "job-worker-1", "low-task-0"}},
				} {
					t.Run(test.name, func(t *testing.T) {
						workers := pods("job", "worker", 3, requests)
						running(workers[:2], "n1")
						for _, pod := range workers {
							if pod.Name == test.ends {
								pod.Status.Phase = "Succeeded"
							}
						}
						board := plainPods("job", "board", 1, requests)
						size := node("n1", cpus(test.node))
						if name == "without" {
							size = node("n1", resources{"cpu": "8", "memory": "8Gi", "pods": test.node})
						}
						minimum := map[string]int32{"ps": 1, "worker": 3, "board": 0}
						c := newPriorities(t, configuration, size,
							started(ranked(podGroup("job", 4, minimum), "high", 1)), running(pods("job", "ps", 1, requests), "n1"), workers, board,
							started(ranked(podGroup("low", 1, nil), "low", 1)), running(plainPods("low", "task", 1, requests), "n1"))
						c.sessions(3, test.bound...)
						require.Empty(t, c.evicted())
						if test.ends != "" {
							require.Equal(t, errEnded.Error(), c.podMessage("job-worker-2"))
						}
					})
				}
			})
		}
	})
}

// allocate tries a job with a hard limit anew in each HyperNode, and forgets what it was told before.
func TestWhyNoWorkerUnderHardTopology(t *testing.T) {
	group := started(podGroup("job", 2, map[string]int32{"worker": 2, "board": 0}))
	group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(1)}
	workers := pods("job", "worker", 3, oneCPU)
	running(workers[:2], "n1")[0].Status.Phase = "Succeeded"
	// s1{n1: [worker 1][ ][ ]}; worker 2 and the board wait
	c := newCluster(t, shipped+"  - name: network-topology-aware\n", group, workers, plainPods("job", "board", 1, oneCPU), node("n1", cpus("3")))
	c.racks(map[string][]string{"s1": {"n1"}})
	c.sessions(2, "job-board-0", "job-worker-1")
	require.Equal(t, errEnded.Error(), c.podMessage("job-worker-2"))
}
