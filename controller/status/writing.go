// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// How long a change that tells no new story may wait to be written together with the next ones.
const (
	// stepsDelay is of a gang's steps on its way to Running.
	stepsDelay = 5 * time.Second
	// countsDelay is of messages and of numbers of pods.
	countsDelay = 20 * time.Second
	// reasonsDelay is of why a gang is not placed, which passes by itself mostly.
	reasonsDelay = 30 * time.Second
	// passingDelay is of why a gang that is placed does not run yet, and of a job that is about to end.
	passingDelay = time.Minute
)

// Delay is how long a change may wait for more of them, 0 if it is news, and whether it tells no story at all but only brings
// up to date what was told.
func Delay(before, after *v1.PaddleJobStatus) (wait time.Duration, refresh bool) {
	a, b := before.DeepCopy(), after.DeepCopy()
	both := func(change func(*v1.PaddleJobStatus)) bool {
		change(a)
		change(b)
		return equality.Semantic.DeepEqual(a, b)
	}
	if both(ignoreMessages) {
		return countsDelay, true
	}
	// That the queue has let the gang in is nearly always followed by its being placed.
	same := both(ignore(v1.ConditionAdmitted))
	onItsWay := (starts(before.Phase) || before.Phase == v1.Restarting) && starts(after.Phase)
	switch {
	case same && !onItsWay && idle(after.Worker):
		return passingDelay, true
	case same:
		return countsDelay, true
	case !onItsWay:
		return 0, false
	case both(ignore(v1.ConditionRunning)):
		return passingDelay, true
	case both(ignoreWhyNotPlaced):
		return reasonsDelay, true
	}
	a.Phase = b.Phase
	if both(ignore(v1.ConditionScheduled)) {
		return stepsDelay, false
	}
	return 0, false
}

// idle says whether all pods of a role have ended.
func idle(role *v1.ResourceStatus) bool {
	return role != nil && role.Pending+role.Starting+role.Running == 0
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

// starts says whether a job in this phase is on its way to Running.
func starts(phase v1.Phase) bool { return phase == v1.Pending || phase == v1.Starting }
