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
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// protect gives the scheduler a PodDisruptionBudget of the pods with a label.
func (c *cluster) protect(name, key, value string, allowed int32) {
	c.t.Helper()
	factory := c.cache.SharedInformerFactory()
	stop := make(chan struct{})
	defer close(stop)
	factory.WaitForCacheSync(stop)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
	require.NoError(c.t, factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(budget))
}

// teamed gives all pods of some lists a label.
func teamed(key, value string, objects []any) []any {
	for _, object := range objects {
		if list, ok := object.([]*corev1.Pod); ok {
			withLabel(list, key, value)
		}
	}
	return objects
}

// inSession is the names of the pods of a job that are in a status in the session.
func inSession(ssn *framework.Session, job string, status api.TaskStatus) []string {
	var names []string
	for _, task := range ssn.Jobs[api.JobID(namespace+"/"+job)].TaskStatusIndex[status] {
		names = append(names, task.Name)
	}
	slices.Sort(names)
	return names
}

// The rest of a gang is evicted when the Statement is committed in which a pod of the gang is, and stays if it is discarded.
func TestRestOfGang_CommittedOrDiscarded(t *testing.T) {
	all := []string{"low-worker-0", "low-worker-1", "low-worker-2"}
	for name, test := range map[string]struct {
		end     func(*framework.Statement)
		vanish  bool // the API server deletes a pod of the rest before it is evicted
		running []string
		evicted []string
	}{
		"committed":                          {(*framework.Statement).Commit, false, nil, all},
		"discarded":                          {(*framework.Statement).Discard, false, all, nil},
		"committed, and one pod was deleted": {(*framework.Statement).Commit, true, nil, []string{"low-worker-0", "low-worker-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 8 { // a session closes its plugins in no certain order
				// n1: [low worker 0    ]  n2: [low worker 1    ]  n3: [low worker 2    ]
				c := newPriorities(t, preemptConf, node("n1", cpus("2")), node("n2", cpus("2")), node("n3", cpus("2")))
				c.add(rigidJob("low", "low", 1, twoCPU, "n1", "n2", "n3")...)
				c.add(wants(pods, 1, twoCPU)...)
				ssn := framework.OpenSession(c.cache, c.tiers, nil)
				low, high := paddlejob.InOrder(ssn.Jobs[namespace+"/low"]), paddlejob.InOrder(ssn.Jobs[namespace+"/high"])
				require.NoError(t, ssn.PrePredicateFn(high[0]))
				victims := ssn.Preemptable(high[0], []*api.TaskInfo{low[0].Clone()})
				require.Len(t, victims, 1)
				statement := framework.NewStatement(ssn)
				require.NoError(t, statement.Evict(victims[0], "preempt"))
				require.NoError(t, statement.Pipeline(high[0], "n1", true))
				require.True(t, ssn.JobPipelined(ssn.Jobs[namespace+"/high"]))
				require.Equal(t, all, inSession(ssn, "low", api.Releasing), "the session counts on all of the gang")
				require.Empty(t, c.evicted(), "nothing is evicted yet")
				test.end(statement)
				require.Equal(t, test.running, inSession(ssn, "low", api.Running))
				if test.vanish {
					c.remove("low-worker-1")
				}
				framework.CloseSession(ssn)
				require.Equal(t, test.evicted, c.evicted())
			}
		})
	}
}

// The rest of a gang is not evicted if the cache rejects the eviction of the pod that disrupts the gang.
func TestRestOfGang_EvictionRejected(t *testing.T) {
	c := newPriorities(t, preemptConf, node("n1", cpus("2")), node("n2", cpus("2")))
	c.add(rigidJob("low", "low", 1, twoCPU, "n1", "n2")...)
	c.add(wants(pods, 1, twoCPU)...)
	ssn, _ := c.open()
	low, high := paddlejob.InOrder(ssn.Jobs[namespace+"/low"]), paddlejob.InOrder(ssn.Jobs[namespace+"/high"])
	require.NoError(t, ssn.PrePredicateFn(high[0]))
	statement := framework.NewStatement(ssn)
	for _, victim := range ssn.Preemptable(high[0], []*api.TaskInfo{low[0].Clone()}) {
		require.NoError(t, statement.Evict(victim, "preempt"))
	}
	require.NoError(t, statement.Pipeline(high[0], "n1", true))
	require.True(t, ssn.JobPipelined(ssn.Jobs[namespace+"/high"]))
	c.remove("low-worker-0")
	statement.Commit()
	ssn.JobStarving(ssn.Jobs[namespace+"/high"])
	require.Empty(t, c.evicted())
	require.Contains(t, inSession(ssn, "low", api.Running), "low-worker-1")
}

