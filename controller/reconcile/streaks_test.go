// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Commands that were needed once, and are not any more, say nothing of a Volcano Job that has been as it is for long.
func TestStreaks(t *testing.T) {
	t.Parallel()
	s := newStreaks()
	require.Zero(t, s.length("a", at(0)))
	s.add("a", at(0))
	s.add("a", at(100))
	require.Equal(t, 160*time.Second, s.length("a", at(160)))
	require.Equal(t, 220*time.Second, s.length("a", at(220)))
	require.Zero(t, s.length("a", at(221)), "it is over")
	s.add("a", at(300))
	require.Equal(t, 10*time.Second, s.length("a", at(310)), "another has begun")
	s.add("b", at(300))
	s.forget("b")
	require.Zero(t, s.length("b", at(310)))
	s.forgetAbout("a")
	require.Empty(t, s.seen)
}
