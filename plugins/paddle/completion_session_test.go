// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// The whole session: [ps 0][worker 0, ended][ ][ ]; worker 1 has failed since and is made again.
func TestRestartedWorkerIsPlaced(t *testing.T) {
	workers := pods("job", "worker", 2, oneCPU)
	running(workers[:1], "n1")[0].Status.Phase = "Succeeded"
	metav1.SetMetaDataAnnotation(&workers[1].ObjectMeta, batch.JobRetryCountKey, "1")
	c := newCluster(t, shipped, started(podGroup("job", 3, map[string]int32{"ps": 1, "worker": 2})),
		running(pods("job", "ps", 1, oneCPU), "n1"), workers, node("n1", cpus("4")))
	c.sessions(2, "job-ps-0", "job-worker-1")
}

// Once a worker has succeeded no more workers start, by any action, and no pod is evicted for one. A server does.
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
					{"and there is no capacity", "job-worker-0", "3", []string{"job-ps-0", "job-worker-1", "low-task-0"}},
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
							require.Equal(t, paddlejob.ErrCompleting.Error(), c.podMessage("job-worker-2"))
						}
					})
				}
			})
		}
	})
}

// allocate tries a job with a hard limit again in each HyperNode, and discards the earlier answer.
func TestWhyNoWorkerUnderHardTopology(t *testing.T) {
	group := started(podGroup("job", 2, map[string]int32{"worker": 2, "board": 0}))
	group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(1)}
	workers := pods("job", "worker", 3, oneCPU)
	running(workers[:2], "n1")[0].Status.Phase = "Succeeded"
	// s1{n1: [worker 1][ ][ ]}; worker 2 and the board wait
	c := newCluster(t, shipped+"  - name: network-topology-aware\n", group, workers, plainPods("job", "board", 1, oneCPU), node("n1", cpus("3")))
	c.racks(map[string][]string{"s1": {"n1"}})
	c.sessions(2, "job-board-0", "job-worker-1")
	require.Equal(t, paddlejob.ErrCompleting.Error(), c.podMessage("job-worker-2"))
}