// shuffling lets Volcano's shuffle evict a pod.
func shuffling(pod string) {
	probing(func(ssn *framework.Session) {
		ssn.AddVictimTasksFns("probe", []api.VictimTasksFn{func(tasks []*api.TaskInfo) []*api.TaskInfo {
			return slices.DeleteFunc(slices.Clone(tasks), func(task *api.TaskInfo) bool { return task.Name != pod })
		}})
	})
}

// A pod that shuffle evicts does not disrupt its gang.
func TestShuffledPodDoesNotDisruptItsGang(t *testing.T) {
	shuffling("low-worker-0")
	// n1: [low 0    ]  n2: [low 1    ]  n3: [other    ], for which high comes
	c := newPriorities(t, configuration("enqueue, allocate, shuffle, preempt", tier(1, "", withPaddle), tier(2, "", withProbe)),
		node("n1", cpus("2")), node("n2", cpus("2")), node("n3", cpus("2")))
	c.add(rigidJob("low", "low", 1, twoCPU, "n1", "n2")...)
	c.add(started(ranked(podGroup("other", 1, nil), "low", 2)), running(plainPods("other", "task", 1, twoCPU), "n3"))
	c.add(allOn("n3", wants(pods, 1, twoCPU))...)
	reasons := c.reasons()
	c.evicts("low-worker-0", "other-task-0")
	require.Equal(t, map[string]string{"low-worker-0": "shuffle", "other-task-0": "preempt"}, reasons(2))
}

// Nor does it if the pod was a victim before for a job that did not fit.
func TestShuffledPodDoesNotDisruptItsGang_SelectedBefore(t *testing.T) {
	shuffling("low-worker-0")
	// n1: [low 0    ]  n2: [low 1    ]; high needs a third node
	c := newPriorities(t, configuration("enqueue, allocate, preempt, shuffle, preempt", tier(1, "", withPaddle), tier(2, "", withProbe)),
		node("n1", cpus("2")), node("n2", cpus("2")))
	c.add(rigidJob("low", "low", 1, twoCPU, "n1", "n2")...)
	c.add(wants(pods, 3, twoCPU)...)
	c.evicts("low-worker-0")
}

// The reason of the rest of a gang names the preemptor's job.
func TestEvictionReason(t *testing.T) {
	// n1: [ps 0][worker 0][worker 1][board 0]; board is evicted for first, the rest for second
	c := newPriorities(t, preemptConf, node("n1", cpus("4")),
		started(ranked(podGroup("low", 3, map[string]int32{"ps": 1, "worker": 2, "board": 0}), "low", 1)),
		running(plainPods("low", "board", 1, oneCPU), "n1"), running(pods("low", "ps", 1, oneCPU), "n1"),
		running(pods("low", "worker", 2, oneCPU), "n1"),
		ranked(podGroup("first", 1, nil), "high", 2), plainPods("first", "task", 1, oneCPU),
		ranked(podGroup("second", 1, nil), "high", 3), plainPods("second", "task", 1, oneCPU))
	reasons := c.reasons()
	c.evicts("low-board-0", "low-ps-0", "low-worker-0", "low-worker-1")
	got := reasons(4)
	require.Equal(t, "preempt", got["low-board-0"])
	rest := 0
	for _, reason := range got {
		if reason != "preempt" {
			rest++
			require.Equal(t, "gang preempted by job ns/second", reason)
		}
	}
	require.Equal(t, 2, rest)
}

// withPDB is Volcano's default tiers with the plugins paddle and pdb.
func withPDB(actions, first, second string) string {
	return configuration(actions, tier(1, "", withPaddle+first), tier(2, "", second))
}

