// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// regexpTime is the time at the start of a line.
var regexpTime = regexp.MustCompile(`(?m)^ *[0-9.]+s  `)

// rehearsal follows two jobs, of which one must stay pending.
type rehearsal struct {
	*performance
	out    strings.Builder
	news   chan seen
	failed chan error
	ended  chan error
}

func rehearse(ctx context.Context, limit time.Duration) *rehearsal {
	r := &rehearsal{news: make(chan seen), failed: make(chan error, 1), ended: make(chan error, 1)}
	r.performance = newPlay(&r.out, []Job{trains, waits})
	r.limit, r.afterwards = limit, time.Millisecond
	go func() { r.ended <- r.follow(ctx, r.news, r.failed) }()
	return r
}

func (r *rehearsal) status(job Job, phase, reason string) {
	r.news <- seen{namespace: job.Name, status: &Status{Mode: job.Mode, Phase: phase, Reason: reason}}
}

func (r *rehearsal) podsOf(job Job, node string) {
	for _, role := range job.Roles {
		for i := range role.Pods {
			r.news <- seen{namespace: job.Name, pod: &Pod{Name: podName(role.Name, i), Role: role.Name, Node: node}}
		}
	}
}

func TestFollowEndsOnceEveryStoryIsSettled(t *testing.T) {
	r := rehearse(t.Context(), time.Hour)
	r.submitted <- submission{job: trains, warnings: []string{"unknown field"}}
	r.podsOf(trains, "a")
	r.podsOf(waits, "")
	r.status(Job{Name: "kube-system"}, "Running", "")
	r.status(trains, "Completed", "")
	r.status(waits, "Pending", "no room")
	require.NoError(t, <-r.ended)
	require.Empty(t, r.faults(nil))
	told := regexpTime.ReplaceAllString(r.out.String(), "")
	require.Equal(t, strings.TrimLeft(`
trains             submitted 
trains             the API server warns: unknown field
trains             gang of 3 placed
trains             Completed
waits              Pending: no room
`, "\n"), told)
}

func TestFollowLeavesTheVerdictToWhatWasSeenWhenTheLimitIsOver(t *testing.T) {
	r := rehearse(t.Context(), 50*time.Millisecond)
	r.podsOf(trains, "a")
	r.status(trains, "Running", "")
	require.NoError(t, <-r.ended)
	require.Contains(t, r.out.String(), "giving up: not every job has ended after 50ms")
	require.Equal(t, []string{
		`trains: its phase is "Running", not "Completed"`,
		`waits: its mode is "", not "PS"`,
		`waits: its phase is "", not "Pending"`,
		`waits: it gives no reason for being pending`,
		`waits: it has 0 pods, not 3`,
	}, r.faults(nil))
}

func TestFollowEndsAtOnce(t *testing.T) {
	trouble := errors.New("trouble")
	tests := []struct {
		name   string
		happen func(r *rehearsal, cancel context.CancelCauseFunc)
	}{
		{name: "when a job is refused", happen: func(r *rehearsal, _ context.CancelCauseFunc) { r.submitted <- submission{job: trains, err: trouble} }},
		{name: "when a component dies", happen: func(r *rehearsal, _ context.CancelCauseFunc) { r.failed <- trouble }},
		{name: "when it is interrupted", happen: func(_ *rehearsal, cancel context.CancelCauseFunc) { cancel(trouble) }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r := rehearse(ctx, time.Hour)
			tc.happen(r, cancel)
			require.ErrorIs(t, <-r.ended, trouble)
		})
	}
}
