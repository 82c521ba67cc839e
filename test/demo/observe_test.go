// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/status"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

func TestSeenOf(t *testing.T) {
	owned := metav1.ObjectMeta{Namespace: "a", OwnerReferences: []metav1.OwnerReference{{Controller: ptr.To(true)}}}
	running := batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running, Message: "why"}}
	tests := []struct {
		name   string
		object any
		want   *seen
	}{
		{
			name: "a PaddleJob",
			object: &paddlev1.PaddleJob{
				ObjectMeta: metav1.ObjectMeta{Namespace: "a"},
				Status: paddlev1.PaddleJobStatus{
					Phase: paddlev1.Pending, Mode: paddlev1.ModePS,
					Conditions: []metav1.Condition{{
						Type: paddlev1.ConditionScheduled, Status: metav1.ConditionFalse, Reason: status.ReasonWaitingForGang, Message: "no room",
					}},
				},
			},
			want: &seen{namespace: "a", status: &Status{Mode: "PS", Phase: "Pending", Reason: "no room"}},
		},
		{
			name:   "a raw Volcano Job",
			object: &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}, Status: running},
			want:   &seen{namespace: "a", status: &Status{Mode: "Volcano Job", Phase: "Running", Reason: "why"}},
		},
		{name: "a PaddleJob's Volcano Job", object: &batchv1alpha1.Job{ObjectMeta: owned, Status: running}},
		{
			name: "a pod of a job",
			object: &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "job-ps-0", Labels: map[string]string{"volcano.sh/task-spec": "ps"}},
				Spec:       corev1.PodSpec{NodeName: "n"},
			},
			want: &seen{namespace: "a", pod: &Pod{Name: "job-ps-0", Role: "ps", Node: "n"}},
		},
		{name: "another pod", object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}},
		{name: "anything else", object: &corev1.Node{}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, seenOf(tc.object))
		})
	}
}

func TestExplanation(t *testing.T) {
	stalled := metav1.Condition{Type: paddlev1.ConditionStalled, Status: metav1.ConditionTrue, Message: "mend it"}
	going := metav1.Condition{Type: paddlev1.ConditionStalled, Status: metav1.ConditionFalse, Message: "fine"}
	failed := metav1.Condition{Type: paddlev1.ConditionFailed, Status: metav1.ConditionTrue, Message: "exited with 3"}
	waiting := func(reason string) metav1.Condition {
		return metav1.Condition{Type: paddlev1.ConditionScheduled, Status: metav1.ConditionFalse, Reason: reason, Message: "no room"}
	}
	scheduled := metav1.Condition{Type: paddlev1.ConditionScheduled, Status: metav1.ConditionTrue, Message: "placed"}
	tests := []struct {
		name       string
		conditions []metav1.Condition
		want       string
	}{
		{name: "none"},
		{name: "all is well", conditions: []metav1.Condition{going, scheduled}},
		{name: "the gang waits", conditions: []metav1.Condition{going, waiting(status.ReasonWaitingForGang)}, want: "no room"},
		{name: "the queue is full", conditions: []metav1.Condition{waiting(status.ReasonWaitingForQueue)}, want: "no room"},
		{name: "no pods", conditions: []metav1.Condition{waiting(status.ReasonWaitingForPods)}, want: "no room"},
		{name: "it has just begun to wait", conditions: []metav1.Condition{waiting("Placing")}},
		{name: "failed after it was placed", conditions: []metav1.Condition{scheduled, failed}, want: "exited with 3"},
		{name: "what the user must mend comes first", conditions: []metav1.Condition{waiting(status.ReasonWaitingForGang), failed, stalled}, want: "mend it"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, explanation(tc.conditions))
		})
	}
}

func TestNodesByName(t *testing.T) {
	labels := map[string]string{sandbox.LabelRack: "rack-7", "x": "y"}
	require.Equal(t, map[string]Node{"n": {Rack: "rack-7", Labels: labels}},
		nodesByName([]corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}}))
}