// A gang is evicted if budgets allow that all of it is, not if they allow each pod.
func TestDisruptionBudgets_WholeGang(t *testing.T) {
	const pdb = "  - name: pdb\n"
	all := []string{"low-worker-0", "low-worker-1", "low-worker-2"}
	for name, test := range map[string]struct {
		configuration string
		allowed       int32
		evicted       []string
	}{
		"all":                       {withPDB(actionsPreempt, pdb, ""), 3, all},
		"two of three":              {withPDB(actionsPreempt, pdb, ""), 2, nil},
		"none":                      {withPDB(actionsPreempt, pdb, ""), 0, nil},
		"in tier 2, all":            {withPDB(actionsPreempt, "", pdb), 3, all},
		"in tier 2":                 {withPDB(actionsPreempt, "", pdb), 2, nil},
		"switched off":              {withPDB(actionsPreempt, pdb+"    enablePreemptable: false\n", ""), 0, all},
		"without the plugin":        {withPDB(actionsPreempt, "", ""), 0, all},
		"reclaim, all":              {withPDB(actionsReclaim, "", pdb), 3, all},
		"reclaim":                   {withPDB(actionsReclaim, "", pdb), 2, nil},
		"reclaim, switched off":     {withPDB(actionsReclaim, "", pdb+"    enableReclaimable: false\n"), 0, all},
		"reclaim, only for preempt": {withPDB(actionsReclaim, "", pdb+"    enablePreemptable: false\n"), 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			// n1: [low 0    ][low 1    ]  n2: [low 2    ]
			c := newPriorities(t, test.configuration, node("n1", cpus("4")), node("n2", cpus("2")))
			c.add(twoQueues("3")...)
			c.protect("low", "team", "t", test.allowed)
			c.add(inQueues("a", teamed("team", "t", rigidJob("low", "low", 1, twoCPU, "n1", "n1", "n2")))...)
			queue := map[bool]string{true: "b", false: "a"}[strings.Contains(test.configuration, "reclaim,")]
			c.add(inQueues(queue, wants(pods, 1, twoCPU))...)
			if queue == "a" {
				c.evictsAtLast(test.evicted...)
			} else {
				c.evicts(test.evicted...)
			}
		})
	}
}

// Budgets count all that is evicted in a session: gangs of one node, gangs of several nodes, and dispensable pods.
func TestDisruptionBudgets_WholeSession(t *testing.T) {
	configuration := withPDB(actionsPreempt, "  - name: pdb\n", "")
	two := func(a, b string, nodes ...string) []any {
		return append(rigidJob(a, "low", 1, oneCPU, nodes...), rigidJob(b, "low", 2, oneCPU, nodes[len(nodes)/2:]...)...)
	}
	for name, test := range map[string]struct {
		running []any
		wants   []any
		allowed int32
		evicted []string
	}{
		// n1: [a 0][b 0]
		"two gangs of one node":                 {two("a", "b", "n1"), wants(pods, 1, twoCPU), 2, []string{"a-worker-0", "b-worker-0"}},
		"two gangs of one node, one is allowed": {two("a", "b", "n1"), wants(pods, 1, twoCPU), 1, nil},
		// n1: [a 0][a 1]  n2: [b 0][b 1]
		"a gang of each node": {
			append(rigidJob("a", "low", 1, oneCPU, "n1", "n1"), rigidJob("b", "low", 1, oneCPU, "n2", "n2")...), wants(pods, 2, twoCPU), 4,
			[]string{"a-worker-0", "a-worker-1", "b-worker-0", "b-worker-1"},
		},
		"a gang of each node, one is allowed": {
			append(rigidJob("a", "low", 1, oneCPU, "n1", "n1"), rigidJob("b", "low", 1, oneCPU, "n2", "n2")...), wants(pods, 2, twoCPU), 3, nil,
		},
		// n1: [ps 0][worker 0]  n2: [worker 1][worker 2]... of which 2 are dispensable
		"dispensable pods":                 {elasticJob("low", "n1", "n1", "n1", "n2"), wants(pods, 2, oneCPU), 2, []string{"low-worker-2", "low-worker-3"}},
		"dispensable pods, one is allowed": {elasticJob("low", "n1", "n1", "n1", "n2"), wants(pods, 2, oneCPU), 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newPriorities(t, configuration)
			size := map[string]int{}
			for _, object := range test.running {
				if list, ok := object.([]*corev1.Pod); ok {
					for _, pod := range list {
						size[pod.Spec.NodeName]++
					}
				}
			}
			for name, pods := range size {
				c.add(node(name, cpus(strconv.Itoa(pods))))
			}
			c.protect("all", "team", "t", test.allowed)
			c.add(teamed("team", "t", test.running)...)
			c.add(test.wants...)
			c.evicts(test.evicted...)
			c.evicts(test.evicted...)
		})
	}
}

