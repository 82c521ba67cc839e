// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// Which PaddleJob is looked at when something is seen to change.
func TestChildrenAreKnownByLabelOwnerAndName(t *testing.T) {
	t.Parallel()
	owner := func(name string) []metav1.OwnerReference {
		job := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "vc"}}
		return []metav1.OwnerReference{*metav1.NewControllerRef(job, vcbatch.SchemeGroupVersion.WithKind("Job"))}
	}
	for name, tc := range map[string]struct {
		child metav1.ObjectMeta
		looks bool
	}{
		"by its label":              {child: metav1.ObjectMeta{Name: "job-vc", Labels: map[string]string{v1.JobNameLabel: "job"}}, looks: true},
		"by its owner":              {child: metav1.ObjectMeta{Name: "job-vc", OwnerReferences: owner("job")}, looks: true},
		"by its name":               {child: metav1.ObjectMeta{Name: "job"}, looks: true},
		"of a raw Volcano Job":      {child: metav1.ObjectMeta{Name: "raw-vc", OwnerReferences: owner("raw")}},
		"uncontrolled":              {child: metav1.ObjectMeta{Name: "else"}},
		"by its owner, being there": {child: metav1.ObjectMeta{Name: "job", OwnerReferences: owner("job")}, looks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			seen := make(chan string, 10)
			d.queue = workers.New("handlers", "paddleJob", func(_ context.Context, key string) (time.Duration, error) {
				seen <- key
				return 0, nil
			})
			d.cached(t, d.stored(t))
			tc.child.Namespace = "ml"
			d.childChanged(&vcscheduling.PodGroup{ObjectMeta: tc.child}, false)
			d.queue.Add("last")
			want := []string{"last"}
			if tc.looks {
				want = []string{"ml/job", "last"}
			}
			require.Equal(t, want, worked(t, d.queue, seen))
		})
	}
}

func TestAddressesAndEndsOfPodsDoNotWaitForCounts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		waits  time.Duration
	}{
		"created":                 {waits: countDebounce},
		"placed":                  {status: corev1.PodStatus{Phase: corev1.PodPending}, waits: countDebounce},
		"addressed":               {status: corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0.1"}, waits: podDebounce},
		"runs":                    {status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}, waits: countDebounce},
		"succeeded":               {status: corev1.PodStatus{Phase: corev1.PodSucceeded, PodIP: "10.0.0.1"}, waits: podDebounce},
		"failed before it was up": {status: corev1.PodStatus{Phase: corev1.PodFailed}, waits: podDebounce},
	} {
		require.Equal(t, tc.waits, debounce(&corev1.Pod{Status: tc.status}), name)
	}
}

// worked are the keys of a queue in the order in which one worker takes them, up to "last".
func worked(t *testing.T, queue *workers.Queue, seen <-chan string) (taken []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go queue.Run(ctx, 1)
	for key := range seen {
		if taken = append(taken, key); key == "last" {
			break
		}
	}
	return taken
}
