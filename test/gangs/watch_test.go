// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// follow hands every event of pods and PodGroups to the recorder, from a time when there are none of them, until the test
// ends. A watch that breaks goes on where it was.
func (r *recorder) follow(t *testing.T, p *plane) {
	t.Helper()
	pods, err := p.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, pods.Items)
	groups, err := p.Volcano.SchedulingV1beta1().PodGroups(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, groups.Items)
	for _, objects := range []struct {
		from string
		open cache.WatchFuncWithContext
	}{
		{pods.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return p.Kube.CoreV1().Pods(namespace).Watch(ctx, o)
		}},
		{groups.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return p.Volcano.SchedulingV1beta1().PodGroups(namespace).Watch(ctx, o)
		}},
	} {
		w, err := watchtools.NewRetryWatcherWithContext(t.Context(), objects.from, &cache.ListWatch{WatchFuncWithContext: objects.open})
		require.NoError(t, err)
		go func() {
			for event := range w.ResultChan() {
				r.take(event, time.Now())
			}
		}()
	}
}

// patience is generous: a machine may be slow, and nothing is judged by it.
const patience = 10 * time.Minute

// await waits until there is no error, looking again whenever something has changed. What is asked for holds the
// recorder's lock.
func (r *recorder) await(t *testing.T, p *plane, what string, ask func() error) {
	t.Helper()
	over := time.After(patience)
	for {
		r.mu.Lock()
		err := ask()
		r.mu.Unlock()
		if err == nil {
			return
		}
		select {
		case <-r.changed:
		case died := <-p.Failed():
			require.NoError(t, died)
		case <-t.Context().Done():
			require.NoError(t, context.Cause(t.Context()))
		case <-over:
			require.FailNow(t, fmt.Sprintf("gave up waiting for %s after %s", what, patience), "%v (logs in %s)", err, p.StateDir())
		}
	}
}

// few joins errors, the first ones in full.
func few(errs []error) error {
	const shown = 5
	if len(errs) > shown {
		errs = append(errs[:shown:shown], fmt.Errorf("and %d more", len(errs)-shown))
	}
	return errors.Join(errs...)
}
