// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// With --keep the sandbox runs until ^C. .ci/run runs `make demo` itself.
func TestRun(t *testing.T) {
	live.SkipUnlessAll(t)
	const state = "../../_output/test-demo"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &transcript{on: "kubectl get pdj", do: func() {
		_, up, err := sandbox.ReadRecord(state)
		require.NoError(t, err)
		require.True(t, up)
		cancel()
	}}
	require.NoError(t, Run(ctx, Options{StateDir: state, Keep: true, Out: out}), "%s", out)
	for _, want := range []string{
		"Every job ended as it should.", "$ kubectl paddle map", "$ kubectl paddle get -A", "$ kubectl paddle why -n too-large too-large",
		"too-large has been Pending for", `Warning: unknown field "spec.cleanPolicy"`, "export KUBECONFIG=", "ctr-volcano        Completed",
	} {
		require.Contains(t, out.String(), want)
	}
	for _, j := range jobs() {
		if !j.raw && !j.waits {
			require.Regexp(t, `(?m)^`+j.namespace+` +`+j.name+` +Completed`, out.String(), "the list shows each job as it ended")
		}
	}
	requireDown(t, state)
}

func TestRunStopsTheSandboxWhenItIsInterrupted(t *testing.T) {
	live.SkipUnlessAll(t)
	const state = "../../_output/test-demo-interrupted"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &transcript{on: "Running", do: cancel}
	require.ErrorIs(t, Run(ctx, Options{StateDir: state, Out: out}), context.Canceled, "%s", out)
	require.NotContains(t, out.String(), "Try next")
	requireDown(t, state)
}

func requireDown(t *testing.T, state string) {
	t.Helper()
	_, up, err := sandbox.ReadRecord(state)
	require.NoError(t, err)
	require.False(t, up)
}

// transcript keeps what is written, and does something once when a text has been.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
	on   string
	do   func()
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(p)
	if w.on != "" && strings.Contains(w.text.String(), w.on) {
		w.on = ""
		w.do()
	}
	return n, err
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func TestFault(t *testing.T) {
	unbound, bound := corev1.Pod{}, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{NodeName: "n"}}
	trains, waits := job{}, job{waits: true}
	for name, tc := range map[string]struct {
		job    job
		phase  paddlev1.Phase
		reason string
		pods   []corev1.Pod
		want   string
	}{
		"completed":        {job: trains, phase: paddlev1.Completed, pods: []corev1.Pod{bound}},
		"runs":             {job: trains, phase: paddlev1.Running, want: `its phase is "Running", not "Completed"`},
		"failed":           {job: trains, phase: paddlev1.Failed, want: `its phase is "Failed", not "Completed"`},
		"waits":            {job: waits, phase: paddlev1.Pending, reason: lifecycle.ReasonWaitingForGang, pods: []corev1.Pod{unbound}},
		"waits, no reason": {job: waits, phase: paddlev1.Pending, pods: []corev1.Pod{unbound}, want: "it gives no reason for being Pending"},
		"has just begun":   {job: waits, phase: paddlev1.Pending, reason: "Placing", pods: []corev1.Pod{unbound}, want: "it gives no reason for being Pending"},
		"waits, no pods":   {job: waits, phase: paddlev1.Pending, reason: lifecycle.ReasonWaitingForGang, want: "it has no pods"},
		"does not wait":    {job: waits, phase: paddlev1.Running, pods: []corev1.Pod{unbound}, want: `its phase is "Running", not "Pending"`},
		"one pod is bound": {
			job: waits, phase: paddlev1.Pending, reason: lifecycle.ReasonWaitingForGang, pods: []corev1.Pod{unbound, bound},
			want: "pod p is bound to n although its gang does not fit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := &paddlev1.PaddleJob{Status: paddlev1.PaddleJobStatus{Phase: tc.phase}}
			if tc.reason != "" {
				now.Status.Conditions = []metav1.Condition{{Type: paddlev1.ConditionScheduled, Status: metav1.ConditionFalse, Reason: tc.reason}}
			}
			fault := tc.job.fault(now, tc.pods)
			if tc.want == "" {
				require.NoError(t, fault)
				return
			}
			require.EqualError(t, fault, tc.want)
		})
	}
}

func TestConclusion(t *testing.T) {
	require.Equal(t, "Every job ended as it should.", conclusion(nil, "logs"))
	require.Equal(t, "Not every job ended as it should:\n  a: failed\n  b: stuck\nThe logs of all components are in logs.",
		conclusion([]string{"a: failed", "b: stuck"}, "logs"))
}

func TestLossFault(t *testing.T) {
	const good = "[worker-0] step 1 loss 0.6804\n[worker-0] trained: loss 0.6939 -> 0.5130, model sha256 3bde\n"
	for log, want := range map[string]string{
		good: "1 of 2 workers say that they have trained",
		"":   "0 of 2 workers say that they have trained",
		good + "[worker-1] trained: loss 0.5 -> 0.6, model sha256 3bde\n":  "the loss of worker-1 has not fallen: 0.5 -> 0.6",
		good + "[worker-1] trained: loss 0.5 -> 0.5, model sha256 3bde\n":  "the loss of worker-1 has not fallen: 0.5 -> 0.5",
		good + "[worker-1] trained: loss 1..5 -> 0.5, model sha256 3bde\n": `strconv.ParseFloat: parsing "1..5": invalid syntax`,
	} {
		require.EqualError(t, lossFault(log), want)
	}
	require.NoError(t, lossFault(good+"[worker-1] trained: loss 0.6939 -> 0.5130, model sha256 3bde\n"))
}

// jobOf returns the PaddleJob of a job's files.
func jobOf(t *testing.T, j job) *paddlev1.PaddleJob {
	t.Helper()
	objects, err := manifests.Read(j.from, j.files...)
	require.NoError(t, err)
	last := objects[0]
	for _, object := range objects {
		if object.GetKind() == paddlev1.Kind {
			last = object
		}
	}
	read := &paddlev1.PaddleJob{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(last.Object, read))
	return read
}

// The job on the real node is the published one, with the image that the trainer replaces.
func TestTheRealJobIsTheFirst(t *testing.T) {
	read := jobOf(t, jobs()[0])
	require.EqualValues(t, realWorkers, read.Spec.Worker.Replicas)
	for _, role := range []*paddlev1.ResourceSpec{read.Spec.PS, read.Spec.Worker} {
		require.Equal(t, realImage, role.Template.Spec.Containers[0].Image)
		require.Empty(t, role.Template.Spec.Volumes, "folders of the machine are left alone")
	}
}

// The sum of too-large's GPUs fits; one worker too many does not.
func TestTooLargeExceedsTheClusterByOneWorker(t *testing.T) {
	all := jobs()
	workers := jobOf(t, all[len(all)-1]).Spec.Worker
	gpus := workers.Template.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"]
	total, fit := int64(0), int64(0)
	for _, node := range topology.Demo().Nodes() {
		has := node.Status.Allocatable["nvidia.com/gpu"]
		total += has.Value()
		fit += has.Value() / gpus.Value()
	}
	require.LessOrEqual(t, int64(workers.Replicas)*gpus.Value(), total)
	require.EqualValues(t, fit+1, workers.Replicas)
}
