// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// How long a change that tells no new story may wait to be written together with the next ones.
const (
	stepsDelay = 5 * time.Second
	textsDelay = 15 * time.Second
)

// Delay is how long a change may wait for more of them. Longest wait the text of a condition, and of a gang that does not run
// yet what is neither its phase nor why it is not placed; those, and the counts of one that runs, wait a moment; all else is
// news.
func Delay(before, after *v1.PaddleJobStatus) time.Duration {
	a, b := before.DeepCopy(), after.DeepCopy()
	for _, status := range []*v1.PaddleJobStatus{a, b} {
		for i := range status.Conditions {
			status.Conditions[i].Message = ""
		}
	}
	if equality.Semantic.DeepEqual(a, b) {
		return textsDelay
	}
	onItsWay := (starts(before.Phase) || before.Phase == v1.Restarting) && starts(after.Phase)
	// That the queue has let the gang in is nearly always followed by its being placed.
	ignore(a, v1.ConditionAdmitted)
	ignore(b, v1.ConditionAdmitted)
	if !onItsWay {
		if equality.Semantic.DeepEqual(a, b) {
			return stepsDelay
		}
		return 0
	}
	ignore(a, v1.ConditionRunning)
	ignore(b, v1.ConditionRunning)
	if equality.Semantic.DeepEqual(a, b) {
		return textsDelay
	}
	ignore(a, v1.ConditionScheduled)
	ignore(b, v1.ConditionScheduled)
	a.Phase = b.Phase
	if equality.Semantic.DeepEqual(a, b) {
		return stepsDelay
	}
	return 0
}

// ignore takes a condition and the counts of pods out of a status.
func ignore(status *v1.PaddleJobStatus, kind string) {
	status.PS, status.Worker, status.Heter = nil, nil, nil
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
}

// starts says whether a job in this phase is on its way to Running.
func starts(phase v1.Phase) bool { return phase == v1.Pending || phase == v1.Starting }
