// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

var config = builder.Config{DefaultIntranet: v1.PodIP}

// change is one difference from an observed state in which all is well.
type change func(*observed.State)

// submitted is a PaddleJob of one server and two workers that was not reconciled yet.
func submitted(changes ...change) *observed.State {
	container := corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}}
	obs := &observed.State{
		Job: &v1.PaddleJob{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "job-uid", Generation: 1},
			Spec: v1.PaddleJobSpec{
				PS:     &v1.ResourceSpec{Replicas: 1, Template: corev1.PodTemplateSpec{Spec: container}},
				Worker: &v1.ResourceSpec{Replicas: 2, Template: corev1.PodTemplateSpec{Spec: container}},
			},
		},
		Queue: func(name string) *vcscheduling.Queue {
			if name != "default" {
				return nil
			}
			return &vcscheduling.Queue{Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen}}
		},
		PriorityClassExists: func(name string) bool { return name == "high" },
	}
	for _, c := range changes {
		c(obs)
	}
	return obs
}

// A controller that ends after the deletion would leave no record of it.
func TestRecreationIsCountedFirst(t *testing.T) {
	t.Parallel()
	changed := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 3 })
	for recreations, want := range map[int32][]string{0: nil, 1: {"delete Volcano Job job"}} {
		plan := Decide(created(t, vcbatch.Pending, changed, func(obs *observed.State) { obs.Job.Status.Recreations = recreations }), config)
		require.True(t, plan.Recreate)
		require.Equal(t, want, gistOf(plan).does, recreations)
	}
}

// Suspended is in the status only when the Volcano Job is deleted: a user who reads it may resume the job with another spec.
func TestSuspensionIsCountedFirst(t *testing.T) {
	t.Parallel()
	suspend := editSpec(func(s *v1.PaddleJobSpec) { s.RunPolicy = &v1.RunPolicy{Suspend: ptr.To(true)} })
	obs := created(t, vcbatch.Running, suspend, statusOf(func(s *v1.PaddleJobStatus) { s.Recreations = 0 }))
	require.Equal(t, Plan{Recreate: true}, Decide(obs, config))
	for name, failed := range map[string]*observed.State{
		"Volcano has failed the Job": created(t, vcbatch.Failed, suspend, with("worker", observed.Failed, observed.Failed)),
		"Volcano has aborted it":     created(t, vcbatch.Aborted, suspend, phase(v1.Restarting)),
	} {
		failed.Job.Status.Recreations = 0
		plan := Decide(failed, config)
		require.True(t, plan.Recreate, name)
		require.NotNil(t, plan.Retrying, "%s: the job has not failed, nor has anybody aborted it", name)
		require.Empty(t, plan.Actions, name)
	}
	obs.Job.Status.Recreations = 1
	plan := Decide(obs, config)
	require.NotNil(t, plan.Suspended)
	require.Equal(t, []string{"delete Volcano Job job"}, gistOf(plan).does)
}

// created is the same job with its Volcano Job and PodGroup, in a phase of Volcano's; the changes come last.
func created(t *testing.T, phase vcbatch.JobPhase, changes ...change) *observed.State {
	t.Helper()
	obs := submitted()
	plan := Decide(obs, config)
	require.Nil(t, plan.Stalled)
	obs.VolcanoJob = volcanoJobOf(t, plan).DeepCopy()
	obs.VolcanoJob.UID = "vc-uid"
	obs.VolcanoJob.Status.State.Phase = phase
	obs.Job.Status.Recreations = 1 // so that its deletion counts as written down
	obs.PodGroup = builder.PodGroup(obs.VolcanoJob)
	for _, c := range changes {
		c(obs)
	}
	return obs
}

func volcanoJobOf(t *testing.T, plan Plan) *vcbatch.Job {
	t.Helper()
	for _, a := range plan.Actions {
		if c, ok := a.(CreateVolcanoJob); ok {
			return c.Job
		}
	}
	require.Fail(t, "the plan makes no Volcano Job", "%v", plan)
	return nil
}

// with adds pods to an observed state: as many of a role as there are states.
func with(role string, states ...observed.PodState) change {
	return func(obs *observed.State) {
		for i, state := range states {
			obs.Pods = append(obs.Pods, podOf(role, i, state, obs.VolcanoJob))
		}
		observed.SortPods(obs.Pods)
	}
}

