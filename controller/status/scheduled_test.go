// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

func TestWhatTheSchedulerSaysIsShortenedToTheReason(t *testing.T) {
	group := func(message string) *vcscheduling.PodGroup {
		return &vcscheduling.PodGroup{Status: vcscheduling.PodGroupStatus{Conditions: []vcscheduling.PodGroupCondition{
			{Type: vcscheduling.PodGroupScheduled, Status: corev1.ConditionTrue, Message: "tasks in gang are ready"},
			{Type: vcscheduling.PodGroupUnschedulableType, Status: corev1.ConditionTrue, Message: message},
		}}}
	}
	for name, c := range map[string]struct {
		group *vcscheduling.PodGroup
		want  string
	}{
		"no PodGroup": {nil, ""},
		"a reason": {group("1/7 tasks in gang unschedulable: pod group is not ready, 7 Pending, 7 minAvailable. " +
			"Origin reason is: gang not started: 2 of 2 servers have room"), ": gang not started: 2 of 2 servers have room"},
		"a pod's": {group("3/3 tasks in gang unschedulable: 3 Pending. Origin reason is task-6: 0/3 nodes are unavailable"),
			": task-6: 0/3 nodes are unavailable"},
		"no reason":       {group("7/7 tasks in gang unschedulable"), ": 7/7 tasks in gang unschedulable"},
		"an empty reason": {group("7 Pending. Origin reason is: "), ": 7 Pending. Origin reason is: "},
		"not said":        {group(""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, unschedulable(c.group, ": "))
		})
	}
}
