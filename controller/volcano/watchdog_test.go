// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Volcano is commanded two minutes after pods are missing, for a command's period, and then every ten minutes.
func TestResyncMissingPods(t *testing.T) {
	t.Parallel()
	for waited, want := range map[time.Duration]time.Duration{
		0: 2 * time.Minute, 2*time.Minute - time.Second: time.Second, 2 * time.Minute: 0, 2*time.Minute + CommandPeriod: 8*time.Minute - CommandPeriod,
		10 * time.Minute: 0, 10*time.Minute + CommandPeriod: 10*time.Minute - CommandPeriod, 20*time.Minute + time.Second: 0,
	} {
		due, left := ResyncMissingPods(waited)
		require.Equal(t, want == 0, due, waited)
		require.Equal(t, want, left, waited)
	}
}
