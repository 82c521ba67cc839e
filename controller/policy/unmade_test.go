// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestUnmade(t *testing.T) {
	t.Parallel()
	told := []string{"SyncJob"}
	for waited, want := range map[time.Duration]gist{
		0:                              {lookAgain: 2 * time.Minute},
		119 * time.Second:              {lookAgain: time.Second},
		2 * time.Minute:                {does: told, lookAgain: CommandPeriod},
		2*time.Minute + CommandPeriod:  {lookAgain: 8*time.Minute - CommandPeriod},
		10 * time.Minute:               {does: told, lookAgain: CommandPeriod},
		10*time.Minute + CommandPeriod: {lookAgain: 10*time.Minute - CommandPeriod},
		60 * time.Minute:               {does: told, lookAgain: CommandPeriod},
	} {
		plan := Decide(created(t, vcbatch.Pending, func(v *view.View) {
			v.Now = seenAt
			v.UnmadeSince = seenAt.Add(-waited)
		}), config)
		plan.Missing = nil
		require.Equal(t, want, gistOf(plan), waited)
	}
	for waited, want := range map[time.Duration]gist{
		4 * time.Minute: {lookAgain: time.Minute},
		5 * time.Minute: {does: []string{"delete Volcano Job job"}, waiting: ReasonReplacing},
	} {
		plan := Decide(created(t, "", func(v *view.View) {
			v.Now = seenAt
			v.UnmadeSince = seenAt.Add(-waited)
		}), config)
		plan.Missing = nil
		require.Equal(t, want, gistOf(plan), "Volcano knows nothing of it, after %s", waited)
	}
	made := Decide(created(t, vcbatch.Pending), config)
	require.Zero(t, made.LookAgain)
}
