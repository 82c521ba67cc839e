// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at is so many seconds after the beginning of a test.
func at(seconds int) time.Time { return time.Unix(1_700_000_000+int64(seconds), 0) }

func TestDeletion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pod, now int
		want     time.Duration
	}{
		"pods first":                     {now: 0, want: watchMargin},
		"pods first, later":              {now: 3},
		"a pod lingers":                  {pod: 10, now: 10, want: 10*time.Second + watchMargin},
		"a pod lingers, later":           {pod: 10, now: 15, want: 8 * time.Second},
		"a pod lingers, it is forgotten": {pod: 10, now: 23},
	} {
		require.Equal(t, tc.want, Deletion{Job: at(0), LastPod: at(tc.pod)}.Remaining(at(tc.now)), name)
	}
}
