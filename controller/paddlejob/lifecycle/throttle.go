// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
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
	onItsWay := (starts(before.Phase) || before.Phase == v1.Restarting) && starts(after.Phase)
	switch {
	case newReason(before, after) || !equality.Semantic.DeepEqual(news(before, onItsWay), news(after, onItsWay)):
		return 0
	case columns(before) != columns(after):
		return columnsDelay
	}
	return textDelay
}

// news is the part of a status whose change is written at once. The condition Ready repeats others, and the queue's admission is
// nearly always followed by the placement. A job that is on its way to Running is soon written anyway.
func news(status *v1.PaddleJobStatus, onItsWay bool) *v1.PaddleJobStatus {
	status = status.DeepCopy()
	status.PS, status.Worker, status.Heter = nil, nil, nil
	dropped := []string{v1.ConditionReady, v1.ConditionAdmitted}
	if onItsWay {
		status.Phase = v1.Starting
		dropped = append(dropped, v1.ConditionScheduled, v1.ConditionRunning)
	}
	for _, kind := range dropped {
		meta.RemoveStatusCondition(&status.Conditions, kind)
	}
	for i := range status.Conditions {
		status.Conditions[i].Message = ""
	}
	return status
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

// columns are what kubectl get shows and is no news: the phase, whether the gang is placed, and the counts of pods.
func columns(status *v1.PaddleJobStatus) (all [5]string) {
	all[0] = string(status.Phase)
	if meta.IsStatusConditionTrue(status.Conditions, v1.ConditionScheduled) {
		all[4] = v1.ConditionScheduled
	}
	for i, role := range []*v1.ResourceStatus{status.PS, status.Worker, status.Heter} {
		if role != nil {
			all[i+1] = role.Ready
		}
	}
	return all
}

// starts reports whether a job in this phase is on its way to Running.
func starts(phase v1.Phase) bool { return phase == v1.Pending || phase == v1.Starting }
