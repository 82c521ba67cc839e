// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
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

func TestUntilPausesByWhatALookTook(t *testing.T) {
	t.Parallel()
	var ended, again time.Time
	require.NoError(t, until(t.Context(), "a list", func(context.Context) error {
		if !ended.IsZero() {
			again = time.Now()
			return nil
		}
		<-time.After(100 * time.Millisecond)
		ended = time.Now()
		return errors.New("not yet")
	}))
	require.GreaterOrEqual(t, again.Sub(ended), 400*time.Millisecond)
}
