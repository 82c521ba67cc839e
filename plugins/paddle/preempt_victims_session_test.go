// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// Dispensable pods of other roles are evicted before workers, and these from the highest rank on.
func TestPreemptByRank(t *testing.T) {
	for _, test := range []struct {
		cpu     string
		evicted []string
	}{
		{"1", []string{"low-board-0"}},
		{"2", []string{"low-board-0", "low-worker-11"}},
		{"4", []string{"low-board-0", "low-worker-10", "low-worker-11", "low-worker-9"}},
	} {
		t.Run(test.cpu, func(t *testing.T) {
			// n1: [board 0][ps 0][worker 0]...[worker 11]
			c := newPriorities(t, preemptConf, node("n1", cpus("14")),
				started(ranked(podGroup("low", 3, map[string]int32{"ps": 1, "worker": 2, "board": 0}), "low", 1)),
				running(plainPods("low", "board", 1, oneCPU), "n1"), running(pods("low", "ps", 1, oneCPU), "n1"),
				running(pods("low", "worker", 12, oneCPU), "n1"))
			c.add(wants(pods, 1, resources{"cpu": test.cpu})...)
			c.evicts(test.evicted...)
		})
	}
}

// A gang of which a pod is being bound is evicted when that is done: that pod cannot be evicted before.
func TestPreemptNoGangThatIsBeingBound(t *testing.T) {
	// n1: [low 0    ]  n2: [     ], to which low 1 is bound in the first cycle, where high does not fit
	low := pods("low", "worker", 2, twoCPU)
	running(low[:1], "n1")
	c := newPriorities(t, preemptConf, node("n1", cpus("2")), node("n2", cpus("2")),
		started(ranked(podGroup("low", 2, map[string]int32{"worker": 2}), "low", 1)), low)
	c.add(allOn("n1", wants(pods, 1, twoCPU))...)
	c.evicts()
	require.Equal(t, []string{"low-worker-0", "low-worker-1"}, c.bound())
	c.run()
	c.evicts("low-worker-0", "low-worker-1")
}

// Jobs that are not Paddle's lose what they lose without the plugin.
func TestOtherJobsAreEvictedAsWithoutPlugin(t *testing.T) {
	objects := func() []any {
		return slices.Concat([]any{
			// n1: [tf ps 0][tf worker 0][tf worker 1]  n2: [mpi 0    ]
			node("n1", cpus("3")), node("n2", cpus("2")), queue("a", nil), queue("b", nil),
		}, inQueues("a", []any{
			started(ranked(podGroup("tf", 3, oneTwo), "low", 1)),
			running(plainPods("tf", "ps", 1, oneCPU), "n1"), running(plainPods("tf", "worker", 2, oneCPU), "n1"),
			started(ranked(podGroup("mpi", 1, nil), "low", 2)), running(plainPods("mpi", "task", 1, twoCPU), "n2"),
		}))
	}
	for name, test := range map[string]struct {
		actions string
		queue   string
		wants   []any
	}{
		"preempt":                   {actionsPreempt, "a", allOn("n1", wants(plainPods, 1, twoCPU))},
		"preempt, for a Paddle job": {actionsPreempt, "a", allOn("n2", wants(pods, 1, twoCPU))},
		"reclaim":                   {actionsReclaim, "b", allOn("n1", wants(plainPods, 1, twoCPU))},
		"reclaim, for a Paddle job": {actionsReclaim, "b", allOn("n1", wants(pods, 1, twoCPU))},
		"reclaim elsewhere":         {actionsReclaim, "b", allOn("n2", wants(pods, 1, twoCPU))},
		"preempt, too large":        {actionsPreempt, "a", allOn("n1", wants(plainPods, 3, twoCPU))},
	} {
		t.Run(name, func(t *testing.T) {
			evicted := func(configuration string) []string {
				c := newPriorities(t, configuration, objects()...)
				c.add(inQueues(test.queue, test.wants)...)
				c.session()
				var jobs []string // which pods of a node are evicted is a matter of map order
				for _, name := range c.evicted() {
					jobs = append(jobs, strings.Split(name, "-")[0])
				}
				return jobs
			}
			require.Equal(t, evicted(configuration(test.actions, tier(1, "", ""), tier(2, "", ""))),
				evicted(configuration(test.actions, tier(1, "", withPaddle), tier(2, "", ""))))
		})
	}
}

// allOn makes the pods of a list fit on one node only: Volcano orders equal nodes at random.
func allOn(node string, objects []any) []any {
	for _, object := range objects {
		if list, ok := object.([]*corev1.Pod); ok {
			for _, pod := range list {
				pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
			}
		}
	}
	return objects
}