// A queue loses what it has above its share. A gang is one pod there: the last one may take the queue below its share,
// but not below its guarantee, and another gang is counted after all of the first.
func TestReclaimCountsWholeGangs(t *testing.T) {
	reclaim := withCapacity(configuration(actionsReclaim, tier(1, "", withPaddle), tier(2, "", "")))
	one := func() []any { return rigidJob("low", "low", 1, twoCPU, "n1", "n1", "n2") }
	// n1: [a 0    ]  n2: [b 0    ]  n3: [a 1    ][b 1    ], and n3 takes no pods
	two := func() []any {
		return append(rigidJob("a", "low", 1, twoCPU, "n1", "n3"), rigidJob("b", "low", 1, twoCPU, "n2", "n3")...)
	}
	for name, test := range map[string]struct {
		running   func() []any
		deserved  string
		guarantee string
		wants     int
		evicted   []string
	}{
		"all is above the guarantee":         {one, "2", "0", 1, []string{"low-worker-0", "low-worker-1", "low-worker-2"}},
		"a part is below the guarantee":      {one, "2", "2", 1, nil},
		"the second gang is above the share": {two, "3", "0", 2, []string{"a-worker-0", "a-worker-1", "b-worker-0", "b-worker-1"}},
		"the second gang is the share":       {two, "5", "0", 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := queue("a", nil), queue("b", nil)
			a.Spec.Deserved = resources{"cpu": test.deserved, "memory": "64Gi"}.list()
			a.Spec.Guarantee.Resource = resources{"cpu": test.guarantee}.list()
			b.Spec.Deserved = resources{"cpu": "4", "memory": "64Gi"}.list()
			c := newPriorities(t, reclaim, a, b)
			sizes := map[string]int{}
			for _, object := range test.running() {
				c.add(inQueues("a", []any{object})...)
				if list, ok := object.([]*corev1.Pod); ok {
					for _, pod := range list {
						sizes[pod.Spec.NodeName] += 2
					}
				}
			}
			for name, size := range sizes {
				made := node(name, cpus(strconv.Itoa(size)))
				made.Spec.Unschedulable = name == "n3"
				c.add(made)
			}
			c.add(inQueues("b", wants(pods, test.wants, twoCPU))...)
			c.evicts(test.evicted...)
		})
	}
}

// Where drf decides, a job that lost one pod would have more than the preemptor's; without all of its pods it has nothing.
func TestPreemptCountsWholeGangsByDRF(t *testing.T) {
	for minimum, evicted := range map[int32][]string{2: nil, 1: {"low-worker-1"}} {
		t.Run(fmt.Sprintf("minimum %d", minimum), func(t *testing.T) {
			// n1: [low 0    ][low 1    ]
			c := newPriorities(t, configuration(actionsPreempt, "- plugins:\n  - name: gang\n    enablePreemptable: false\n"+withPaddle+
				"  - name: drf\n  - name: predicates\n"),
				node("n1", cpus("4")),
				started(ranked(podGroup("low", minimum, map[string]int32{"worker": minimum}), "low", 1)),
				running(pods("low", "worker", 2, twoCPU), "n1"))
			c.add(wants(pods, 1, oneCPU)...)
			c.evicts(evicted...)
		})
	}
}

