// SPDX-License-Identifier: Apache-2.0

package podgroup

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/test/vcjob"
)

// seed is printed with every failure; another one makes other jobs.
const seed = 20260101

func volcano(t *testing.T) *vcjob.Controller {
	t.Helper()
	controller, err := vcjob.Shared()
	require.NoError(t, err)
	return controller
}

func requireEqual(t *testing.T, want, got *scheduling.PodGroup) {
	t.Helper()
	require.Truef(t, equality.Semantic.DeepEqual(want.Spec, got.Spec), "seed %d: spec, Volcano's (-) and the controller's (+):\n%s", seed, cmp.Diff(want.Spec, got.Spec))
	require.Equal(t, want.Name, got.Name)
	require.Equal(t, want.Namespace, got.Namespace)
	require.Equal(t, want.Labels, got.Labels)
	require.Equal(t, want.Annotations, got.Annotations)
	require.Equal(t, want.OwnerReferences, got.OwnerReferences)
}

// For any Job as the builder makes them, paddlejob-controller's PodGroup equals that of Volcano's Job controller.
func TestOurPodGroupIsVolcanos(t *testing.T) {
	d, controller := newGenerator(seed), volcano(t)
	for i := range 400 {
		job, err := controller.Create(t.Context(), d.volcanoJob(fmt.Sprintf("any-%d", i)))
		require.NoError(t, err)
		volcanos, err := controller.PodGroup(t.Context(), job)
		require.NoError(t, err)
		t.Run(job.Name, func(t *testing.T) { requireEqual(t, volcanos, builder.PodGroup(job)) })
	}
}

// If paddlejob-controller creates the PodGroup first, Volcano's Job controller never changes it.
func TestVolcanoLeavesOurPodGroupAlone(t *testing.T) {
	d, controller := newGenerator(seed+1), volcano(t)
	groups := controller.Volcano.SchedulingV1beta1().PodGroups("train")
	var jobs []*vcbatch.Job
	for i := range 60 {
		job := d.volcanoJob(fmt.Sprintf("existing-%d", i))
		job.UID = vcjob.UID(job.Name)
		_, err := groups.Create(t.Context(), builder.PodGroup(job), metav1.CreateOptions{})
		require.NoError(t, err)
		job, err = controller.Create(t.Context(), job)
		require.NoError(t, err)
		// The pods come after several syncs, each of which may write.
		_, _, err = controller.Pods(t.Context(), job)
		require.NoError(t, err)
		jobs = append(jobs, job)
	}
	for _, action := range controller.Volcano.Actions() {
		// Ours are to the status alone.
		if action.Matches("update", "podgroups") && action.GetSubresource() == "" {
			require.Failf(t, "Volcano changed a PodGroup", "seed %d: %v", seed+1, action)
		}
	}
	for _, job := range jobs {
		stored, err := controller.PodGroup(t.Context(), job)
		require.NoError(t, err)
		requireEqual(t, stored, builder.PodGroup(job))
	}
}

// The scheduler honors the minimum of each role in the gang of every PaddleJob.
func TestEveryRolesMinimumCounts(t *testing.T) {
	d, controller := newGenerator(seed+2), volcano(t)
	for i := range 200 {
		paddle := d.paddleJob(fmt.Sprintf("paddle-%d", i))
		// Half of them with a start barrier, whose requests count too.
		rendered, _ := builder.Job(paddle, builder.PodGroupOverrides{}, builder.Config{BarrierImage: []string{"", "barrier:v1"}[i%2]})
		job, err := controller.Create(t.Context(), rendered)
		require.NoError(t, err)
		volcanos, err := controller.PodGroup(t.Context(), job)
		require.NoError(t, err)
		t.Run(job.Name, func(t *testing.T) {
			group := builder.PodGroup(job)
			requireEqual(t, volcanos, group)
			var sum int32
			for _, least := range group.Spec.MinTaskMember {
				sum += least
			}
			require.GreaterOrEqualf(t, group.Spec.MinMember, sum, "seed %d: below this sum Volcano ignores the roles", seed+2)
			if paddle.Spec.PS != nil {
				require.Equal(t, paddle.Spec.PS.Replicas, group.Spec.MinTaskMember["ps"], "servers are never fewer")
			}
			require.Positive(t, group.Spec.MinTaskMember["worker"])
		})
	}
}
