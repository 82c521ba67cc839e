// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// journal is a queue of one key that notes what is done with it.
type journal struct {
	workqueue.TypedRateLimitingInterface[string]
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) Get() (string, bool)                      { return "team/train", false }
func (j *journal) Done(key string)                          { j.note("done %s", key) }
func (j *journal) Forget(key string)                        { j.note("forget %s", key) }
func (j *journal) AddAfter(key string, delay time.Duration) { j.note("add %s after %s", key, delay) }
func (j *journal) AddRateLimited(key string)                { j.note("add %s later", key) }

func TestWhatFollowsASync(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		repeated time.Duration
		err      error
		want     []string
	}{
		"nothing more":      {want: []string{"forget team/train", "done team/train"}},
		"a look again":      {repeated: time.Minute, want: []string{"forget team/train", "add team/train after 1m0s", "done team/train"}},
		"a stale decision":  {err: fmt.Errorf("writing: %w", ErrStale), want: []string{"add team/train later", "done team/train"}},
		"a failure":         {err: errors.New("refused"), want: []string{"add team/train later", "done team/train"}},
		"a failure's delay": {repeated: time.Minute, err: errors.New("refused"), want: []string{"add team/train later", "done team/train"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			notes := &journal{}
			q := &Queue{keys: notes, kind: "job", sync: func(context.Context, string) (time.Duration, error) { return tc.repeated, tc.err }}
			require.True(t, q.next(t.Context()))
			require.Equal(t, tc.want, notes.lines)
		})
	}
}

func TestBackoffGrowsToAMinute(t *testing.T) {
	t.Parallel()
	limiter := backoff()
	require.Equal(t, 50*time.Millisecond, limiter.When("team/train"))
	require.Equal(t, 100*time.Millisecond, limiter.When("team/train"))
	for range 20 {
		limiter.When("team/train")
	}
	require.Equal(t, time.Minute, limiter.When("team/train"))
}

// The next leader must not work beside the last.
func TestRunReturnsWhenTheLastSyncHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var ended []string
	q := New("", "job", func(ctx context.Context, key string) (time.Duration, error) {
		cancel()
		<-ctx.Done()
		<-time.After(20 * time.Millisecond) // Run could return meanwhile
		ended = append(ended, key)
		return 0, errors.New("too late to be tried again")
	})
	q.Add("team/train")
	q.Run(ctx, 2)
	require.Equal(t, []string{"team/train"}, ended)
}

func TestKeysAreAddedLater(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	start, waited := time.Now(), time.Duration(0)
	q := New("", "job", func(context.Context, string) (time.Duration, error) {
		waited = time.Since(start)
		cancel()
		return 0, nil
	})
	q.AddAfter("team/train", 10*time.Millisecond)
	q.Run(ctx, 1)
	require.GreaterOrEqual(t, waited, 10*time.Millisecond)
}
