// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// operated is a job of two workers as paddle-operator left it, on a cluster with the queue default.
func operated(namespace, name string, change ...func(*observed.State)) *observed.State {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1.PaddleJobSpec{Worker: &v1.ResourceSpec{Replicas: 2}}}
	job.Spec.Worker.Template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle"}}
	v := &observed.State{Job: job, PriorityClassExists: func(string) bool { return false }, Queue: func(name string) *vcscheduling.Queue {
		if name != "default" {
			return nil
		}
		return &vcscheduling.Queue{Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen}}
	}}
	for _, c := range change {
		c(v)
	}
	return v
}

// The text, JSON and YAML of jobs of each kind, a warning and steps.
func TestMigrationIsPrinted(t *testing.T) {
	t.Parallel()
	found := &migrate.Cluster{API: true, Volcano: true}
	for namespace, image := range map[string]string{"ml": "registry.baidubce.com/paddlecloud/controller:v0.3.5", "paddle-system": "paddlejob-controller:v0.1"} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "paddle-controller-manager"}}
		d.Spec.Template.Spec.Containers = []corev1.Container{{Image: image}}
		found.Sort(d)
	}
	started := func(v *observed.State) {
		for _, name := range []string{"worker-0", "worker-1"} {
			v.Operator.Pods = append(v.Operator.Pods, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: v.Job.Name + "-" + name, Labels: map[string]string{"paddle-res-type": "worker"}},
				Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"},
			})
		}
		v.Operator.Environment = &corev1.ConfigMap{}
	}
	views := []*observed.State{
		operated("vision", "runs", started),
		operated("speech", "misspelt", func(v *observed.State) { v.Job.Spec.CleanPodPolicy = "onCompletion" }),
		operated("speech", "ended", func(v *observed.State) { v.Job.Status.Phase = v1.Completed }),
		operated("ads", "queueless", func(v *observed.State) { v.Job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "gold"} }),
	}
	for output, golden := range map[string]string{"": "migrate-check.txt", "json": "migrate-check.json", "yaml": "migrate-check.yaml"} {
		var out bytes.Buffer
		s := &session{IOStreams: genericiooptions.IOStreams{Out: &out}}
		require.NoError(t, s.printMigration(output, found, views))
		want, err := os.ReadFile("testdata/" + golden)
		require.NoError(t, err)
		require.Equal(t, string(want), out.String(), golden)
	}

	// Where all is done there are no jobs, warnings or steps, and programs still find a list of jobs.
	var out bytes.Buffer
	s := &session{IOStreams: genericiooptions.IOStreams{Out: &out}}
	done := &migrate.Cluster{API: true, CurrentAPI: true, Volcano: true, Controllers: found.Controllers}
	require.NoError(t, s.printMigration("json", done, nil))
	require.JSONEq(t, `{"jobs": []}`, out.String())
	require.True(t, json.Valid(out.Bytes()))
}
