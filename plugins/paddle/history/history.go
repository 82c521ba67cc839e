// SPDX-License-Identifier: Apache-2.0

// Package history remembers where the pods of jobs ran, and which nodes failed them. It outlives sessions and is safe for
// concurrent use. It knows no plans and no framework.Session.
package history

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// Bounds of what is remembered. Beyond one, the jobs that were seen least recently are forgotten, a tenth at a time.
const (
	maxJobs        = 10_000
	maxPods        = 200_000 // of all jobs
	maxFailedNodes = 16      // of one job
)

// Record is what is remembered of a job.
type Record struct {
	seen uint64 // when, in no unit: more is later
	// Nodes are the nodes on which pods were last placed, by the pods' names.
	Nodes map[string]string
	// FailedNodes are nodes on which a pod failed since one last succeeded, the latest last.
	FailedNodes []string
}

// History is what outlives sessions about where jobs ran, by the job's UID (namespace and name of its PodGroup, which a
// Volcano Job keeps when it starts again, as it keeps its pods' names). It is safe for concurrent use.
type History struct {
	watching atomic.Bool

	mu    sync.Mutex
	clock uint64
	jobs  map[api.JobID]*Record
	pods  int // in all jobs
}

// New returns an empty history.
func New() *History { return &History{jobs: map[api.JobID]*Record{}} }

// Get returns a copy of what is remembered of a job, and false if nothing is.
func (h *History) Get(job api.JobID) (Record, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.jobs[job] == nil {
		return Record{}, false
	}
	have := h.markUsed(job)
	return Record{Nodes: maps.Clone(have.Nodes), FailedNodes: slices.Clone(have.FailedNodes)}, true
}

// knows reports whether anything is remembered of a job.
func (h *History) knows(job api.JobID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.jobs[job] != nil
}

// recordPlacement records where a pod was placed.
func (h *History) recordPlacement(job api.JobID, pod, node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	have := h.markUsed(job)
	before := len(have.Nodes)
	have.Nodes[pod] = node
	h.pods += len(have.Nodes) - before
	h.evictOldest()
}

// prune forgets pods that a job has no more, where these outnumber those that it has: pods of some controllers have new
// names each time.
func (h *History) prune(job *api.JobInfo) {
	const few = 16
	h.mu.Lock()
	defer h.mu.Unlock()
	have := h.jobs[job.UID]
	if have == nil || len(have.Nodes) <= 2*len(job.Tasks)+few {
		return
	}
	names := make(map[string]bool, len(job.Tasks))
	for _, task := range job.Tasks {
		names[task.Name] = true
	}
	before := len(have.Nodes)
	maps.DeleteFunc(have.Nodes, func(name, _ string) bool { return !names[name] })
	h.pods += len(have.Nodes) - before
}

// RecordFailure records that a pod failed on a node.
func (h *History) RecordFailure(job api.JobID, node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	have := h.markUsed(job)
	have.FailedNodes = append(slices.DeleteFunc(have.FailedNodes, func(name string) bool { return name == node }), node)
	if len(have.FailedNodes) > maxFailedNodes {
		have.FailedNodes = slices.Delete(have.FailedNodes, 0, 1)
	}
	h.evictOldest()
}

// recordSuccess forgets the nodes on which pods of a job failed.
func (h *History) recordSuccess(job api.JobID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if have := h.jobs[job]; have != nil {
		have.FailedNodes = nil
	}
}

// markUsed returns the record of a job that is seen now.
func (h *History) markUsed(job api.JobID) *Record {
	have := h.jobs[job]
	if have == nil {
		have = &Record{Nodes: map[string]string{}}
		h.jobs[job] = have
	}
	h.clock++
	have.seen = h.clock
	return have
}

// evictOldest keeps the bounds.
func (h *History) evictOldest() {
	if len(h.jobs) <= maxJobs && h.pods <= maxPods {
		return
	}
	jobs := slices.SortedFunc(maps.Keys(h.jobs), func(a, b api.JobID) int {
		return cmp.Compare(h.jobs[a].seen, h.jobs[b].seen)
	})
	for _, job := range jobs[:len(jobs)-1] {
		if len(h.jobs) <= maxJobs*9/10 && h.pods <= maxPods*9/10 {
			return
		}
		h.pods -= len(h.jobs[job].Nodes)
		delete(h.jobs, job)
	}
}
