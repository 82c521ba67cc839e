// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at is so many seconds after the beginning of a test.
func at(seconds int) time.Time { return time.Unix(1_700_000_000+int64(seconds), 0) }

func TestDeletionTracker(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pods []int
		now  int
		want time.Duration
	}{
		"pods first":                     {now: 0, want: watchMargin},
		"pods first, later":              {now: 3},
		"a pod lingers":                  {pods: []int{1, 10}, now: 10, want: 10*time.Second + watchMargin},
		"a pod lingers, later":           {pods: []int{1, 10}, now: 15, want: 5*time.Second + watchMargin},
		"a pod lingers, it is forgotten": {pods: []int{1, 10}, now: 23},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewDeletionTracker()
			d.JobDeleted("key", at(0))
			for _, pod := range tc.pods {
				d.PodDeleted("key", at(pod))
			}
			require.Equal(t, tc.want, d.Remaining("key", at(tc.now)))
		})
	}
	d := NewDeletionTracker()
	d.PodDeleted("key", at(0))
	require.Zero(t, d.Remaining("key", at(0)), "pods come and go with every restart")
}

func TestDeletionTrackerIsBounded(t *testing.T) {
	t.Parallel()
	d := NewDeletionTracker()
	for i := range maxDeletions {
		d.JobDeleted(string(rune(i)), at(0))
	}
	d.JobDeleted("last", at(60))
	require.Len(t, d.seen, 1)
}
