// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Queue places jobs by a rule. Which job is asked for and when is what Volcano 1.14.1 does with one queue without a quota (actions
// enqueue and allocate; plugins gang, drf and proportion):
//
//   - Jobs are in the order of their creation in whole seconds, then of their names.
//   - A job is enqueued if what it asks for fits into what the cluster has, less what jobs hold and what enqueued jobs ask for. It is
//     enqueued until the session after the one that has placed it, which Volcano lets it become Running in: in that session it counts
//     twice. A job that is not enqueued does not hold up those behind it.
//   - Each enqueued job is tried in each session.
//
// A test compares it with Volcano.
type Queue struct {
	cluster     *Cluster
	rule        Rule
	total, held cluster.Amounts
	waiting     []waiting
	placed      map[int]Placement // by the job's ID
	// recent are the jobs that the last session has placed.
	recent []*workload.Job
}

type waiting struct {
	*workload.Job
	enqueued bool
}

// NewQueue returns a queue without jobs.
func NewQueue(c *Cluster, rule Rule) *Queue {
	return &Queue{cluster: c, rule: rule, total: c.sum(c.tree[root][0]), placed: map[int]Placement{}}
}

// Add puts a job into the queue.
func (q *Queue) Add(job *workload.Job) { q.waiting = append(q.waiting, waiting{Job: job}) }

// Session tries each enqueued job once.
func (q *Queue) Session() error {
	slices.SortFunc(q.waiting, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.Name, b.Name))
	})
	var promised cluster.Amounts
	for _, job := range q.recent {
		promised = promised.Plus(job.Demand())
	}
	q.recent = nil
	for i := range q.waiting {
		if q.waiting[i].enqueued {
			promised = promised.Plus(q.waiting[i].Demand())
		}
	}
	for i := range q.waiting {
		w := &q.waiting[i]
		if demand := w.Demand(); !w.enqueued && within(q.held.Plus(promised).Plus(demand), q.total, demand) {
			w.enqueued = true
			promised = promised.Plus(demand)
		}
	}
	var left []waiting
	for _, w := range q.waiting {
		placed := false
		if w.enqueued {
			at, err := q.rule(q.cluster, w.Job)
			if err == nil && at != nil {
				placed, err = true, q.place(w.Job, at)
			}
			if err != nil {
				return fmt.Errorf("place job %s: %w", w.Name, err)
			}
		}
		if !placed {
			left = append(left, w)
		}
	}
	q.waiting = left
	return nil
}

// within reports whether a sum is at most the total, in the resources that a demand has.
func within(sum, total, demand cluster.Amounts) bool {
	return (demand.CPU == 0 || sum.CPU <= total.CPU) && (demand.Memory == 0 || sum.Memory <= total.Memory) &&
		(demand.GPU == 0 || sum.GPU <= total.GPU)
}

// place lets a job hold hosts.
func (q *Queue) place(job *workload.Job, at Placement) error {
	if len(at) != len(job.Roles) {
		return fmt.Errorf("%d roles are placed, of %d", len(at), len(job.Roles))
	}
	for r := range job.Roles {
		role := &job.Roles[r]
		if len(at[r]) != role.Pods {
			return fmt.Errorf("%d pods of role %s are placed, of %d", len(at[r]), role.Task, role.Pods)
		}
		for _, h := range at[r] {
			if fit(q.cluster.Free[h], role.Request) == 0 {
				return fmt.Errorf("host %s has no capacity for a pod of role %s", q.cluster.Fleet[h].Name, role.Task)
			}
			q.cluster.Free[h] = q.cluster.Free[h].Minus(role.Request)
		}
	}
	q.held = q.held.Plus(job.Demand())
	q.placed[job.ID] = at
	q.recent = append(q.recent, job)
	traffic, err := q.cluster.Network.At(job, at)
	if err != nil {
		return err
	}
	q.cluster.Running = append(q.cluster.Running, Running{Job: job, Traffic: traffic})
	return nil
}

// Bound returns the host of each pod of a placed job, by the pod's name.
func (q *Queue) Bound(job *workload.Job) map[string]string {
	return q.cluster.Named(job, q.placed[job.ID])
}

// Named returns the host of each pod of a placement, by the pod's name.
func (c *Cluster) Named(job *workload.Job, at Placement) map[string]string {
	bound := map[string]string{}
	for r, hosts := range at {
		for i, h := range hosts {
			bound[job.PodName(job.Roles[r].Task, i)] = c.Fleet[h].Name
		}
	}
	return bound
}

// Remove removes a placed job.
func (q *Queue) Remove(job *workload.Job) {
	for r, hosts := range q.placed[job.ID] {
		for _, h := range hosts {
			q.cluster.Free[h] = q.cluster.Free[h].Plus(job.Roles[r].Request)
		}
	}
	q.held = q.held.Minus(job.Demand())
	delete(q.placed, job.ID)
	q.recent = slices.DeleteFunc(q.recent, func(r *workload.Job) bool { return r == job })
	q.cluster.Running = slices.DeleteFunc(q.cluster.Running, func(r Running) bool { return r.Job == job })
}
