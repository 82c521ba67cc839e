// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/timeline"
)

// journal is what a job's pods have done and said, also those that are no more. All of it comes through the API server, as
// `kubectl get --watch` and `kubectl logs --follow` would show it.
type journal struct {
	*timeline.Watch
	begun time.Time

	mu   sync.Mutex
	said []timeline.Line
}

// follow begins a job's journal. It ends with the test.
func follow(t *testing.T, namespace, job string) *journal {
	t.Helper()
	j := &journal{begun: time.Now()}
	var err error
	// Not the test's context, which ends before what was said last is read.
	j.Watch, err = timeline.Begin(context.Background(), cluster, namespace, job, j.hear)
	require.NoError(t, err)
	t.Cleanup(func() {
		j.End()
		if t.Failed() {
			t.Log(j.told())
		}
	})
	return j
}

func (j *journal) hear(l timeline.Line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.said = append(j.said, l)
}

// pods are those of a role that there are or were.
func (j *journal) pods(role string) []timeline.Pod {
	return slices.DeleteFunc(j.Stamps().Pods, func(p timeline.Pod) bool { return p.Role != role })
}

// lines are what the containers of a role's pods, or of all, have said that has a text in it.
func (j *journal) lines(role, text string) []timeline.Line {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.said), func(l timeline.Line) bool {
		return role != "" && l.Role != role || !strings.Contains(l.Text, text)
	})
}

// await waits until so many lines of a role have a text in them.
func (j *journal) await(t *testing.T, role, text string, want int) []timeline.Line {
	t.Helper()
	var found []timeline.Line
	cluster.Await(t, fmt.Sprintf("%d lines of %s with %q", want, role, text), func(context.Context) error {
		if found = j.lines(role, text); len(found) < want {
			return fmt.Errorf("there are %d", len(found))
		}
		return nil
	})
	return found
}

// told is all that was said.
func (j *journal) told() string {
	lines := j.lines("", "")
	slices.SortStableFunc(lines, func(a, b timeline.Line) int { return a.At.Compare(b.At) })
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "\n%6.1fs %s (%.4s) %s: %s", l.At.Sub(j.begun).Seconds(), l.Pod, l.UID, l.Container, l.Text)
	}
	return out.String()
}
