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

// Delay is how long a change may wait for more of them: longest if only the text of a condition is another, a moment if pods
// were counted anew or a gang that does not run yet has come a step further, and else not at all.
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
	// That the queue has let the gang in is nearly always followed by its being placed.
	steps := []string{v1.ConditionAdmitted}
	if (starts(before.Phase) || before.Phase == v1.Restarting) && starts(after.Phase) {
		steps = append(steps, v1.ConditionScheduled, v1.ConditionRunning)
		a.Phase = b.Phase
	}
	for _, status := range []*v1.PaddleJobStatus{a, b} {
		status.PS, status.Worker, status.Heter = nil, nil, nil
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c metav1.Condition) bool { return slices.Contains(steps, c.Type) })
	}
	if equality.Semantic.DeepEqual(a, b) {
		return stepsDelay
	}
	return 0
}

// starts says whether a job in this phase is on its way to Running.
func starts(phase v1.Phase) bool { return phase == v1.Pending || phase == v1.Starting }
