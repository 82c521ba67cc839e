// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// seen is a job of two workers and nothing else, on a cluster with the queue default.
func seen(change ...func(*observed.State)) *observed.State {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "train"}, Spec: v1.PaddleJobSpec{Worker: &v1.ResourceSpec{Replicas: 2}}}
	job.Spec.Worker.Template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle"}}
	open := &vcscheduling.Queue{Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen}}
	v := &observed.State{
		Now: time.Now(), Job: job,
		Queue: func(name string) *vcscheduling.Queue {
			if name == "default" {
				return open
			}
			return nil
		},
		PriorityClassExists: func(string) bool { return false },
	}
	for _, c := range change {
		c(v)
	}
	return v
}

// gang is what paddle-operator created: pods in these phases, and the addresses unless they are unknown.
func gang(known bool, phases ...corev1.PodPhase) func(*observed.State) {
	return func(v *observed.State) {
		for i, phase := range phases {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: "job-worker-" + string(rune('0'+i)), Labels: map[string]string{"paddle-res-type": "worker"},
			}, Status: corev1.PodStatus{Phase: phase, PodIP: "10.0.0.1"}}
			v.Operator.Pods = append(v.Operator.Pods, pod)
		}
		v.Operator.Services = []*corev1.Service{{}}
		if known {
			v.Operator.Environment = &corev1.ConfigMap{}
		}
	}
}

func TestAssess(t *testing.T) {
	t.Parallel()
	phase := func(p v1.Phase) func(*observed.State) { return func(v *observed.State) { v.Job.Status.Phase = p } }
	for name, tc := range map[string]struct {
		seen    *observed.State
		outcome migrate.Outcome
		message string
	}{
		"nothing yet":            {seen(), migrate.Starts, "Volcano creates its 2 pods"},
		"a gang that runs":       {seen(gang(true, corev1.PodRunning, corev1.PodRunning)), migrate.KeepsRunning, "its 2 pods keep running"},
		"without addresses":      {seen(gang(false, corev1.PodRunning, corev1.PodRunning)), migrate.Restarts, "its 2 pods are deleted"},
		"a pod is missing":       {seen(gang(true, corev1.PodRunning)), migrate.Restarts, "its 1 pods are deleted"},
		"a pod has failed":       {seen(gang(true, corev1.PodRunning, corev1.PodFailed)), migrate.Restarts, "Volcano starts the job again"},
		"it has ended":           {seen(phase(v1.Completed), gang(true, corev1.PodSucceeded, corev1.PodSucceeded)), migrate.Finished, "what paddle-operator left of it is deleted"},
		"it has failed":          {seen(phase(v1.Failed)), migrate.Finished, "it has finished, and stays so"},
		"the controller runs it": {seen(func(v *observed.State) { v.VolcanoJob = &vcbatch.Job{} }), migrate.AlreadyManaged, "already"},
		"it is going":            {seen(func(v *observed.State) { v.Job.DeletionTimestamp = &metav1.Time{Time: time.Now()} }), migrate.Deleting, "finalizer"},
		"it is suspended":        {seen(func(v *observed.State) { v.Job.Spec.RunPolicy = &v1.RunPolicy{Suspend: ptr.To(true)} }), migrate.StaysSuspended, "stays so"},
		"no such queue":          {seen(func(v *observed.State) { v.Job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "other"} }), migrate.Refused, "QueueNotFound"},
		"a wrong template":       {seen(func(v *observed.State) { v.Job.Spec.Worker.Template.Spec.SchedulerName = "default-scheduler" }), migrate.Refused, "InvalidSpec"},
		"wrong, and it runs":     {seen(gang(false, corev1.PodRunning), func(v *observed.State) { v.Job.Spec.Worker.Template.Spec.SchedulerName = "a" }), migrate.Refused, "its 1 pods cannot finish and are deleted, and then it does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := migrate.Assess(tc.seen, builder.Config{})
			require.Equal(t, tc.outcome, got.Outcome, got.Message)
			require.Contains(t, got.Message, tc.message)
			require.NotRegexp(t, "[A-Z]", got.Outcome.Words())
			require.Equal(t, "train/job", got.Namespace+"/"+got.Name)
		})
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	got := migrate.Assess(seen(func(v *observed.State) { v.Job.Spec.CleanPodPolicy = "onCompletion" }), builder.Config{})
	require.Len(t, got.Notes, 1)
	require.Contains(t, got.Notes[0], "UnknownCleanPodPolicy: ")
}