func podOf(role string, index int, state observed.PodState, owner metav1.Object) *corev1.Pod {
	name := fmt.Sprintf("job-%s-%d", role, index)
	digit := string(rune('0' + index))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ml", Name: name, UID: types.UID(name + "-uid"),
			Labels:      map[string]string{vcbatch.TaskSpecKey: role, v1.TaskIndexLabel: digit},
			Annotations: map[string]string{vcbatch.TaskSpecKey: role},
		},
		Spec:   corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0." + digit},
	}
	if role == builder.RolePS {
		pod.Status.PodIP = "10.0.1." + digit
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{{UID: owner.GetUID(), Controller: new(bool)}}
	}
	switch state {
	case observed.Unscheduled:
		pod.Spec.NodeName, pod.Status.PodIP = "", ""
	case observed.Running:
		pod.Status.Phase = corev1.PodRunning
	case observed.Succeeded:
		pod.Status.Phase = corev1.PodSucceeded
	case observed.Failed:
		pod.Status.Phase = corev1.PodFailed
	case observed.Terminating:
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		pod.Annotations[v1.OutOfSyncAnnotation] = "true" // by Volcano
	}
	return pod
}

// environmentOf gives an observed state the ConfigMap that belongs to its present pods.
func environmentOf(obs *observed.State) {
	addresses, gang, _ := builder.PodAddresses(obs.Job, obs.Pods)
	obs.Environment = builder.ConfigMap(obs.Job, addresses, gang, config)
}

func editSpec(edit func(*v1.PaddleJobSpec)) change {
	return func(obs *observed.State) {
		obs.Job = obs.Job.DeepCopy()
		obs.Job.Generation++
		edit(&obs.Job.Spec)
	}
}

// done is what a plan does, in short.
func done(plan Plan) []string {
	var short []string
	for _, action := range plan.Actions {
		switch a := action.(type) {
		case ReleaseFinalizer:
			short = append(short, "release finalizer")
		case CreateVolcanoJob:
			short = append(short, "create Volcano Job "+a.Job.Name)
		case NoteFinalStatus:
			// TestFinalStatusIsNoted looks at it; every finished job has it.
		case ApplyPodGroup:
			short = append(short, "apply PodGroup "+a.PodGroup.Name)
		case WriteEnvironment:
			text := "create environment"
			if a.Old != nil {
				text = "update environment"
			}
			short = append(short, text)
		case IssueCommand:
			short = append(short, a.Command.Action)
		case NotePodGroup:
			short = append(short, "note PodGroup "+string(a.PodGroup.UID)+": "+a.Event.Reason)
		case AnnouncePods:
			for _, one := range a.Pods {
				for _, key := range slices.Sorted(maps.Keys(one.Annotations)) {
					short = append(short, "annotate "+one.Pod.Name+": "+key)
				}
			}
		case Delete:
			short = append(short, "delete "+string(a.Kind)+" "+a.Object.GetName())
		}
	}
	return short
}

// gist is a plan without its texts.
type gist struct {
	does         []string
	stalled      string
	waiting      string
	notSynced    string
	missing      []string
	requeueAfter time.Duration
}

func gistOf(plan Plan) gist {
	reason := func(n *builder.Cause) string {
		if n == nil {
			return ""
		}
		return n.Reason
	}
	return gist{
		does: done(plan), stalled: reason(plan.Stalled), waiting: reason(plan.Waiting), notSynced: reason(plan.SpecNotSynced),
		missing: plan.Missing, requeueAfter: plan.RequeueAfter,
	}
}

