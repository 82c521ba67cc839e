// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

var (
	noPodGroup = func(v *view.View) { v.PodGroup = nil }
	byService  = func(v *view.View) {
		v.VolcanoJob.Annotations[keys.Intranet] = string(v1.Service)
		v.PodGroup.Annotations[keys.Intranet] = string(v1.Service)
	}
	running = []change{with("ps", view.Running), with("worker", view.Running, view.Running)}
)

func TestPodGroup(t *testing.T) {
	t.Parallel()
	const group = "job-vc-uid"
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  []string
	}{
		"new":                       {phase: "", with: []change{noPodGroup}, want: []string{"apply PodGroup " + group}},
		"pending":                   {phase: vcbatch.Pending, with: []change{noPodGroup}, want: []string{"apply PodGroup " + group}},
		"running":                   {phase: vcbatch.Running, with: []change{noPodGroup}, want: []string{"apply PodGroup " + group}},
		"there":                     {phase: vcbatch.Running},
		"restarting":                {phase: vcbatch.Restarting, with: []change{noPodGroup}},
		"restarting, Volcano's own": {phase: vcbatch.Restarting},
		"completing":                {phase: vcbatch.Completing, with: []change{noPodGroup}},
		"completed":                 {phase: vcbatch.Completed, with: []change{noPodGroup}},
		"left over":                 {phase: vcbatch.Completed},
		"workers have succeeded": {phase: vcbatch.Running, with: []change{noPodGroup, with("worker", view.Succeeded, view.Succeeded), func(v *view.View) {
			v.Environment = nil
		}}},
		"in another queue": {phase: vcbatch.Pending, with: []change{func(v *view.View) { v.PodGroup.Spec.Queue = "other" }},
			want: []string{"apply PodGroup " + group}},
		"its label is gone": {phase: vcbatch.Pending, with: []change{func(v *view.View) { v.PodGroup.Labels = nil }},
			want: []string{"apply PodGroup " + group}},
		"Volcano writes another sum": {phase: vcbatch.Pending, with: []change{func(v *view.View) {
			v.PodGroup.Spec.MinResources = nil
			v.PodGroup.Spec.PriorityClassName, v.PodGroup.Spec.SubGroupPolicy = "high", []vcscheduling.SubGroupPolicySpec{{Name: "part"}}
		}}},
		"asks for fewer pods": {phase: vcbatch.Pending, with: []change{func(v *view.View) { v.PodGroup.Spec.MinMember = 1 }},
			want: []string{"apply PodGroup " + group}},
		"asks for fewer pods of a task": {phase: vcbatch.Pending, with: []change{func(v *view.View) { v.PodGroup.Spec.MinTaskMember = nil }},
			want: []string{"apply PodGroup " + group}},
		"has another owner too": {phase: vcbatch.Pending, with: []change{func(v *view.View) {
			v.PodGroup.OwnerReferences = append(v.PodGroup.OwnerReferences, metav1.OwnerReference{Name: "theirs", UID: "theirs"})
		}}},
		"has a limit of somebody else's": {phase: vcbatch.Pending, with: []change{func(v *view.View) {
			v.PodGroup.Spec.NetworkTopology = &vcscheduling.NetworkTopologySpec{Mode: vcscheduling.SoftNetworkTopologyMode}
		}}},
		"has its limit":                 {phase: vcbatch.Pending, with: []change{limited(nil)}},
		"has lost its limit":            {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { s.NetworkTopology = nil })}, want: []string{"apply PodGroup " + group}},
		"has another tier":              {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { *s.NetworkTopology.HighestTierAllowed = 9 })}, want: []string{"apply PodGroup " + group}},
		"has another mode":              {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { s.NetworkTopology.Mode = vcscheduling.SoftNetworkTopologyMode })}, want: []string{"apply PodGroup " + group}},
		"has a tier's name in addition": {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { s.NetworkTopology.HighestTierName = "rack" })}},
		"has the name of another tier": {phase: vcbatch.Pending, with: []change{limited(nil), func(v *view.View) {
			v.VolcanoJob.Spec.NetworkTopology = &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierName: "rack"}
		}}, want: []string{"apply PodGroup " + group}},
		"differs in an annotation": {phase: vcbatch.Pending, with: []change{func(v *view.View) { delete(v.PodGroup.Annotations, keys.Mode) }},
			want: []string{"apply PodGroup " + group}},
		"has lost its owner": {phase: vcbatch.Pending, with: []change{func(v *view.View) { v.PodGroup.OwnerReferences = nil }},
			want: []string{"apply PodGroup " + group}},
		"has more annotations": {phase: vcbatch.Pending, with: []change{func(v *view.View) { v.PodGroup.Annotations["theirs"] = "1" }}},
		"has a status": {phase: vcbatch.Pending, with: []change{func(v *view.View) {
			v.PodGroup.Status.Phase = vcscheduling.PodGroupInqueue
		}}},
		"the Volcano Job is being deleted": {phase: vcbatch.Pending, with: []change{noPodGroup, func(v *view.View) {
			v.VolcanoJob.DeletionTimestamp = &metav1.Time{}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, done(Decide(created(t, tc.phase, tc.with...), config)))
		})
	}
}

