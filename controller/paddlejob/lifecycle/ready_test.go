// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func TestReadyIsTheSummary(t *testing.T) {
	t.Parallel()
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	type conditions map[string]metav1.ConditionStatus
	for name, tc := range map[string]struct {
		of   conditions
		is   metav1.ConditionStatus
		from string
	}{
		"running":            {conditions{v1.ConditionCreated: yes, v1.ConditionScheduled: yes, v1.ConditionRunning: yes}, yes, v1.ConditionRunning},
		"succeeded":          {conditions{v1.ConditionRunning: no, v1.ConditionSucceeded: yes}, yes, v1.ConditionSucceeded},
		"failed":             {conditions{v1.ConditionRunning: no, v1.ConditionFailed: yes}, no, v1.ConditionFailed},
		"stalled":            {conditions{v1.ConditionStalled: yes, v1.ConditionCreated: no}, no, v1.ConditionStalled},
		"suspended":          {conditions{v1.ConditionStalled: no, v1.ConditionSuspended: yes, v1.ConditionRunning: no}, no, v1.ConditionSuspended},
		"not created":        {conditions{v1.ConditionStalled: no, v1.ConditionCreated: no, v1.ConditionScheduled: no}, no, v1.ConditionCreated},
		"not admitted":       {conditions{v1.ConditionCreated: yes, v1.ConditionAdmitted: no, v1.ConditionScheduled: no}, no, v1.ConditionScheduled},
		"not scheduled":      {conditions{v1.ConditionAdmitted: yes, v1.ConditionScheduled: no, v1.ConditionRunning: no}, no, v1.ConditionScheduled},
		"restarting, placed": {conditions{v1.ConditionScheduled: yes, v1.ConditionRestarting: yes, v1.ConditionRunning: no}, no, v1.ConditionRestarting},
		"starting":           {conditions{v1.ConditionScheduled: yes, v1.ConditionRestarting: no, v1.ConditionRunning: no}, no, v1.ConditionRunning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := &v1.PaddleJobStatus{}
			for kind, status := range tc.of {
				next.Conditions = append(next.Conditions, metav1.Condition{Type: kind, Status: status, Reason: "Because" + kind, Message: kind + " says why"})
			}
			setter := &conditionSetter{next: next, obs: &observed.State{Job: &v1.PaddleJob{}}, now: time.Unix(1, 0)}
			setter.ready()
			c := meta.FindStatusCondition(next.Conditions, v1.ConditionReady)
			require.NotNil(t, c)
			require.Equal(t, []string{string(tc.is), "Because" + tc.from, tc.from + " says why"}, []string{string(c.Status), c.Reason, c.Message})
		})
	}
}
