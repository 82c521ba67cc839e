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
func TestCommandTracker(t *testing.T) {
	t.Parallel()
	s := NewCommandTracker()
	require.Zero(t, s.UnacknowledgedFor("a", at(0)))
	s.Sent("a", at(0))
	s.Sent("a", at(100))
	require.Equal(t, 160*time.Second, s.UnacknowledgedFor("a", at(160)))
	require.Equal(t, 220*time.Second, s.UnacknowledgedFor("a", at(220)))
	require.Zero(t, s.UnacknowledgedFor("a", at(221)), "it is over")
	s.Sent("a", at(300))
	require.Equal(t, 10*time.Second, s.UnacknowledgedFor("a", at(310)), "another has begun")
	s.Sent("b", at(300))
	s.Forget("b")
	require.Zero(t, s.UnacknowledgedFor("b", at(310)))
	s.ForgetAbout("a")
	require.Empty(t, s.seen)
}