// limited is a job with a limit of tiers, whose PodGroup is changed.
func limited(edit func(*vcscheduling.PodGroupSpec)) change {
	return func(v *view.View) {
		v.VolcanoJob.Spec.NetworkTopology = &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)}
		v.PodGroup = render.PodGroup(v.VolcanoJob, func(string) int32 { return 0 })
		if edit != nil {
			edit(&v.PodGroup.Spec)
		}
	}
}

func TestPodGroupOwned(t *testing.T) {
	t.Parallel()
	for name, with := range map[string][]change{"without a limit": nil, "with a limit": {limited(nil)}} {
		v := created(t, vcbatch.Pending, with...)
		owned, err := json.Marshal(PodGroupOwned(v.PodGroup))
		require.NoError(t, err)
		var got vcscheduling.PodGroup
		require.NoError(t, json.Unmarshal(owned, &got))
		require.False(t, podGroupDiffers(&got, v.PodGroup), name)
		want := v.PodGroup.DeepCopy()
		want.Spec = vcscheduling.PodGroupSpec{
			Queue: want.Spec.Queue, MinMember: want.Spec.MinMember, MinTaskMember: want.Spec.MinTaskMember, NetworkTopology: want.Spec.NetworkTopology,
		}
		require.Equal(t, *want, got, name)
		for _, field := range []string{"minResources", "priorityClassName", "subGroupPolicy", "status", "creationTimestamp"} {
			require.NotContains(t, string(owned), field, name)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	oneMore := func(v *view.View) { v.Pods[0].UID = "another" }
	serviceEnvironment := func(v *view.View) {
		v.Environment = render.ConfigMap(v.Job, render.ServiceAddresses(v.Job), "", config)
	}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"no pods yet": {phase: vcbatch.Pending, want: gist{missing: []string{"job-ps-0", "job-worker-0", "job-worker-1"}}},
		"a pod without an address": {
			phase: vcbatch.Pending, with: []change{with("ps", view.Starting), with("worker", view.Starting, view.Unplaced)},
			want: gist{missing: []string{"job-worker-1"}},
		},
		"all addresses known": {
			phase: vcbatch.Running, with: []change{with("ps", view.Starting), with("worker", view.Starting, view.Starting)},
			want: gist{does: []string{"create environment"}},
		},
		"written": {phase: vcbatch.Running, with: append(running, environmentOf)},
		"written, and edited by hand": {
			phase: vcbatch.Running, with: append(running, environmentOf, func(v *view.View) { v.Environment.Data["PADDLE_PORT"] = "1" }),
			want: gist{does: []string{"update environment"}},
		},
		"of another gang": {
			phase: vcbatch.Running, with: append(running, environmentOf, oneMore),
			want: gist{does: []string{"delete ConfigMap job"}},
		},
		"of a gang that loses a pod": {
			phase: vcbatch.Running, with: append(running, environmentOf, func(v *view.View) { v.Pods[2].DeletionTimestamp = &metav1.Time{} }),
			want: gist{does: []string{"delete ConfigMap job"}},
		},
		"of a gang that has gone": {
			phase: vcbatch.Pending, with: append(running, environmentOf, func(v *view.View) { v.Pods = nil }),
			want: gist{does: []string{"delete ConfigMap job"}},
		},
		"restarting":                 {phase: vcbatch.Restarting, with: append(running, environmentOf), want: gist{does: []string{"delete ConfigMap job"}}},
		"restarting without it":      {phase: vcbatch.Restarting, with: running},
		"kept while the job ends":    {phase: vcbatch.Completing, with: append(running, environmentOf, noPodGroup, oneMore)},
		"kept when all is over":      {phase: vcbatch.Completed, with: append(running, environmentOf, noPodGroup, oneMore)},
		"withdrawn from the aborted": {phase: vcbatch.Aborted, with: append(running, environmentOf, noPodGroup), want: gist{does: []string{"delete ConfigMap job"}}},
		"kept while servers go": {
			phase: vcbatch.Running,
			with: []change{with("ps", view.Running), with("worker", view.Succeeded, view.Succeeded), environmentOf, func(v *view.View) {
				v.Pods[0].DeletionTimestamp = &metav1.Time{}
			}},
			want: gist{lookAgain: CompleteGrace},
		},
		"names, lost":                 {phase: vcbatch.Running, with: append(running, byService), want: gist{does: []string{"create environment"}}},
		"names, there":                {phase: vcbatch.Running, with: append(running, byService, serviceEnvironment)},
		"names, kept in a restart":    {phase: vcbatch.Restarting, with: append(running, byService, serviceEnvironment)},
		"names, not made for nothing": {phase: vcbatch.Completed, with: []change{byService, noPodGroup}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(created(t, tc.phase, tc.with...), config)))
		})
	}
}

