// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"
)

// The plugin relies on the order in which the actions of Volcano call plugins, which Volcano documents nowhere: phase reports
// allocate from other actions by it, nominations stand in a pod between two calls, and stand-ins are shown between two others.
// Here the actions run without the plugin and what they call is compared with what the plugin expects. If one of these tests
// fails after an upgrade of Volcano, packages nominate, job (BestEffortRequests) and preempt must be looked at.

// calls are what an action calls, in its order. Predicates of one task, which are called in parallel, are one call.
type calls struct {
	mu    sync.Mutex
	made  []string
	asked string   // the task whose predicates are called
	nodes []string // for these nodes
}

func (c *calls) add(format string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	c.made = append(c.made, fmt.Sprintf(format, values...))
}

func (c *calls) predicate(task, node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked != task {
		c.flush()
	}
	if c.asked = task; !slices.Contains(c.nodes, node) {
		c.nodes = append(c.nodes, node)
	}
}

func (c *calls) flush() {
	if c.asked != "" {
		slices.Sort(c.nodes)
		c.made = append(c.made, "predicate "+c.asked+": "+strings.Join(c.nodes, " "))
	}
	c.asked, c.nodes = "", nil
}

// record adds each call of a session; victims are what shuffle has to evict.
func (c *calls) record(ssn *framework.Session, victims ...string) {
	const name = "probe"
	ssn.AddJobValidFn(name, func(job any) *api.ValidateResult {
		c.add("job valid %s", jobName(job))
		return nil
	})
	ssn.AddOverusedFn(name, func(queue any) bool {
		if q, ok := queue.(*api.QueueInfo); ok {
			c.add("overused %s", q.Name)
		}
		return false
	})
	ssn.AddAllocatableFn(name, func(_ *api.QueueInfo, task *api.TaskInfo) bool {
		c.add("allocatable %s", task.Name)
		return true
	})
	ssn.AddPreemptiveFn(name, func(_, task any) bool {
		if t, ok := task.(*api.TaskInfo); ok {
			c.add("preemptive %s", t.Name)
		}
		return true
	})
	ssn.AddPrePredicateFn(name, func(task *api.TaskInfo) error {
		c.add("prepredicate %s", task.Name)
		return nil
	})
	ssn.AddPredicateFn(name, func(task *api.TaskInfo, node *api.NodeInfo) error {
		c.predicate(task.Name, node.Name)
		return nil
	})
	ssn.AddBatchNodeOrderFn(name, func(task *api.TaskInfo, nodes []*api.NodeInfo) (map[string]float64, error) {
		c.add("batch node order %s", task.Name)
		scores := map[string]float64{}
		for _, node := range nodes {
			if node.Name == "n1" {
				scores[node.Name] = 1
			}
		}
		return scores, nil
	})
	evictable := func(call string) api.EvictableFn {
		return func(_ *api.TaskInfo, candidates []*api.TaskInfo) ([]*api.TaskInfo, int) {
			c.add("%s, %d candidates", call, len(candidates))
			return candidates, util.Permit
		}
	}
	ssn.AddPreemptableFn(name, evictable("preemptable"))
	ssn.AddReclaimableFn(name, evictable("reclaimable"))
	ssn.AddVictimTasksFns(name, []api.VictimTasksFn{func(tasks []*api.TaskInfo) []*api.TaskInfo {
		c.add("victim tasks %s", taskNames(tasks))
		return slices.DeleteFunc(slices.Clone(tasks), func(task *api.TaskInfo) bool { return !slices.Contains(victims, task.Name) })
	}})
	ssn.AddHyperNodeGradientForJobFn(name, func(job *api.JobInfo, top *api.HyperNodeInfo) [][]*api.HyperNodeInfo {
		c.add("gradient for job %s", job.Name)
		return [][]*api.HyperNodeInfo{{top}}
	})
	ssn.AddHyperNodeGradientForSubJobFn(name, func(sub *api.SubJobInfo, top *api.HyperNodeInfo) [][]*api.HyperNodeInfo {
		c.add("gradient for sub job of %s", sub.Job)
		return [][]*api.HyperNodeInfo{{top}}
	})
	ssn.AddEventHandler(&framework.EventHandler{
		AllocateFunc: func(e *framework.Event) {
			c.add("on allocate %s %s %s", e.Task.Name, e.Task.NodeName, e.Task.Status)
		},
		DeallocateFunc: func(e *framework.Event) { c.add("on deallocate %s", e.Task.Name) },
	})
	ssn.AddJobPipelinedFn(name, func(job any) int {
		c.add("job pipelined %s", jobName(job))
		return util.Abstain
	})
}

func jobName(job any) string {
	if info, ok := job.(*api.JobInfo); ok {
		return info.Name
	}
	return ""
}

