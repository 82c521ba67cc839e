// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// inQueues puts PodGroups of one list into a queue.
func inQueues(name string, objects []any) []any {
	for _, object := range objects {
		if group, ok := object.(*scheduling.PodGroup); ok {
			inQueue(group, name)
		}
	}
	return objects
}

// withCapacity exchanges the plugin proportion for capacity.
func withCapacity(configuration string) string {
	return strings.ReplaceAll(configuration, "name: proportion", "name: capacity")
}

// two queues of one weight, each of which deserves as much.
func twoQueues(deserved string) []any {
	a, b := queue("a", nil), queue("b", nil)
	for _, queue := range []*scheduling.Queue{a, b} {
		queue.Spec.Deserved = resources{"cpu": deserved, "memory": "64Gi"}.list()
	}
	return []any{a, b}
}

// A queue that has more than its share loses dispensable workers, then whole gangs.
func TestReclaimElasticWorkersThenWholeGang(t *testing.T) {
	inEveryEvictingPlacement(t, actionsReclaim, func(t *testing.T, configuration string) {
		configurations := map[string]string{"proportion": configuration}
		if configuration == evictingPlacements(actionsReclaim)["after gang"] {
			configurations["capacity"] = withCapacity(configuration)
		}
		for name, configuration := range configurations {
			for _, test := range []struct {
				name    string
				running []any
				nodes   [2]string
				wants   []any
				evicted []string
			}{
				// n1: [ps 0][worker 0][worker 1][worker 2][worker 3]  n2: -; the queue may keep 3
				{"one", elasticJob("low", "n1"), [2]string{"5", "0"}, wants(pods, 1, oneCPU), []string{"low-worker-3"}},
				{"two", elasticJob("low", "n1"), [2]string{"5", "0"}, wants(plainPods, 2, oneCPU), []string{"low-worker-2", "low-worker-3"}},
				// n1: [ps 0][worker 0][worker 1][worker 2][worker 3][ ]
				{"one, and one is free", elasticJob("low", "n1"), [2]string{"6", "0"}, wants(pods, 2, oneCPU), []string{"low-worker-3"}},
				// n1: [low 0    ][low 1    ]  n2: [low 2    ]
				{"whole gang", rigidJob("low", "low", 1, twoCPU, "n1", "n1", "n2"), [2]string{"4", "2"}, wants(pods, 1, twoCPU),
					[]string{"low-worker-0", "low-worker-1", "low-worker-2"}},
				{"whole gang for others", rigidJob("low", "low", 1, twoCPU, "n1", "n1", "n2"), [2]string{"4", "2"}, wants(plainPods, 1, twoCPU),
					[]string{"low-worker-0", "low-worker-1", "low-worker-2"}},
				{"not for a gang that does not fit", rigidJob("low", "low", 1, twoCPU, "n1", "n1", "n2"), [2]string{"4", "2"}, wants(pods, 4, twoCPU), nil},
			} {
				t.Run(name+", "+test.name, func(t *testing.T) {
					c := newPriorities(t, configuration, node("n1", cpus(test.nodes[0])), node("n2", cpus(test.nodes[1])))
					c.add(twoQueues("3")...)
					c.add(inQueues("a", test.running)...)
					c.add(inQueues("b", test.wants)...)
					c.evicts(test.evicted...)
					c.evicts(test.evicted...)
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

// What stock would not reclaim is not reclaimed.
func TestReclaimNoMoreThanStock(t *testing.T) {
	reclaim := configuration(actionsReclaim, tier(1, "", withPaddle), tier(2, "", ""))
	for name, test := range map[string]struct {
		change  func(queue *scheduling.Queue, gang []*corev1.Pod)
		share   []any // what else runs, in queue b
		evicted []string
	}{
		"nothing in the way":       {nil, nil, []string{"low-worker-0", "low-worker-1", "low-worker-2"}},
		"queue is not reclaimable": {func(queue *scheduling.Queue, _ []*corev1.Pod) { queue.Spec.Reclaimable = ptr.To(false) }, nil, nil},
		"a member is not preemptable": {func(_ *scheduling.Queue, gang []*corev1.Pod) {
			gang[2].Annotations[scheduling.PodPreemptable] = "false"
		}, nil, nil},
		"a member does not run yet":        {func(_ *scheduling.Queue, gang []*corev1.Pod) { gang[2].Status.Phase = corev1.PodPending }, nil, nil},
		"queue has no more than its share": {nil, rigidJob("share", "low", 1, twoCPU, "n3", "n3", "n3"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			queues := twoQueues("6")
			gang := rigidJob("low", "low", 1, twoCPU, "n1", "n1", "n2")
			if test.change != nil {
				first, ok := queues[0].(*scheduling.Queue)
				require.True(t, ok)
				members, ok := gang[1].([]*corev1.Pod)
				require.True(t, ok)
				test.change(first, members)
			}
			// n1: [low 0    ][low 1    ]  n2: [low 2    ]
			c := newPriorities(t, reclaim, node("n1", cpus("4")), node("n2", cpus("2")))
			if test.share != nil {
				c.add(node("n3", cpus("6")))
			}
			c.add(queues...)
			c.add(inQueues("a", gang)...)
			c.add(inQueues("b", test.share)...)
			c.add(inQueues("b", wants(pods, 1, twoCPU))...)
			c.evicts(test.evicted...)
		})
	}
}

// One gang is evicted for all pods of a job, and none where an idle node or another job is enough.
func TestReclaimCheapestVictims(t *testing.T) {
	inEveryEvictingPlacement(t, actionsReclaim, func(t *testing.T, configuration string) {
		other := func(node string) []any {
			return []any{started(ranked(podGroup("other", 1, nil), "low", 2)), running(plainPods("other", "task", 1, twoCPU), node)}
		}
		for _, test := range []struct {
			name    string
			running [][]any
			wants   []any
			evicted []string
		}{
			// n1: [a 0    ][b 0    ]  n2: [a 1    ][b 1    ]
			{"one gang for two pods", [][]any{
				rigidJob("b", "low", 1, twoCPU, "n1", "n2"), rigidJob("a", "low", 2, twoCPU, "n1", "n2"),
			}, wants(pods, 2, twoCPU), []string{"a-worker-0", "a-worker-1"}},
			// n1: [a 0    ][other  ]  n2: [a 1    ][a 2    ]
			{"a pod of another job on the node", [][]any{
				rigidJob("a", "low", 2, twoCPU, "n1", "n2", "n2"), other("n1"),
			}, wants(pods, 1, twoCPU), []string{"other-task-0"}},
			// n1: [a 0    ][a 1    ]  n2: [a 2    ][other  ]
			{"and the other way round", [][]any{
				rigidJob("a", "low", 2, twoCPU, "n1", "n1", "n2"), other("n2"),
			}, wants(pods, 1, twoCPU), []string{"other-task-0"}},
		} {
			t.Run(test.name, func(t *testing.T) {
				c := newPriorities(t, configuration, node("n1", cpus("4")), node("n2", cpus("4")))
				c.add(twoQueues("4")...)
				for _, objects := range test.running {
					c.add(inQueues("a", objects)...)
				}
				c.add(inQueues("b", test.wants)...)
				c.evicts(test.evicted...)
			})
		}
	})
}

// A plugin that permits a limited amount is called with the pods of the highest rank.
func TestReclaimByShareAndRank(t *testing.T) {
	share := configuration(actionsReclaim, "- plugins:\n"+withPaddle+"  - name: gang\n    enableReclaimable: false\n"+
		"  - name: proportion\n  - name: predicates\n  - name: nodeorder\n")
	for _, test := range []struct {
		name     string
		deserved string // of queue b; queue a has the rest of 12
		cpu      string
		minimum  int32
		evicted  []string
	}{
		{"one worker", "1", "1", 1, []string{"low-worker-11"}},
		{"no worker, the share is kept", "1", "2", 1, nil},
		{"a gang is over its share and is evicted", "1", "1", 12, []string{
			"low-worker-0", "low-worker-1", "low-worker-10", "low-worker-11", "low-worker-2", "low-worker-3", "low-worker-4",
			"low-worker-5", "low-worker-6", "low-worker-7", "low-worker-8", "low-worker-9",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			// n1: [low 0][low 1]...[low 11]
			c := newPriorities(t, share, queue("a", nil), queue("b", resources{"cpu": test.deserved}), node("n1", resources{"cpu": "12", "memory": "12Gi"}))
			c.add(inQueue(started(ranked(podGroup("low", test.minimum, map[string]int32{"worker": test.minimum}), "low", 1)), "a"),
				running(pods("low", "worker", 12, resources{"cpu": "1"}), "n1"))
			c.add(inQueues("b", wants(plainPods, 1, resources{"cpu": test.cpu}))...)
			c.evicts(test.evicted...)
		})
	}
}