// Another default of the controller's is for the jobs that come.
func TestDefaultIntranetDoesNotReachJobsThatExist(t *testing.T) {
	t.Parallel()
	v := created(t, vcbatch.Running, append(running, environmentOf)...)
	require.Empty(t, Decide(v, render.Config{DefaultIntranet: v1.Service}).Actions)
}

func TestComplete(t *testing.T) {
	t.Parallel()
	succeeded := []change{with("ps", view.Running), with("worker", view.Succeeded, view.Succeeded), environmentOf}
	ago := func(succeeded time.Duration) change {
		return func(v *view.View) { v.SucceededFor = succeeded }
	}
	// others have been ended: how long ago the last, how long the slowest took, and how much after ours the newest's workers ended.
	others := func(last, slowest, newest time.Duration) change {
		return func(v *view.View) {
			v.Ends = view.Ends{Last: v.Now.Add(-last), Slowest: slowest, Newest: v.Now.Add(newest - v.SucceededFor)}
		}
	}
	complete := gist{does: []string{"CompleteJob"}, lookAgain: CommandPeriod}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"Volcano may still do it": {phase: vcbatch.Running, with: succeeded, want: gist{lookAgain: CompleteGrace}},
		"Volcano did not":         {phase: vcbatch.Running, with: append(succeeded, ago(CompleteGrace)), want: complete},
		"Volcano ends others": {
			phase: vcbatch.Running, with: append(succeeded, ago(time.Minute), others(20*time.Second, 0, -time.Second)),
			want: gist{lookAgain: 10 * time.Second},
		},
		"Volcano ends none any more": {phase: vcbatch.Running, with: append(succeeded, ago(time.Minute), others(30*time.Second, 0, -time.Second)), want: complete},
		"Volcano is slow": {
			phase: vcbatch.Running, with: append(succeeded, ago(2*time.Minute), others(89*time.Second, time.Minute, 0)),
			want: gist{lookAgain: time.Second},
		},
		"Volcano was not that slow": {phase: vcbatch.Running, with: append(succeeded, ago(2*time.Minute), others(90*time.Second, time.Minute, 0)), want: complete},
		"others before their turn": {
			phase: vcbatch.Running, with: append(succeeded, ago(2*time.Minute), others(0, time.Minute, 89*time.Second)),
			want: gist{lookAgain: 90 * time.Second},
		},
		"others long before their turn": {phase: vcbatch.Running, with: append(succeeded, ago(2*time.Minute), others(0, time.Minute, 90*time.Second)), want: complete},
		"soon too long":                 {phase: vcbatch.Running, with: append(succeeded, ago(completeMost-time.Second), others(0, time.Hour, 0)), want: gist{lookAgain: time.Second}},
		"too long":                      {phase: vcbatch.Running, with: append(succeeded, ago(completeMost), others(0, time.Hour, 0)), want: complete},
		"Volcano is at it": {
			phase: vcbatch.Completing, with: append(succeeded, noPodGroup, ago(time.Hour)),
		},
		"a worker is missing": {phase: vcbatch.Running, with: []change{
			with("ps", view.Running), with("worker", view.Succeeded, view.Running), environmentOf,
			ago(time.Hour),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(created(t, tc.phase, tc.with...), config)))
		})
	}
}

func TestWarningsAreWorkedOutOncePerGeneration(t *testing.T) {
	t.Parallel()
	misspelt := editSpec(func(s *v1.PaddleJobSpec) { s.CleanPodPolicy = "OnComplete" })
	toldOf := func(generation int64) change {
		return func(v *view.View) {
			v.Job.Status.Conditions = []metav1.Condition{{
				Type: v1.ConditionCreated, Status: metav1.ConditionTrue, ObservedGeneration: generation,
			}}
		}
	}
	require.Len(t, Decide(created(t, vcbatch.Pending, misspelt), config).Warnings, 1)
	require.Len(t, Decide(created(t, vcbatch.Pending, misspelt, toldOf(1)), config).Warnings, 1)
	require.Empty(t, Decide(created(t, vcbatch.Pending, misspelt, toldOf(2)), config).Warnings)
}