var (
	noPodGroup = func(obs *observed.State) { obs.PodGroup = nil }
	byService  = func(obs *observed.State) {
		obs.VolcanoJob.Annotations[v1.IntranetAnnotation] = string(v1.Service)
		obs.PodGroup.Annotations[v1.IntranetAnnotation] = string(v1.Service)
	}
	running = []change{with("ps", observed.Running), with("worker", observed.Running, observed.Running)}
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
		"workers have succeeded": {phase: vcbatch.Running, with: []change{noPodGroup, with("worker", observed.Succeeded, observed.Succeeded), func(obs *observed.State) {
			obs.Environment = nil
		}}},
		"in another queue": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) { obs.PodGroup.Spec.Queue = "other" }},
			want: []string{"apply PodGroup " + group}},
		"its label is gone": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) { obs.PodGroup.Labels = nil }},
			want: []string{"apply PodGroup " + group}},
		"Volcano writes another sum": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) {
			obs.PodGroup.Spec.MinResources = nil
			obs.PodGroup.Spec.PriorityClassName, obs.PodGroup.Spec.SubGroupPolicy = "high", []vcscheduling.SubGroupPolicySpec{{Name: "part"}}
		}}},
		"requests fewer pods": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) { obs.PodGroup.Spec.MinMember = 1 }},
			want: []string{"apply PodGroup " + group}},
		"requests fewer pods of a task": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) { obs.PodGroup.Spec.MinTaskMember = nil }},
			want: []string{"apply PodGroup " + group}},
		"has another owner too": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) {
			obs.PodGroup.OwnerReferences = append(obs.PodGroup.OwnerReferences, metav1.OwnerReference{Name: "other", UID: "other"})
		}}},
		"has a limit of somebody else's": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) {
			obs.PodGroup.Spec.NetworkTopology = &vcscheduling.NetworkTopologySpec{Mode: vcscheduling.SoftNetworkTopologyMode}
		}}},
		"has its limit":                 {phase: vcbatch.Pending, with: []change{limited(nil)}},
		"has lost its limit":            {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { s.NetworkTopology = nil })}, want: []string{"apply PodGroup " + group}},
		"has another tier":              {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { *s.NetworkTopology.HighestTierAllowed = 9 })}, want: []string{"apply PodGroup " + group}},
		"has another mode":              {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { s.NetworkTopology.Mode = vcscheduling.SoftNetworkTopologyMode })}, want: []string{"apply PodGroup " + group}},
		"has a tier's name in addition": {phase: vcbatch.Pending, with: []change{limited(func(s *vcscheduling.PodGroupSpec) { s.NetworkTopology.HighestTierName = "rack" })}},
		"has the name of another tier": {phase: vcbatch.Pending, with: []change{limited(nil), func(obs *observed.State) {
			obs.VolcanoJob.Spec.NetworkTopology = &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierName: "rack"}
		}}, want: []string{"apply PodGroup " + group}},
		"differs in an annotation": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) { delete(obs.PodGroup.Annotations, v1.ModeAnnotation) }},
			want: []string{"apply PodGroup " + group}},
		"has lost its owner": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) { obs.PodGroup.OwnerReferences = nil }},
			want: []string{"apply PodGroup " + group}},
		"has more annotations": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) { obs.PodGroup.Annotations["other"] = "1" }}},
		"has a status": {phase: vcbatch.Pending, with: []change{func(obs *observed.State) {
			obs.PodGroup.Status.Phase = vcscheduling.PodGroupInqueue
		}}},
		"the Volcano Job is being deleted": {phase: vcbatch.Pending, with: []change{noPodGroup, func(obs *observed.State) {
			obs.VolcanoJob.DeletionTimestamp = &metav1.Time{}
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
	return func(obs *observed.State) {
		obs.VolcanoJob.Spec.NetworkTopology = &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)}
		obs.PodGroup = builder.PodGroup(obs.VolcanoJob)
		if edit != nil {
			edit(&obs.PodGroup.Spec)
		}
	}
}

