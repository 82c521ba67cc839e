// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// How long after a change that is no news the status is written, with whatever has changed until then.
const (
	// columnsDelay is of what kubectl get shows. It is never more than 10 seconds behind the pods, whose changes are gathered
	// for a second before they are looked at.
	columnsDelay = 8 * time.Second
	// textDelay is of everything else: messages, reasons that nearly every gang has for a moment, and how many of the pods that do
	// not run wait. A thousand jobs that wait together change their messages with each scheduling session.
	textDelay = time.Minute
)

// Delay returns how long a change of the status may wait for more of them, 0 if it is news.
func Delay(before, after *v1.PaddleJobStatus) time.Duration {
	a, b := before.DeepCopy(), after.DeepCopy()
	for _, status := range []*v1.PaddleJobStatus{a, b} { // what it says is in the others
		meta.RemoveStatusCondition(&status.Conditions, v1.ConditionReady)
	}
	both := func(change func(*v1.PaddleJobStatus)) bool {
		change(a)
		change(b)
		return equality.Semantic.DeepEqual(a, b)
	}
	if newReason(before, after) {
		return 0
	}
	onItsWay := (starts(before.Phase) || before.Phase == v1.Restarting) && starts(after.Phase)
	switch {
	// That the queue has admitted the gang is nearly always followed by its being placed.
	case both(ignoreMessages), both(ignore(v1.ConditionAdmitted)),
		onItsWay && (both(ignore(v1.ConditionRunning)) || both(ignoreWhyNotPlaced)):
		if columns(before) == columns(after) {
			return textDelay
		}
		return columnsDelay
	case !onItsWay:
		return 0
	}
	a.Phase = b.Phase
	if both(ignore(v1.ConditionScheduled)) {
		return columnsDelay
	}
	return 0
}

// newReason reports whether the status gives another reason for which the gang waits or does not start, unless nearly every
// gang has that reason for a moment.
func newReason(before, after *v1.PaddleJobStatus) bool {
	for _, kind := range []string{v1.ConditionScheduled, v1.ConditionRunning} {
		is := meta.FindStatusCondition(after.Conditions, kind)
		if is == nil || is.Status != metav1.ConditionFalse || !IsWaitingReason(is.Reason) || isTransientReason(is.Reason) {
			continue
		}
		if was := meta.FindStatusCondition(before.Conditions, kind); was == nil || was.Reason != is.Reason {
			return true
		}
	}
	return false
}

// columns are the counts that kubectl get shows; what else it shows is news.
func columns(status *v1.PaddleJobStatus) (ready [3]string) {
	for i, role := range []*v1.ResourceStatus{status.PS, status.Worker, status.Heter} {
		if role != nil {
			ready[i] = role.Ready
		}
	}
	return ready
}

func ignoreMessages(status *v1.PaddleJobStatus) {
	for i := range status.Conditions {
		status.Conditions[i].Message = ""
	}
}

func ignoreWhyNotPlaced(status *v1.PaddleJobStatus) {
	if c := meta.FindStatusCondition(status.Conditions, v1.ConditionScheduled); c != nil && c.Status == metav1.ConditionFalse {
		c.Reason = ""
	}
}

// ignore takes a condition and the counts of pods out of a status.
func ignore(kind string) func(*v1.PaddleJobStatus) {
	return func(status *v1.PaddleJobStatus) {
		status.PS, status.Worker, status.Heter = nil, nil, nil
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	}
}

// starts reports whether a job in this phase is on its way to Running.
func starts(phase v1.Phase) bool { return phase == v1.Pending || phase == v1.Starting }
