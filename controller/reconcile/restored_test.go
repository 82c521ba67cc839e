// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

func TestFinalStatusIsWrittenOnce(t *testing.T) {
	t.Parallel()
	completed := func(job *v1.PaddleJob) {
		job.Annotations = map[string]string{"kept": "yes"}
		job.Status.Phase = v1.Completed
		job.Status.Conditions = []metav1.Condition{{Type: v1.ConditionSucceeded, Status: metav1.ConditionTrue}}
	}
	patches := func(d *desk) (n int) {
		for _, action := range d.paddle.Actions() {
			if action.Matches("patch", "paddlejobs") {
				n++
			}
		}
		return n
	}
	d := newDesk(t)
	d.cached(t, d.stored(t, completed))
	require.NoError(t, d.work(t))
	require.NoError(t, d.work(t), "the cache has not seen the annotation")
	job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"kept": "yes", keys.FinalStatus: "Completed " + render.SpecHash(job)}, job.Annotations)
	require.Equal(t, 1, patches(d))

	for name, tc := range map[string]struct {
		answer error
		stale  bool
	}{
		"another job of the name": {answer: apierrors.NewConflict(v1.Resource("paddlejobs"), "job", errors.New("uid")), stale: true},
		"it is gone":              {answer: apierrors.NewNotFound(v1.Resource("paddlejobs"), "job")},
	} {
		d := newDesk(t)
		d.cached(t, d.stored(t, completed))
		d.paddle.PrependReactor("patch", "paddlejobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.answer })
		err := d.work(t)
		require.Equal(t, tc.stale, errors.Is(err, errStale), "%s: %v", name, err)
	}
}
