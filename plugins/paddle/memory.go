// SPDX-License-Identifier: Apache-2.0

package paddle

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
	maxPasts       = 10_000
	maxPastPods    = 200_000 // of all jobs
	maxFailedNodes = 16      // of one job
)

// past is what is remembered of a job.
type past struct {
	seen   uint64            // when, in no unit: more is later
	nodes  map[string]string // the node of each pod, by its name, when it was last placed
	failed []string          // nodes on which a pod failed since the job last succeeded, the latest last
}

// memory is what outlives sessions about where jobs ran, by the job's UID (namespace and name of its PodGroup, which a
// Volcano Job keeps when it starts again, as it keeps its pods' names). It is safe for concurrent use.
type memory struct {
	watching atomic.Bool

	mu    sync.Mutex
	clock uint64
	pasts map[api.JobID]*past
	pods  int // in all pasts
}

func newMemory() *memory { return &memory{pasts: map[api.JobID]*past{}} }

// recall gives a copy of what is remembered of a job.
func (m *memory) recall(job api.JobID) (past, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pasts[job] == nil {
		return past{}, false
	}
	have := m.touch(job)
	return past{nodes: maps.Clone(have.nodes), failed: slices.Clone(have.failed)}, true
}

// knows tells whether anything is remembered of a job.
func (m *memory) knows(job api.JobID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pasts[job] != nil
}

// placed notes where a pod was placed.
func (m *memory) placed(job api.JobID, pod, node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	have := m.touch(job)
	before := len(have.nodes)
	have.nodes[pod] = node
	m.pods += len(have.nodes) - before
	m.forget()
}

// prune forgets pods that a job has no more, where these outnumber those that it has: pods of some controllers have new
// names each time.
func (m *memory) prune(job *api.JobInfo) {
	const few = 16
	m.mu.Lock()
	defer m.mu.Unlock()
	have := m.pasts[job.UID]
	if have == nil || len(have.nodes) <= 2*len(job.Tasks)+few {
		return
	}
	names := make(map[string]bool, len(job.Tasks))
	for _, task := range job.Tasks {
		names[task.Name] = true
	}
	before := len(have.nodes)
	maps.DeleteFunc(have.nodes, func(name, _ string) bool { return !names[name] })
	m.pods += len(have.nodes) - before
}

// failed notes that a pod failed on a node.
func (m *memory) failed(job api.JobID, node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	have := m.touch(job)
	have.failed = append(slices.DeleteFunc(have.failed, func(name string) bool { return name == node }), node)
	if len(have.failed) > maxFailedNodes {
		have.failed = slices.Delete(have.failed, 0, 1)
	}
	m.forget()
}

// succeeded forgets the nodes on which pods of a job failed.
func (m *memory) succeeded(job api.JobID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if have := m.pasts[job]; have != nil {
		have.failed = nil
	}
}

// touch is the past of a job that is seen now.
func (m *memory) touch(job api.JobID) *past {
	have := m.pasts[job]
	if have == nil {
		have = &past{nodes: map[string]string{}}
		m.pasts[job] = have
	}
	m.clock++
	have.seen = m.clock
	return have
}

// forget keeps the bounds.
func (m *memory) forget() {
	if len(m.pasts) <= maxPasts && m.pods <= maxPastPods {
		return
	}
	jobs := slices.SortedFunc(maps.Keys(m.pasts), func(a, b api.JobID) int {
		return cmp.Compare(m.pasts[a].seen, m.pasts[b].seen)
	})
	for _, job := range jobs[:len(jobs)-1] {
		if len(m.pasts) <= maxPasts*9/10 && m.pods <= maxPastPods*9/10 {
			return
		}
		m.pods -= len(m.pasts[job].nodes)
		delete(m.pasts, job)
	}
}
