// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// waiter is the PodGroup of a job, whose name is that of the job and its UID.
func waiter(namespace, name string, minute int, class string, phase vcscheduling.PodGroupPhase) *vcscheduling.PodGroup {
	return &vcscheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name + "-uid", Labels: map[string]string{v1.JobNameLabel: name},
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)),
		},
		Spec:   vcscheduling.PodGroupSpec{Queue: "research", PriorityClassName: class},
		Status: vcscheduling.PodGroupStatus{Phase: phase},
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	q := &Queues{
		Classes: []*schedulingv1.PriorityClass{
			{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 9}, {ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 5, GlobalDefault: true},
			{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: 1},
		},
		Groups: []*vcscheduling.PodGroup{
			waiter("b", "runs", 0, "high", vcscheduling.PodGroupRunning), waiter("a", "low", 1, "low", vcscheduling.PodGroupInqueue),
			waiter("a", "old", 2, "", vcscheduling.PodGroupPending), waiter("a", "equal", 3, "usual", ""),
			waiter("b", "equal", 3, "", vcscheduling.PodGroupPending), waiter("b", "high", 4, "high", vcscheduling.PodGroupPending),
			waiter("b", "other-queue", 0, "high", vcscheduling.PodGroupPending), waiter("b", "goes", 0, "high", vcscheduling.PodGroupPending),
		},
	}
	q.Groups[6].Spec.Queue = "other"
	q.Groups[7].DeletionTimestamp = &metav1.Time{}
	want := map[string]string{"b/high": "0", "a/old": "1", "a/equal": "2", "b/equal": "3", "a/low": "4", "b/other-queue": "0"}
	require.Equal(t, want, q.Positions(), "those that run or are deleted have none")
	q.Groups = append(q.Groups, waiter("a", "old", 5, "low", vcscheduling.PodGroupPending))
	require.Equal(t, "5", q.Positions()["a/old"], "of two PodGroups of a job, the last one counts")
	q.Partial = true
	require.Equal(t, "2+", q.Positions()["a/equal"])
}