func TestPodGroupOwned(t *testing.T) {
	t.Parallel()
	for name, with := range map[string][]change{"without a limit": nil, "with a limit": {limited(nil)}} {
		obs := created(t, vcbatch.Pending, with...)
		owned, err := json.Marshal(PodGroupOwned(obs.PodGroup, obs.PodGroup.UID))
		require.NoError(t, err)
		var got vcscheduling.PodGroup
		require.NoError(t, json.Unmarshal(owned, &got))
		require.False(t, podGroupDiffers(&got, obs.PodGroup), name)
		want := obs.PodGroup.DeepCopy()
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
	oneMore := func(obs *observed.State) { obs.Pods[0].UID = "another" }
	serviceEnvironment := func(obs *observed.State) {
		obs.Environment = builder.ConfigMap(obs.Job, builder.ServiceAddresses(obs.Job), "", config)
	}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"no pods yet": {phase: vcbatch.Pending, want: gist{missing: []string{"job-ps-0", "job-worker-0", "job-worker-1"}}},
		"a pod without an address": {
			phase: vcbatch.Pending, with: []change{with("ps", observed.Starting), with("worker", observed.Starting, observed.Unscheduled)},
			want: gist{missing: []string{"job-worker-1"}},
		},
		"all addresses known": {
			phase: vcbatch.Running, with: []change{with("ps", observed.Starting), with("worker", observed.Starting, observed.Starting)},
			want: gist{does: []string{"create environment"}},
		},
		"written": {phase: vcbatch.Running, with: append(running, environmentOf)},
		"written, and edited by hand": {
			phase: vcbatch.Running, with: append(running, environmentOf, func(obs *observed.State) { obs.Environment.Data["PADDLE_PORT"] = "1" }),
			want: gist{does: []string{"update environment"}},
		},
		"of another gang": {
			phase: vcbatch.Running, with: append(running, environmentOf, oneMore),
			want: gist{does: []string{"delete ConfigMap job"}},
		},
		"of a gang that loses a pod": {
			phase: vcbatch.Running, with: append(running, environmentOf, func(obs *observed.State) { obs.Pods[2].DeletionTimestamp = &metav1.Time{} }),
			want: gist{does: []string{"delete ConfigMap job"}},
		},
		"of a gang that has gone": {
			phase: vcbatch.Pending, with: append(running, environmentOf, func(obs *observed.State) { obs.Pods = nil }),
			want: gist{does: []string{"delete ConfigMap job"}},
		},
		"restarting":                 {phase: vcbatch.Restarting, with: append(running, environmentOf), want: gist{does: []string{"delete ConfigMap job"}}},
		"restarting without it":      {phase: vcbatch.Restarting, with: running},
		"kept while the job ends":    {phase: vcbatch.Completing, with: append(running, environmentOf, noPodGroup, oneMore)},
		"kept when all is over":      {phase: vcbatch.Completed, with: append(running, environmentOf, noPodGroup, oneMore)},
		"withdrawn from the aborted": {phase: vcbatch.Aborted, with: append(running, environmentOf, noPodGroup), want: gist{does: []string{"delete ConfigMap job"}}},
		"kept while servers go": {
			phase: vcbatch.Running,
			with: []change{with("ps", observed.Running), with("worker", observed.Succeeded, observed.Succeeded), environmentOf, func(obs *observed.State) {
				obs.Pods[0].DeletionTimestamp = &metav1.Time{}
			}},
			want: gist{requeueAfter: volcano.CompletionGracePeriod},
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
	obs := created(t, vcbatch.Running, append(running, environmentOf)...)
	require.Empty(t, Decide(obs, builder.Config{DefaultIntranet: v1.Service}).Actions)
}

func TestComplete(t *testing.T) {
	t.Parallel()
	succeeded := []change{with("ps", observed.Running), with("worker", observed.Succeeded, observed.Succeeded), environmentOf}
	ago := func(succeeded time.Duration) change {
		return func(obs *observed.State) {
			obs.Now = time.Unix(10000, 0)
			ended := &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(obs.Now.Add(-succeeded))}
			for _, pod := range obs.Pods {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: ended}}}
			}
		}
	}
	complete := gist{does: []string{"CompleteJob"}, requeueAfter: volcano.CommandPeriod}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"Volcano may still do it": {phase: vcbatch.Running, with: append(succeeded, ago(0)), want: gist{requeueAfter: volcano.CompletionGracePeriod}},
		"Volcano did not":         {phase: vcbatch.Running, with: append(succeeded, ago(volcano.CompletionGracePeriod)), want: complete},
		"Volcano is at it": {
			phase: vcbatch.Completing, with: append(succeeded, noPodGroup, ago(time.Hour)),
		},
		"a worker is missing": {phase: vcbatch.Running, with: []change{
			with("ps", observed.Running), with("worker", observed.Succeeded, observed.Running), environmentOf,
			ago(time.Hour),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(created(t, tc.phase, tc.with...), config)))
		})
	}
}

func TestWarningsAreComputedOncePerGeneration(t *testing.T) {
	t.Parallel()
	misspelt := editSpec(func(s *v1.PaddleJobSpec) { s.CleanPodPolicy = "OnComplete" })
	reportedOf := func(generation int64) change {
		return func(obs *observed.State) {
			obs.Job.Status.Conditions = []metav1.Condition{{
				Type: v1.ConditionCreated, Status: metav1.ConditionTrue, ObservedGeneration: generation,
			}}
		}
	}
	require.Len(t, Decide(created(t, vcbatch.Pending, misspelt), config).Warnings, 1)
	require.Len(t, Decide(created(t, vcbatch.Pending, misspelt, reportedOf(1)), config).Warnings, 1)
	require.Empty(t, Decide(created(t, vcbatch.Pending, misspelt, reportedOf(2)), config).Warnings)
}