func taskNames(tasks []*api.TaskInfo) string {
	names := make([]string, len(tasks))
	for i, task := range tasks {
		names[i] = task.Name
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// called is what the one action of a configuration calls.
func called(t *testing.T, action string, prepare func(c *cluster), victims ...string) []string {
	t.Helper()
	var made calls
	probing(func(ssn *framework.Session) { made.record(ssn, victims...) })
	c := newPriorities(t, configuration(action, "- plugins:\n"+withProbe+"  - name: priority\n  - name: gang\n"))
	prepare(c)
	ssn := framework.OpenSession(c.cache, c.tiers, nil)
	defer framework.CloseSession(ssn)
	made.made = nil
	c.actions[0].Execute(ssn)
	made.mu.Lock()
	defer made.mu.Unlock()
	made.flush()
	return made.made
}

// Allocate calls JobValid for every job before it calls Overused for a queue; Overused before each job; Allocatable and then,
// next, PrePredicate for a task; the predicates of its nominated node and, if that will do, of no other node.
//
//	  n1      n2
//	2 CPUs  2 CPUs
func TestConformanceOfAllocate(t *testing.T) {
	require.Equal(t, []string{
		"job valid job",
		"overused default",
		"allocatable job-worker-0", "prepredicate job-worker-0", "predicate job-worker-0: n1 n2",
		"batch node order job-worker-0", "on allocate job-worker-0 n1 Allocated",
		"allocatable job-worker-1", "prepredicate job-worker-1", "predicate job-worker-1: n2",
		"on allocate job-worker-1 n2 Allocated",
		"overused default",
	}, called(t, "allocate", func(c *cluster) {
		two := plainPods("job", "worker", 2, oneCPU)
		withNomination(two[1], "n2")
		c.add(node("n1", cpus("2")), node("n2", cpus("2")), podGroup("job", 2, nil), two)
	}), "a gang that fits, one of its pods nominated")

	require.Equal(t, []string{
		"job valid job",
		"overused default",
		"allocatable job-worker-0", "prepredicate job-worker-0", "predicate job-worker-0: n1", "on allocate job-worker-0 n1 Allocated",
		"allocatable job-worker-1", "prepredicate job-worker-1",
		"job pipelined job", "on deallocate job-worker-0",
		"overused default",
	}, called(t, "allocate", func(c *cluster) {
		c.add(node("n1", cpus("1")), podGroup("job", 2, nil), plainPods("job", "worker", 2, oneCPU))
	}), "a gang that is given up")

	require.Equal(t, []string{
		"job valid job",
		"overused default",
		"gradient for job job", "gradient for sub job of ns/job",
		"allocatable job-worker-0", "prepredicate job-worker-0", "predicate job-worker-0: n1", "on allocate job-worker-0 n1 Allocated",
		"on deallocate job-worker-0", "on allocate job-worker-0 n1 Allocated",
		"on deallocate job-worker-0", "on allocate job-worker-0 n1 Allocated",
		"overused default",
	}, called(t, "allocate", func(c *cluster) {
		c.add(node("n1", cpus("2")), within(podGroup("job", 1, nil), hardMode, 1), plainPods("job", "worker", 1, oneCPU))
	}), "a hard networkTopology: each HyperNode is tried, and the best one once more")

	made := called(t, "allocate", func(c *cluster) {
		c.add(node("n1", cpus("2")), podGroup("a", 1, nil), plainPods("a", "worker", 1, oneCPU), podGroup("b", 1, nil), plainPods("b", "worker", 1, oneCPU))
	})
	require.ElementsMatch(t, []string{"job valid a", "job valid b"}, made[:2], "JobValid is called for all jobs first")
	require.Equal(t, "overused default", made[2])
	require.Equal(t, 3, count(made, "overused default"), "Overused is called before each job, and after the last one")
}

// Backfill begins with PrePredicate: it calls Allocatable for no task, and Overused for no queue.
func TestConformanceOfBackfill(t *testing.T) {
	require.Equal(t, []string{
		"job valid job",
		"prepredicate job-worker-0", "predicate job-worker-0: n1", "on allocate job-worker-0 n1 Allocated",
	}, called(t, "backfill", func(c *cluster) {
		c.add(node("n1", cpus("1")), started(podGroup("job", 1, nil)), plainPods("job", "worker", 1, nothing))
	}))
}

// contended is a node that is full with a job of low priority, two of whose pods may go, and a job that wants so many.
//
//	       n1
//	[low 0][low 1][low 2]
func contended(queueOfLow string, high int32) func(c *cluster) {
	return func(c *cluster) {
		c.add(queue("other", nil), node("n1", cpus("3")))
		c.add(inQueue(started(ranked(podGroup("low", 1, nil), "low", 1)), queueOfLow), running(plainPods("low", "task", 3, oneCPU), "n1"))
		c.add(started(ranked(podGroup("high", high, nil), "high", 9)), plainPods("high", "worker", int(high), oneCPU))
	}
}

// ofHigh is what is called for the job of high priority. Jobs and queues are passed in any order, and any of the pods of low
// priority may go.
func ofHigh(made []string) []string {
	for i := range made {
		made[i] = strings.NewReplacer("low-task-0", "low", "low-task-1", "low", "low-task-2", "low").Replace(made[i])
	}
	return slices.Compact(slices.DeleteFunc(made, func(call string) bool { return call == "job valid low" || call == "overused other" }))
}

// Preempt begins with PrePredicate of a task, and calls Allocatable afterwards. It evicts before it places the task, and calls
// JobPipelined after the last task; if the answer is no, it takes all back.
func TestConformanceOfPreempt(t *testing.T) {
	require.Equal(t, []string{
		"job valid high",
		"prepredicate high-worker-0", "predicate high-worker-0: n1", "batch node order high-worker-0", "preemptable, 3 candidates",
		"allocatable high-worker-0", "on deallocate low", "allocatable high-worker-0", "on allocate high-worker-0 n1 Pipelined",
		"job pipelined high",
	}, ofHigh(called(t, "preempt", contended("default", 1))))

	require.Equal(t, []string{
		"job valid high",
		"prepredicate high-worker-0", "predicate high-worker-0: n1", "batch node order high-worker-0", "preemptable, 3 candidates",
		"allocatable high-worker-0", "on deallocate low", "allocatable high-worker-0", "on allocate high-worker-0 n1 Pipelined",
		"prepredicate high-worker-1", "predicate high-worker-1: n1", "batch node order high-worker-1", "preemptable, 2 candidates",
		"allocatable high-worker-1", "on deallocate low", "allocatable high-worker-1", "on allocate high-worker-1 n1 Pipelined",
		"prepredicate high-worker-2", "predicate high-worker-2: n1", "batch node order high-worker-2", "preemptable, 1 candidates",
		"batch node order high-worker-2",
		"job pipelined high",
		"on deallocate high-worker-1", "on allocate low n1 Running", "on deallocate high-worker-0", "on allocate low n1 Running",
		"prepredicate high-worker-0", "predicate high-worker-0: n1", "batch node order high-worker-0", "preemptable, 0 candidates",
		"batch node order high-worker-0",
	}, ofHigh(called(t, "preempt", contended("default", 3))), "a gang that is given up, and may then preempt its own pods")
}

// Reclaim calls Overused for a queue, and Preemptive and PrePredicate for each task, but never Allocatable. It evicts before it
// places the task, and calls JobPipelined after the last task; if the answer is no, it takes all back.
func TestConformanceOfReclaim(t *testing.T) {
	require.Equal(t, []string{
		"job valid high", "overused default",
		"preemptive high-worker-0", "prepredicate high-worker-0", "predicate high-worker-0: n1", "reclaimable, 3 candidates",
		"on deallocate low", "on allocate high-worker-0 n1 Pipelined",
		"job pipelined high",
	}, ofHigh(called(t, "reclaim", contended("other", 1))))

	require.Equal(t, []string{
		"job valid high", "overused default",
		"preemptive high-worker-0", "prepredicate high-worker-0", "predicate high-worker-0: n1", "reclaimable, 3 candidates",
		"on deallocate low", "on allocate high-worker-0 n1 Pipelined",
		"preemptive high-worker-1", "prepredicate high-worker-1", "predicate high-worker-1: n1", "reclaimable, 2 candidates",
		"on deallocate low", "on allocate high-worker-1 n1 Pipelined",
		"preemptive high-worker-2", "prepredicate high-worker-2", "predicate high-worker-2: n1", "reclaimable, 1 candidates",
		"job pipelined high",
		"on deallocate high-worker-1", "on allocate low n1 Running", "on deallocate high-worker-0", "on allocate low n1 Running",
	}, ofHigh(called(t, "reclaim", contended("other", 3))), "a gang that is given up")
}

// Shuffle calls no JobValid, and evicts each victim by itself, outside of a Statement.
func TestConformanceOfShuffle(t *testing.T) {
	require.Equal(t, []string{"victim tasks low-task-0 low-task-1", "on deallocate low-task-1"}, called(t, "shuffle", func(c *cluster) {
		c.add(node("n1", cpus("2")), started(podGroup("low", 1, nil)), running(plainPods("low", "task", 2, oneCPU), "n1"))
	}, "low-task-1"))
}

func count(all []string, one string) (n int) {
	for _, each := range all {
		if each == one {
			n++
		}
	}
	return n
}
