// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// Volcano's watch was down while the queue let the gang in.
func TestVolcanoIsToldOfAGangWithoutPods(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := epoch
	d.now = func() time.Time { return now }
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	again := func(phase vcscheduling.PodGroupPhase, later time.Duration) {
		t.Helper()
		now = now.Add(later)
		job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
		require.NoError(t, err)
		d.cached(t, job)
		d.cachedVolcanoJob(t, vcbatch.Pending)
		group, ok := d.assumedPodGroups.newest("ml/job-vc", nil, false)
		if ok {
			group = group.DeepCopy()
			group.Status.Phase, group.ResourceVersion = phase, "2"
			require.NoError(t, d.sources.volcano.Scheduling().V1beta1().PodGroups().Informer().GetStore().Add(group))
		}
		require.NoError(t, d.work(t))
	}
	commands := func() []string {
		list, err := d.volcano.BusV1alpha1().Commands("ml").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		var actions []string
		for i := range list.Items {
			actions = append(actions, list.Items[i].Action)
		}
		return actions
	}
	again(vcscheduling.PodGroupInqueue, time.Second)
	require.Empty(t, commands())
	again(vcscheduling.PodGroupInqueue, time.Minute)
	require.Empty(t, commands())
	again(vcscheduling.PodGroupInqueue, time.Minute)
	require.Equal(t, []string{"SyncJob"}, commands())
}
