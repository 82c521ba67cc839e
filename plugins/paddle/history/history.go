// SPDX-License-Identifier: Apache-2.0

// Package history remembers where the pods of jobs ran, and which nodes failed them. It outlives sessions and is safe for
// concurrent use. It knows no plans and no framework.Session.
package history

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/utils/lru"
	"volcano.sh/volcano/pkg/scheduler/api"
)

const (
	// maxJobs is how many jobs are remembered: beyond it, the one that was used least recently is forgotten.
	maxJobs = 10_000
	// maxFailedNodes is how many nodes are remembered that failed one job.
	maxFailedNodes = 16
	// prunedPods is how many names of pods a job may have beyond twice its pods, before those of other pods are forgotten.
	prunedPods = 16
)

// Record is what is remembered of a job.
type Record struct {
	// Nodes are the nodes on which pods were last placed, by the pods' names.
	Nodes map[string]string
	// FailedNodes are nodes on which a pod failed since one last succeeded, the latest last.
	FailedNodes []string
}

// History is what outlives sessions about where jobs ran, by the job's UID (namespace and name of its PodGroup, which a
// Volcano Job keeps when it starts again, as it keeps its pods' names). It is safe for concurrent use.
type History struct {
	watching atomic.Bool

	mu   sync.Mutex
	jobs *lru.Cache // of *Record, by api.JobID
}

// New returns an empty history.
func New() *History { return &History{jobs: lru.New(maxJobs)} }

// Get returns a copy of what is remembered of a job, and false if nothing is.
func (h *History) Get(job api.JobID) (Record, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.record(job)
	if r == nil {
		return Record{}, false
	}
	return Record{Nodes: maps.Clone(r.Nodes), FailedNodes: slices.Clone(r.FailedNodes)}, true
}

// record returns the record of a job, nil if there is none.
func (h *History) record(job api.JobID) *Record {
	found, _ := h.jobs.Get(job)
	r, _ := found.(*Record)
	return r
}

// newRecord returns the record of a job, an empty one if there is none.
func (h *History) newRecord(job api.JobID) *Record {
	r := h.record(job)
	if r == nil {
		r = &Record{Nodes: map[string]string{}}
		h.jobs.Add(job, r)
	}
	return r
}

// knows reports whether anything is remembered of a job.
func (h *History) knows(job api.JobID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.record(job) != nil
}

// recordPlacement records where a pod was placed.
func (h *History) recordPlacement(job api.JobID, pod, node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newRecord(job).Nodes[pod] = node
}

// prune forgets pods that a job no longer has, if they outnumber those that it has: pods of some controllers get new names
// each time.
func (h *History) prune(job *api.JobInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.record(job.UID)
	if r == nil || len(r.Nodes) <= 2*len(job.Tasks)+prunedPods {
		return
	}
	names := make(map[string]bool, len(job.Tasks))
	for _, task := range job.Tasks {
		names[task.Name] = true
	}
	maps.DeleteFunc(r.Nodes, func(name, _ string) bool { return !names[name] })
}

// RecordFailure records that a pod failed on a node.
func (h *History) RecordFailure(job api.JobID, node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.newRecord(job)
	r.FailedNodes = append(slices.DeleteFunc(r.FailedNodes, func(name string) bool { return name == node }), node)
	if len(r.FailedNodes) > maxFailedNodes {
		r.FailedNodes = slices.Delete(r.FailedNodes, 0, 1)
	}
}

// recordSuccess forgets the nodes on which pods of a job failed.
func (h *History) recordSuccess(job api.JobID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.record(job); r != nil {
		r.FailedNodes = nil
	}
}
