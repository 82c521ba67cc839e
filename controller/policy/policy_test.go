// SPDX-License-Identifier: Apache-2.0

package policy

import (
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

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

var config = render.Config{DefaultIntranet: v1.PodIP}

// change is one difference from a view in which all is well.
type change func(*view.View)

// submitted is a PaddleJob of one server and two workers that nobody has looked at yet.
func submitted(changes ...change) *view.View {
	container := corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}}
	v := &view.View{
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
		Priority: func(class string) (int32, bool) { return 5, class == "high" },
	}
	for _, c := range changes {
		c(v)
	}
	return v
}

// A controller that ends after the deletion would leave nobody who knows of it.
func TestRecreationIsCountedFirst(t *testing.T) {
	t.Parallel()
	changed := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 3 })
	for recreations, want := range map[int32][]string{0: nil, 1: {"delete Volcano Job job"}} {
		plan := Decide(created(t, vcbatch.Pending, changed, func(v *view.View) { v.Job.Status.Recreations = recreations }), config)
		require.True(t, plan.Recreate)
		require.Equal(t, want, gistOf(plan).does, recreations)
	}
}

// Suspended is in the status only when the Volcano Job is deleted: whoever reads it may resume the job with another spec.
func TestSuspensionIsCountedFirst(t *testing.T) {
	t.Parallel()
	suspend := editSpec(func(s *v1.PaddleJobSpec) { s.RunPolicy = &v1.RunPolicy{Suspend: ptr.To(true)} })
	v := created(t, vcbatch.Running, suspend, statusOf(func(s *v1.PaddleJobStatus) { s.Recreations = 0 }))
	require.Equal(t, Plan{Recreate: true}, Decide(v, config))
	for name, failed := range map[string]*view.View{
		"Volcano has failed the Job": created(t, vcbatch.Failed, suspend, with("worker", view.Failed, view.Failed)),
		"Volcano has aborted it":     created(t, vcbatch.Aborted, suspend, statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Restarting })),
	} {
		failed.Job.Status.Recreations = 0
		plan := Decide(failed, config)
		require.True(t, plan.Recreate, name)
		require.NotNil(t, plan.Retrying, "%s: the job has not failed, nor has anybody aborted it", name)
		require.Empty(t, plan.Actions, name)
	}
	v.Job.Status.Recreations = 1
	plan := Decide(v, config)
	require.NotNil(t, plan.Suspended)
	require.Equal(t, []string{"delete Volcano Job job"}, gistOf(plan).does)
}

// created is the same job with its Volcano Job and PodGroup, in a phase of Volcano's; the changes come last.
func created(t *testing.T, phase vcbatch.JobPhase, changes ...change) *view.View {
	t.Helper()
	v := submitted()
	plan := Decide(v, config)
	require.Nil(t, plan.Stalled)
	v.VolcanoJob = volcanoJobOf(t, plan).DeepCopy()
	v.VolcanoJob.UID = "vc-uid"
	v.VolcanoJob.Status.State.Phase = phase
	v.Job.Status.Recreations = 1 // so that its deletion counts as written down
	v.PodGroup = render.PodGroup(v.VolcanoJob, func(string) int32 { return 0 })
	for _, c := range changes {
		c(v)
	}
	return v
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

// with adds pods to a view: as many of a role as there are states.
func with(role string, states ...view.State) change {
	return func(v *view.View) {
		for i, state := range states {
			v.Pods = append(v.Pods, podOf(role, i, state, v.VolcanoJob))
		}
		view.SortPods(v.Pods)
	}
}

func podOf(role string, index int, state view.State, owner metav1.Object) *corev1.Pod {
	name := view.PodName("job", role, int32(index))
	digit := string(rune('0' + index))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ml", Name: name, UID: types.UID(name + "-uid"),
			Labels:      map[string]string{vcbatch.TaskSpecKey: role, keys.TaskIndex: digit},
			Annotations: map[string]string{vcbatch.TaskSpecKey: role},
		},
		Spec:   corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0." + digit},
	}
	if role == render.RolePS {
		pod.Status.PodIP = "10.0.1." + digit
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{{UID: owner.GetUID(), Controller: new(bool)}}
	}
	switch state {
	case view.Unplaced:
		pod.Spec.NodeName, pod.Status.PodIP = "", ""
	case view.Running:
		pod.Status.Phase = corev1.PodRunning
	case view.Succeeded:
		pod.Status.Phase = corev1.PodSucceeded
	case view.Failed:
		pod.Status.Phase = corev1.PodFailed
	case view.Leaving:
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		pod.Annotations[keys.OutOfSync] = "true" // by Volcano
	}
	return pod
}

// environmentOf gives a view the ConfigMap that belongs to its present pods.
func environmentOf(v *view.View) {
	addresses, gang, _ := render.PodAddresses(v.Job, v.Pods)
	v.Environment = render.ConfigMap(v.Job, addresses, gang, config)
}

func editSpec(edit func(*v1.PaddleJobSpec)) change {
	return func(v *view.View) {
		v.Job = v.Job.DeepCopy()
		v.Job.Generation++
		edit(&v.Job.Spec)
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
	does      []string
	stalled   string
	waiting   string
	unapplied string
	missing   []string
	lookAgain time.Duration
}

func gistOf(plan Plan) gist {
	reason := func(n *render.Notice) string {
		if n == nil {
			return ""
		}
		return n.Reason
	}
	return gist{
		does: done(plan), stalled: reason(plan.Stalled), waiting: reason(plan.Waiting), unapplied: reason(plan.Unapplied),
		missing: plan.Missing, lookAgain: plan.LookAgain,
	}
}
