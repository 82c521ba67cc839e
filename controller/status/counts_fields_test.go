// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Each role counts each state in a field of its own, and points to the pods that count.
func TestEachStateOfEachRoleHasItsCount(t *testing.T) {
	t.Parallel()
	of := map[string]func(*v1.PaddleJobStatus) *v1.ResourceStatus{
		render.RolePS:     func(s *v1.PaddleJobStatus) *v1.ResourceStatus { return s.PS },
		render.RoleWorker: func(s *v1.PaddleJobStatus) *v1.ResourceStatus { return s.Worker },
		render.RoleHeter:  func(s *v1.PaddleJobStatus) *v1.ResourceStatus { return s.Heter },
	}
	for state, want := range map[view.State]v1.ResourceStatus{
		view.Unplaced:  {Ready: "0/1", Pending: 1},
		view.Starting:  {Ready: "0/1", Starting: 1},
		view.Running:   {Ready: "1/1", Running: 1},
		view.Succeeded: {Ready: "0/1", Succeeded: 1},
		view.Failed:    {Ready: "0/1", Failed: 1},
		view.Unknown:   {Ready: "0/1", Unknown: 1},
		view.Leaving:   {Ready: "0/1"},
	} {
		for role, part := range of {
			v := seen(vcbatch.Running, func(v *view.View) {
				v.Job.Spec.PS, v.Job.Spec.Worker, v.Job.Spec.Heter = &v1.ResourceSpec{Replicas: 1}, &v1.ResourceSpec{Replicas: 1}, &v1.ResourceSpec{Replicas: 1}
				v.VolcanoJob.Spec.Tasks = []vcbatch.TaskSpec{{Name: render.RolePS, Replicas: 1}, {Name: render.RoleWorker, Replicas: 1}, {Name: render.RoleHeter, Replicas: 1}}
				v.Pods = []*corev1.Pod{pod(role, 0, state)}
			})
			got := part(next(v)).DeepCopy()
			refs := 1
			if state == view.Leaving {
				refs = 0
			}
			require.Len(t, got.Refs, refs, "%s %v", role, state)
			got.Refs = nil
			require.Equal(t, want, *got, "%s %v", role, state)
		}
	}
}

// The mode is that of the spec from the first look on.
func TestModeFollowsTheRoles(t *testing.T) {
	t.Parallel()
	for want, spec := range map[v1.Mode]v1.PaddleJobSpec{
		v1.ModePS:         {PS: &v1.ResourceSpec{Replicas: 1}, Worker: &v1.ResourceSpec{Replicas: 1}},
		v1.ModeCollective: {Worker: &v1.ResourceSpec{Replicas: 2}},
		v1.ModeSingle:     {Worker: &v1.ResourceSpec{Replicas: 1}},
	} {
		require.Equal(t, want, next(seen("", func(v *view.View) { v.VolcanoJob, v.Job.Spec = nil, spec })).Mode)
	}
}

// The field has no writer, as in paddle-operator; what stands there is kept.
func TestElasticIsWrittenByNobody(t *testing.T) {
	t.Parallel()
	elastic := func(v *view.View) {
		v.Job.Spec.PS, v.Job.Spec.Elastic, v.VolcanoJob.Spec.Tasks = nil, ptr.To(1), v.VolcanoJob.Spec.Tasks[1:]
	}
	require.Nil(t, next(seen(vcbatch.Running, elastic)).Elastic)
	require.Equal(t, "DONE", *next(seen(vcbatch.Running, elastic, was(&v1.PaddleJobStatus{Elastic: ptr.To("DONE")}))).Elastic)
}

// The queue's phases of the PodGroup are Volcano's affair: pods that run are what makes a job run.
func TestPhaseDoesNotDependOnThePodGroup(t *testing.T) {
	t.Parallel()
	gone := seen(vcbatch.Running, pods(view.Running, view.Running, view.Running), func(v *view.View) { v.PodGroup = nil })
	require.Equal(t, v1.Running, Next(gone, &policy.Plan{}, now).Phase)
	strange := seen(vcbatch.Running, pods(view.Running, view.Running, view.Running), func(v *view.View) { v.PodGroup.Status.Phase = "Unknown" })
	require.Equal(t, v1.Running, Next(strange, &policy.Plan{}, now).Phase)
}
