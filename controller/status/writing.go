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
	countsDelay = 2 * time.Second
	textsDelay  = 15 * time.Second
)

// Delay is how long a change may wait for more of them: not at all if the phase, a condition or anything else moved, a
// moment if only pods were counted anew or the queue has let the gang in, and longer if only the text of a condition is another.
func Delay(before, after *v1.PaddleJobStatus) time.Duration {
	a, b := before.DeepCopy(), after.DeepCopy()
	for i := range a.Conditions {
		a.Conditions[i].Message = ""
	}
	for i := range b.Conditions {
		b.Conditions[i].Message = ""
	}
	if equality.Semantic.DeepEqual(a, b) {
		return textsDelay
	}
	// That the queue has let the gang in is nearly always followed by its being placed.
	a.Conditions, b.Conditions = butAdmitted(a.Conditions), butAdmitted(b.Conditions)
	a.PS, a.Worker, a.Heter, b.PS, b.Worker, b.Heter = nil, nil, nil, nil, nil, nil
	if equality.Semantic.DeepEqual(a, b) {
		return countsDelay
	}
	return 0
}

func butAdmitted(conditions []metav1.Condition) []metav1.Condition {
	return slices.DeleteFunc(conditions, func(c metav1.Condition) bool { return c.Type == v1.ConditionAdmitted })
}