// On random clusters no needed pod of a gang is evicted without all others, and the preemptor starts then.
func TestRandomClusters_WholeGangs(t *testing.T) {
	for _, actions := range []string{actionsPreempt, actionsReclaim} {
		evictions := 0
		for seed := range uint64(40) {
			t.Run(fmt.Sprintf("%s seed %d", strings.Fields(actions)[2], seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				c := newPriorities(t, configuration(actions, tier(1, "", withPaddle), tier(2, "", "")), twoQueues("9")...)
				idle := make([]int, 2+r.IntN(3))
				for i := range idle {
					idle[i] = 3 + r.IntN(4)
					c.add(node(fmt.Sprintf("n%d", i), cpus(strconv.Itoa(idle[i]))))
				}
				minimums := map[string]map[string]int32{}
				for i := range 1 + r.IntN(4) {
					name := fmt.Sprintf("low%d", i)
					minimums[name] = map[string]int32{"ps": int32(r.IntN(2)), "worker": int32(1 + r.IntN(2))}
					workers, servers := int(minimums[name]["worker"])+r.IntN(3), int(minimums[name]["ps"])
					group := podGroup(name, minimums[name]["ps"]+minimums[name]["worker"], minimums[name])
					c.add(inQueue(started(ranked(group, "low", int64(i))), "a"))
					for _, pod := range append(pods(name, "ps", servers, oneCPU), pods(name, "worker", workers, oneCPU)...) {
						if at := r.IntN(len(idle)); idle[at] > 0 {
							idle[at]--
							running([]*corev1.Pod{pod}, fmt.Sprintf("n%d", at))
						}
						c.add(pod)
					}
				}
				queue := map[string]string{actionsPreempt: "a", actionsReclaim: "b"}[actions]
				for i := range 1 + r.IntN(2) {
					n, size := 1+r.IntN(3), strconv.Itoa(1+r.IntN(3))
					c.add(inQueue(ranked(podGroup(fmt.Sprintf("high%d", i), int32(n), map[string]int32{"worker": int32(n)}), "high", 9), queue),
						pods(fmt.Sprintf("high%d", i), "worker", n, resources{"cpu": size}))
				}
				whole := map[string]bool{}
				for name := range minimums {
					whole[name] = lacks(c.bound(), name, minimums[name]) == ""
				}
				c.session()
				evicted := c.evicted()
				evictions += len(evicted)
				for name, minimum := range minimums {
					lost := slices.ContainsFunc(evicted, func(pod string) bool { return strings.HasPrefix(pod, name+"-") })
					runs := slices.ContainsFunc(c.bound(), func(pod string) bool { return strings.HasPrefix(pod, name+"-") })
					if lost && runs && whole[name] {
						require.Empty(t, lacks(c.bound(), name, minimum), "%s lost %v", name, evicted)
					}
				}
				if len(evicted) > 0 {
					c.end()
					c.session()
					require.True(t, slices.ContainsFunc(c.bound(), func(pod string) bool { return strings.HasPrefix(pod, "high") }),
						"%v were evicted for nothing", evicted)
				}
			})
		}
		require.Greater(t, evictions, 20, "the clusters are such that something is evicted")
	}
}

// lacks is the role of which fewer than the minimum of pods run, "" if there is none.
func lacks(bound []string, job string, minimum map[string]int32) string {
	for role, least := range minimum {
		n := int32(0)
		for _, pod := range bound {
			if strings.HasPrefix(pod, job+"-"+role+"-") {
				n++
			}
		}
		if n < least {
			return role
		}
	}
	return ""
}

// A gang is not evicted if the preemptor fits on another node, but only if Volcano would find that node.
func TestPreemptWholeGang_OtherNodeOnlySeemsToFit(t *testing.T) {
	other := func(group *scheduling.PodGroup) []any {
		return []any{started(ranked(group, "low", 2)), running(plainPods(group.Name, "task", 1, twoCPU), "n2")}
	}
	protected := other(podGroup("other", 1, nil))
	protected[1].([]*corev1.Pod)[0].Annotations[scheduling.PodPreemptable] = "false" //nolint:errcheck // as other makes it
	cordoned := node("n2", cpus("2"))
	cordoned.Spec.Unschedulable = true
	kept := queue("kept", nil)
	kept.Spec.Reclaimable = ptr.To(false)
	for name, test := range map[string]struct {
		actions string
		n2      *corev1.Node
		objects []any
		wants   int
	}{
		"preempt: the pod there is not preemptable": {actionsPreempt, node("n2", cpus("2")), inQueues("a", protected), 1},
		"preempt: it is of another queue":           {actionsPreempt, node("n2", cpus("2")), inQueues("b", other(podGroup("other", 1, nil))), 1},
		"preempt: the node takes no pods":           {actionsPreempt, cordoned, inQueues("a", other(podGroup("other", 1, nil))), 1},
		"reclaim: the pod there is of the queue":    {actionsReclaim, node("n2", cpus("2")), inQueues("b", other(podGroup("other", 1, nil))), 1},
		"reclaim: its queue keeps what it has":      {actionsReclaim, node("n2", cpus("2")), append(inQueues("kept", other(podGroup("other", 1, nil))), kept), 1},
		"reclaim: no pod to reclaim from":           {actionsReclaim, node("n2", cpus("2")), nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			// n1: [low 0    ][low 1    ]  n2: [other    ]
			a, b := queue("a", nil), queue("b", nil)
			b.Spec.Weight = 5
			c := newPriorities(t, configuration(test.actions, tier(1, "", withPaddle), tier(2, "", "")), a, b)
			c.add(node("n1", cpus("4")), test.n2)
			c.add(test.objects...)
			c.add(inQueues("a", rigidJob("low", "low", 1, twoCPU, "n1", "n1"))...)
			queue := map[string]string{actionsPreempt: "a", actionsReclaim: "b"}[test.actions]
			c.add(inQueues(queue, wants(pods, test.wants, twoCPU))...)
			c.evictsAtLast("low-worker-0", "low-worker-1")
		})
	}
}
