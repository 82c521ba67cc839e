// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
)

func TestStatusOfARestoredJob(t *testing.T) {
	t.Parallel()
	gone := seen("")
	gone.VolcanoJob, gone.PodGroup = nil, nil
	for end, want := range map[v1.Phase]map[string]string{
		v1.Completed: {"Stalled": "False Proceeding", "Running": "False Completed", "Succeeded": "True Restored"},
		v1.Failed:    {"Stalled": "False Proceeding", "Running": "False Failed", "Failed": "True Restored"},
	} {
		status := at(0, gone, policy.Plan{RestoredPhase: end, RestoredMessage: "it had ended"})
		require.Equal(t, end, status.Phase)
		require.Equal(t, want, conditionsOf(status))
		require.Nil(t, status.StartTime)
		require.Equal(t, &metav1.Time{Time: now}, status.CompletionTime)
		kind := map[v1.Phase]string{v1.Completed: v1.ConditionSucceeded, v1.Failed: v1.ConditionFailed}[end]
		require.Equal(t, "it had ended", meta.FindStatusCondition(status.Conditions, kind).Message)
		events := Events(&v1.PaddleJobStatus{}, status, nil)
		require.Len(t, events, 1)
		require.Equal(t, "it had ended", events[0].Message)
	}
}
