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
		0:                              {lookAgain: EventsAfter},
		4 * time.Second:                {lookAgain: time.Second},
		EventsAfter:                    {lookAgain: EventsPeriod},
		119 * time.Second:              {lookAgain: time.Second},
		2 * time.Minute:                {does: told, lookAgain: CommandPeriod},
		2*time.Minute + CommandPeriod:  {lookAgain: EventsPeriod},
		10 * time.Minute:               {does: told, lookAgain: CommandPeriod},
		10*time.Minute + CommandPeriod: {lookAgain: EventsPeriod},
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
		4 * time.Minute: {lookAgain: EventsPeriod},
		5 * time.Minute: {does: []string{"delete Volcano Job job"}, waiting: ReasonReplacing, lookAgain: EventsPeriod},
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
