// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
)

func TestQueueOfTheNamespace(t *testing.T) {
	t.Parallel()
	own := func(job *v1.PaddleJob) { job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "default"} }
	annotated := func(t *testing.T, queue string) *desk {
		t.Helper()
		d := newDesk(t)
		namespaces := corev1.SchemeGroupVersion.WithResource("namespaces")
		require.NoError(t, d.kube.Tracker().Update(namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "ml", Annotations: map[string]string{vcscheduling.QueueNameAnnotationKey: queue},
		}}, ""))
		require.NoError(t, d.sources.volcano.Scheduling().V1beta1().Queues().Informer().GetStore().Add(&vcscheduling.Queue{
			ObjectMeta: metav1.ObjectMeta{Name: "team"}, Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen},
		}))
		return d
	}
	for name, tc := range map[string]struct {
		namespace string
		change    func(*v1.PaddleJob)
		want      string
	}{
		"the namespace's":            {namespace: "team", change: func(*v1.PaddleJob) {}, want: "team"},
		"an empty annotation":        {namespace: "", change: func(*v1.PaddleJob) {}, want: "default"},
		"the job's own comes before": {namespace: "team", change: own, want: "default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := annotated(t, tc.namespace)
			d.cached(t, d.stored(t, tc.change))
			require.NoError(t, d.work(t))
			job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, tc.want, job.Spec.Queue)
			require.Equal(t, tc.want, d.status(t).Queue)
			require.NoError(t, d.work(t))
			reads := 0
			for _, action := range d.kube.Actions() {
				if action.Matches("get", "namespaces") {
					reads++
				}
			}
			require.LessOrEqual(t, reads, 1, "it is read once")
		})
	}

	d := annotated(t, "nowhere")
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	require.Equal(t, policy.ReasonQueueNotFound, meta.FindStatusCondition(d.status(t).Conditions, v1.ConditionStalled).Reason)

	d = annotated(t, "team")
	failure := errors.New("down")
	d.kube.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, failure })
	d.cached(t, d.stored(t))
	require.ErrorIs(t, d.work(t), failure)
	_, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.Error(t, err, "it is not created in another queue meanwhile")
}
