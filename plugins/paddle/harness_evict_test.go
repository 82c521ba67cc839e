// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

const actionsPreempt, actionsReclaim = "enqueue, allocate, preempt, backfill", "enqueue, allocate, reclaim, backfill"

// gangVeto is tier 1 with a gang that rejects victims at or below minMember, after the plugin.
const gangVeto = "- plugins:\n  - name: priority\n  - name: paddle\n  - name: gang\n  - name: conformance\n"

// evictingPlacements are the places of the plugin, with an action that evicts.
func evictingPlacements(actions string) map[string]string {
	return map[string]string{
		"after gang":        configuration(actions, tier(1, "", withPaddle), tier(2, "", "")),
		"before gang":       configuration(actions, tier(1, withPaddle, ""), tier(2, "", "")),
		"last in tier 2":    configuration(actions, tier(1, "", ""), tier(2, "", withPaddle)),
		"a tier of its own": configuration(actions, "- plugins:\n"+withPaddle, tier(1, "", ""), tier(2, "", "")),
		"without gang":      configuration(actions, tier1NoGang, tier(2, "", "")),
	}
}

// inEveryEvictingPlacement runs a test once per place of the plugin.
func inEveryEvictingPlacement(t *testing.T, actions string, test func(t *testing.T, configuration string)) {
	placements := evictingPlacements(actions)
	for _, name := range slices.Sorted(maps.Keys(placements)) {
		t.Run(name, func(t *testing.T) { test(t, placements[name]) })
	}
}

// newPriorities is newCluster with the priority classes high (1000), middle (500) and low (1).
func newPriorities(t *testing.T, configuration string, objects ...any) *cluster {
	t.Helper()
	c := newCluster(t, configuration)
	for name, value := range map[string]int32{"high": 1000, "middle": 500, "low": 1} {
		c.cache.AddPriorityClass(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	c.add(objects...)
	return c
}

// ranked is a PodGroup of a priority class, younger the larger its age is.
func ranked(group *scheduling.PodGroup, class string, age int64) *scheduling.PodGroup {
	group.Spec.PriorityClassName = class
	group.CreationTimestamp = metav1.Unix(age, 0)
	return group
}

// started is a PodGroup whose pods run.
func started(group *scheduling.PodGroup) *scheduling.PodGroup {
	group.Status.Phase = scheduling.PodGroupRunning
	return group
}

// inQueue is a PodGroup of a queue.
func inQueue(group *scheduling.PodGroup, name string) *scheduling.PodGroup {
	group.Spec.Queue = name
	return group
}

// running makes pods run: the first on the first node, and so on; the last node has the rest.
func running(pods []*corev1.Pod, nodes ...string) []*corev1.Pod {
	for i, pod := range pods {
		pod.Spec.NodeName = nodes[min(i, len(nodes)-1)]
		pod.Status.Phase = corev1.PodRunning
	}
	return pods
}

// evicted is the names of the pods that the scheduler has evicted.
func (c *cluster) evicted() []string {
	c.cache.Lock()
	defer c.cache.Unlock()
	var names []string
	for _, job := range c.cache.Jobs {
		for _, task := range job.TaskStatusIndex[api.Releasing] {
			if task.Pod.DeletionTimestamp == nil {
				names = append(names, task.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// evicts runs a cycle and requires that exactly these pods are evicted then; what else runs stays.
func (c *cluster) evicts(names ...string) {
	c.t.Helper()
	before := c.bound()
	c.session()
	slices.Sort(names)
	require.Equal(c.t, names, c.evicted(), "evicted")
	for _, name := range before {
		require.True(c.t, slices.Contains(names, name) || slices.Contains(c.bound(), name), "%s is neither evicted nor bound", name)
	}
}

// evictsAtLast is evicts where several queues have jobs: Volcano's preempt goes through queues in the order of a map, and
// after the first one drops the preemptors of the others. So it takes some cycles, half of which do.
func (c *cluster) evictsAtLast(names ...string) {
	c.t.Helper()
	for cycle := 0; len(c.evicted()) == 0 && cycle < 64; cycle++ {
		c.session()
	}
	slices.Sort(names)
	require.Equal(c.t, names, c.evicted(), "evicted")
}

// end does what the kubelet does: pods that were evicted have ended.
func (c *cluster) end() {
	for _, name := range c.evicted() {
		c.remove(name)
	}
}

// eviction is an argument of Evict.
type eviction struct{ pod, reason string }

// evictions receives the arguments of Evict.
type evictions chan eviction

// Evict implements cache.Evictor.
func (e evictions) Evict(pod *corev1.Pod, reason string) error {
	e <- eviction{pod.Name, reason}
	return nil
}

// reasons returns a function that waits for n evictions and returns their reasons by pod.
func (c *cluster) reasons() func(n int) map[string]string {
	calls := make(evictions, 1000)
	c.cache.Evictor = calls
	return func(n int) map[string]string {
		reasons := map[string]string{}
		for range n {
			e := <-calls
			reasons[e.pod] = e.reason
		}
		return reasons
	}
}

// sessionOf runs one cycle as configured, arguments of actions included, which session does not know.
func (c *cluster) sessionOf(configuration string) {
	c.t.Helper()
	actions, tiers, configurations, _, err := scheduler.UnmarshalSchedulerConf(configuration)
	require.NoError(c.t, err)
	ssn := framework.OpenSession(c.cache, tiers, configurations)
	for _, action := range actions {
		action.Execute(ssn)
	}
	requireConsistent(c.t, ssn.Jobs, ssn.Nodes)
	framework.CloseSession(ssn)
}