// On random clusters, with budgets and with pods that shuffle evicts, preempt and reclaim keep all budgets and evict no needed
// pod of a gang without all others.
func TestRandomClusters_BudgetsAndWholeGangs(t *testing.T) {
	const pdb = "  - name: pdb\n    enabledVictim: false\n" // in shuffle it selects all pods that budgets allow
	for _, action := range []string{"preempt", "reclaim"} {
		evictions, protected := 0, 0
		for seed := range uint64(60) {
			t.Run(fmt.Sprintf("%s seed %d", action, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				shuffled := fmt.Sprintf("low%d-worker-0", r.IntN(8))
				shuffling(shuffled)
				c := newPriorities(t, configuration("enqueue, allocate, "+[]string{"shuffle, ", ""}[r.IntN(2)]+action+", backfill",
					tier(1, "", withPaddle+map[string]string{"preempt": pdb, "reclaim": ""}[action]),
					tier(2, "", withProbe+map[string]string{"preempt": "", "reclaim": pdb}[action])), twoQueues("6")...)
				idle := make([]int, 2+r.IntN(3))
				for i := range idle {
					idle[i] = 3 + r.IntN(4)
					c.add(node(fmt.Sprintf("n%d", i), cpus(strconv.Itoa(idle[i]))))
				}
				allowed := map[string]int{}
				for _, team := range []string{"t0", "t1"} {
					allowed[team] = r.IntN(9)
					c.protect(team, "team", team, int32(allowed[team]))
				}
				minimums, teams := map[string]map[string]int32{}, map[string]string{}
				for i := range 1 + r.IntN(4) {
					name := fmt.Sprintf("low%d", i)
					teams[name] = fmt.Sprintf("t%d", r.IntN(3)) // t2 has no budget
					minimums[name] = map[string]int32{"ps": int32(r.IntN(2)), "worker": int32(1 + r.IntN(2))}
					workers, servers := int(minimums[name]["worker"])+r.IntN(3), int(minimums[name]["ps"])
					group := podGroup(name, minimums[name]["ps"]+minimums[name]["worker"], minimums[name])
					c.add(inQueue(started(ranked(group, "low", int64(i))), "a"))
					for _, pod := range withLabel(append(pods(name, "ps", servers, oneCPU), pods(name, "worker", workers, oneCPU)...), "team", teams[name]) {
						if at := r.IntN(len(idle)); idle[at] > 0 {
							idle[at]--
							running([]*corev1.Pod{pod}, fmt.Sprintf("n%d", at))
						}
						c.add(pod)
					}
				}
				queue := map[string]string{"preempt": "a", "reclaim": "b"}[action]
				for i := range 1 + r.IntN(2) {
					n, size := 1+r.IntN(3), strconv.Itoa(1+r.IntN(3))
					c.add(inQueue(ranked(podGroup(fmt.Sprintf("high%d", i), int32(n), map[string]int32{"worker": int32(n)}), "high", 9), queue),
						pods(fmt.Sprintf("high%d", i), "worker", n, resources{"cpu": size}))
				}
				whole := map[string]bool{}
				for name := range minimums {
					whole[name] = lacks(c.bound(), name, minimums[name]) == ""
				}
				before := c.bound()
				c.session()
				lost := map[string]int{}
				for _, pod := range c.evicted() {
					if pod == shuffled {
						whole[strings.Split(pod, "-")[0]] = false
						continue
					}
					evictions++
					lost[teams[strings.Split(pod, "-")[0]]]++
				}
				for team, most := range allowed {
					if slices.Contains(c.evicted(), shuffled) && teams[strings.Split(shuffled, "-")[0]] == team {
						most = max(most-1, 0) // shuffle calls no other plugin
					}
					require.LessOrEqual(t, lost[team], most, "of %s: %v", team, c.evicted())
					protected += lost[team]
				}
				for name, minimum := range minimums {
					runs := slices.ContainsFunc(c.bound(), func(pod string) bool { return strings.HasPrefix(pod, name+"-") })
					if whole[name] && runs {
						require.Empty(t, lacks(c.bound(), name, minimum), "%s ran %v, and lost %v", name, before, c.evicted())
					}
				}
			})
		}
		require.Greater(t, evictions, 20, "the clusters are such that something is evicted")
		require.Greater(t, protected, 5, "the clusters are such that something is evicted that budgets select")
	}
}
