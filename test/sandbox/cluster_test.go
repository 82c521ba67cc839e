// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDearLooksAreFew(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0: pollEvery, time.Millisecond: pollEvery, 25 * time.Millisecond: pollEvery, time.Second: 4 * time.Second, time.Minute: pollMost,
	} {
		require.Equal(t, want, pause(took), "%s", took)
	}
}
