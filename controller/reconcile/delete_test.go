// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func TestDeleteTakesOnlyWhatWasSeen(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]struct {
		code   int32
		reason metav1.StatusReason
		want   error
	}{
		"gone": {http.StatusNotFound, metav1.StatusReasonNotFound, nil},
		// Nothing else need happen to the job that would have it looked at again.
		"changed, or another of its name": {http.StatusConflict, metav1.StatusReasonConflict, errStale},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			job := d.stored(t, func(job *v1.PaddleJob) {
				job.Status.Phase = v1.Completed
				job.Status.Conditions = []metav1.Condition{{}}
			})
			d.cached(t, job)
			controls := true
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ml", Name: "job-worker-0", UID: "pod",
				OwnerReferences: []metav1.OwnerReference{{Kind: v1.Kind, Name: "job", UID: job.UID, Controller: &controls}},
			}}
			require.NoError(t, d.pods.Add(pod))
			var sent *metav1.DeleteOptions
			d.kube.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if remove, ok := action.(clienttesting.DeleteActionImpl); ok {
					sent = &remove.DeleteOptions
				}
				return true, nil, &apierrors.StatusError{ErrStatus: metav1.Status{Code: refusal.code, Reason: refusal.reason}}
			})
			require.ErrorIs(t, d.work(t), refusal.want)
			require.Equal(t, pod.UID, *sent.Preconditions.UID)
		})
	}
}
