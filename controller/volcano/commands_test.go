// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
)

func TestCommandNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "complete-uid", CommandName(vcbus.CompleteJobAction, "uid", ""))
	require.Equal(t, "resume-uid-2", CommandName(vcbus.ResumeJobAction, "uid", "2"))
	require.Equal(t, "openqueue-uid", CommandName(vcbus.OpenQueueAction, "uid", ""))
}

// Commands that were needed once, and are not any more, say nothing of a Volcano Job that has been as it is for long.
func TestUnacknowledgedCommands(t *testing.T) {
	t.Parallel()
	var c Commands
	require.Zero(t, c.UnacknowledgedFor(at(0)))
	c = c.Sent(at(0)).Sent(at(100))
	require.Equal(t, 160*time.Second, c.UnacknowledgedFor(at(160)))
	require.Equal(t, 220*time.Second, c.UnacknowledgedFor(at(220)))
	require.Zero(t, c.UnacknowledgedFor(at(221)), "it is over")
	require.Equal(t, 10*time.Second, c.Sent(at(300)).UnacknowledgedFor(at(310)), "another has begun")
}
