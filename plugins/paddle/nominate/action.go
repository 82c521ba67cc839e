// SPDX-License-Identifier: Apache-2.0

package nominate

import "volcano.sh/volcano/pkg/scheduler/api"

// actionTracker finds out whether allocate calls the plugin, because all actions call the same extension points and only
// allocate may see a nomination.
//
// allocate calls Allocatable for a task and then PrePredicate for the same one. backfill, preempt and reclaim begin with
// PrePredicate. Each action but shuffle, which calls neither, begins with JobValid (pkg/scheduler/actions).
type actionTracker struct {
	allocatable api.TaskID // the last task of Allocatable
	other       bool       // an action other than allocate runs
}

// jobValid is called at JobValid, where an action may begin.
func (t *actionTracker) jobValid() { *t = actionTracker{} }

// inAllocate is called at PrePredicate and reports whether allocate has called it.
func (t *actionTracker) inAllocate(task api.TaskID) bool {
	t.other = t.other || t.allocatable != task // preempt calls Allocatable after PrePredicate
	t.allocatable = ""
	return !t.other
}
