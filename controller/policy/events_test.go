// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestEventsAreReadOfPodsThatMayWaitForVolumes(t *testing.T) {
	t.Parallel()
	placed := func(ago time.Duration) change {
		return func(v *view.View) {
			v.Now = seenAt
			v.Job.Status.Conditions = append(v.Job.Status.Conditions, metav1.Condition{
				Type: v1.ConditionScheduled, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(seenAt.Add(-ago)),
			})
		}
	}
	of := func(source corev1.VolumeSource) change {
		return func(v *view.View) {
			task := &v.VolcanoJob.Spec.Tasks[len(v.VolcanoJob.Spec.Tasks)-1] // the workers'
			task.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: source}}
		}
	}
	volumes := of(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}})
	starting := with(render.RoleWorker, view.Starting, view.Starting)
	for name, tc := range map[string]struct {
		with []change
		want time.Duration
	}{
		"just placed":     {[]change{starting, volumes, placed(2 * time.Second)}, 3 * time.Second},
		"late":            {[]change{starting, volumes, placed(time.Minute)}, EventsPeriod},
		"without volumes": {[]change{starting, placed(time.Minute)}, 0},
		"a claim":         {[]change{starting, of(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}), placed(time.Minute)}, 0},
		"running":         {[]change{with(render.RoleWorker, view.Running, view.Running), volumes, placed(time.Minute)}, 0},
	} {
		var plan Plan
		plan.events(created(t, vcbatch.Pending, tc.with...))
		require.Equal(t, tc.want, plan.LookAgain, name)
	}
}
