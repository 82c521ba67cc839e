// SPDX-License-Identifier: Apache-2.0

package nominate

import "volcano.sh/volcano/pkg/scheduler/api"

// ActionTracker finds out whether allocate calls the plugin, because all actions call the same extension points and only
// allocate may see a nomination.
//
// allocate calls Allocatable for a task and then PrePredicate for the same one. backfill, preempt and reclaim begin with
// PrePredicate. Each action but shuffle, which calls neither, begins with JobValid (pkg/scheduler/actions).
type ActionTracker struct {
	allocatable api.TaskID // the last task of Allocatable
	other       bool       // an action other than allocate runs
}

// JobValid is called at JobValid, where an action may begin.
func (t *ActionTracker) JobValid() { *t = ActionTracker{} }

// Allocatable is called at Allocatable.
func (t *ActionTracker) Allocatable(task api.TaskID) { t.allocatable = task }

// InAllocate is called at PrePredicate and reports whether allocate has called it.
func (t *ActionTracker) InAllocate(task api.TaskID) bool {
	t.other = t.other || t.allocatable != task // preempt calls Allocatable after PrePredicate
	t.allocatable = ""
	return !t.other
}

// OtherAction reports whether an action other than allocate is known to run. It may then call the plugin from several
// goroutines.
func (t *ActionTracker) OtherAction() bool { return t.other }
