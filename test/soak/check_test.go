// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// ended returns a world with one finished job of two workers, of which pods are left.
func ended(phase v1.Phase, pods ...corev1.PodPhase) *world {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "job-0"}, Status: v1.PaddleJobStatus{
		Phase: phase, Worker: &v1.ResourceStatus{Succeeded: 2},
	}}
	made := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Name: "job-0", UID: "vc"}}
	w := &world{
		jobs: map[string]*v1.PaddleJob{"job-0": job}, volcano: map[string]*vcbatch.Job{"job-0": made}, environments: map[string]bool{"job-0": true},
	}
	for i, phase := range pods {
		w.pods = append(w.pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "job-0-worker-" + string(rune('0'+i)), OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(made, vcbatch.SchemeGroupVersion.WithKind("Job")),
			}},
			Status: corev1.PodStatus{Phase: phase},
		})
	}
	return w
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	keeps := func(change ...func(*job)) *job {
		j := &job{name: "job-0", kind: "ps", made: &v1.PaddleJob{Spec: v1.PaddleJobSpec{CleanPodPolicy: v1.CleanNever}}}
		for _, c := range change {
			c(j)
		}
		return j
	}
	cleans := func(j *job) { j.made.Spec.CleanPodPolicy = v1.CleanOnCompletion }
	both := []corev1.PodPhase{corev1.PodSucceeded, corev1.PodSucceeded}
	without := func(w *world, what func(*world)) *world { what(w); return w }
	for name, tc := range map[string]struct {
		job  *job
		is   *world
		says []string
	}{
		"as it should be":     {job: keeps(), is: ended(v1.Completed, both...)},
		"cleaned":             {job: keeps(cleans), is: ended(v1.Completed)},
		"not cleaned":         {job: keeps(cleans), is: ended(v1.Completed, both...), says: []string{"job-0 (ps) is Completed: 2 of its pods are left, and should be 0"}},
		"cleaned too well":    {job: keeps(), is: ended(v1.Completed, both[0]), says: []string{"job-0 (ps) is Completed: 1 of its pods are left, and should be 2"}},
		"a pod runs":          {job: keeps(), is: ended(v1.Completed, both[0], corev1.PodRunning), says: []string{"job-0 (ps) is Completed: pod job-0-worker-1 is Running"}},
		"failed":              {job: keeps(), is: ended(v1.Failed, both...), says: []string{"job-0 (ps) is Failed: it should be one of [Completed]"}},
		"failed, being hurt":  {job: keeps(func(j *job) { j.hurt = true }), is: ended(v1.Failed, both...)},
		"should have failed":  {job: keeps(func(j *job) { j.outcome = fails }), is: ended(v1.Completed, both...), says: []string{"job-0 (ps) is Completed: it should be one of [Failed]"}},
		"should be gone":      {job: keeps(func(j *job) { j.deleted = true }), is: ended(v1.Completed, both...), says: []string{"job-0 (ps) is there, in phase Completed", "PaddleJob job-0 exists, and was not created by the test"}},
		"should be forgotten": {job: keeps(func(j *job) { j.outcome = vanishes }), is: ended(v1.Completed, both...), says: []string{"job-0 (ps) is there, in phase Completed", "PaddleJob job-0 exists, and was not created by the test"}},
		"is gone": {job: keeps(), is: without(ended(v1.Completed), func(w *world) { clear(w.jobs) }), says: []string{
			"job-0 (ps) is gone", "Volcano Job job-0 is there without a PaddleJob", "ConfigMap job-0 is there without a PaddleJob",
		}},
		"failed when it was to continue after a suspension": {
			job: keeps(func(j *job) { j.outcome = fails }), is: without(ended(v1.Failed), func(w *world) {
				w.jobs["job-0"].Status.Conditions = []metav1.Condition{{Type: v1.ConditionCreated, Status: metav1.ConditionFalse, Reason: "Suspended"}}
				clear(w.volcano)
				clear(w.environments)
			}),
		},
		"has lost its Volcano Job": {job: keeps(), is: without(ended(v1.Completed, both[0]), func(w *world) { clear(w.volcano) }), says: []string{
			"job-0 (ps) is Completed: it has no Volcano Job", "pod job-0-worker-0 is there without its Volcano Job",
		}},
		"another's pod": {job: keeps(), is: without(ended(v1.Completed, both...), func(w *world) {
			w.pods[1].OwnerReferences[0].UID = types.UID("old")
			w.jobs["job-0"].Status.Worker.Succeeded = 1
		}), says: []string{"pod job-0-worker-1 is there without its Volcano Job"}},
		"its Volcano Job was deleted": {job: keeps(func(j *job) { j.orphaned = true }), is: without(ended(v1.Completed), func(w *world) { clear(w.volcano) })},
		"suspended, and not": {job: keeps(func(j *job) { j.suspended = true }), is: ended(v1.Suspended), says: []string{
			"job-0 (ps) is Suspended: it has a Volcano Job", "job-0 (ps) is Suspended: it has an environment",
		}},
		"suspended": {job: keeps(func(j *job) { j.suspended = true }), is: without(ended(v1.Suspended), func(w *world) {
			clear(w.volcano)
			clear(w.environments)
		})},
		"uses capacity": {job: keeps(), is: without(ended(v1.Completed, both...), func(w *world) { w.transient = []string{"PodGroup job-0-vc"} }),
			says: []string{"PodGroup job-0-vc is there, and nothing runs"}},
		"Volcano's own": {job: keeps(), is: without(ended(v1.Completed, both...), func(w *world) {
			w.lasting = map[string]types.UID{"Service job-0": "vc", "Service job-1": "old"}
		}), says: []string{"Service job-1 is there without its Volcano Job"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.says, differences([]*job{tc.job}, tc.is))
		})
	}
}

// What is drawn can run, but for the kind that is to stall for another reason.
func TestDrawnJobsAreValid(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 500 {
		j := draw(r, "job-0")
		seen[j.kind] = true
		require.Empty(t, validation.Validate(j.made, builder.PodGroupOverrides{}, builder.Config{}), j.kind)
	}
	for _, kind := range kinds {
		require.True(t, seen[kind.name], kind.name)
	}
}

func TestLookAndKeep(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, vcbatch.AddToScheme, vcbus.AddToScheme, vcscheduling.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	owned := func(name, kind string) metav1.ObjectMeta {
		meta := named(name)
		meta.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "job-1", UID: "vc", Controller: ptr.To(true)}}
		return meta
	}
	p := &live.Plane{Dynamic: dynamicfake.NewSimpleDynamicClient(scheme,
		&v1.PaddleJob{ObjectMeta: named("job-1")}, &vcbatch.Job{ObjectMeta: named("job-1")}, &vcbus.Command{ObjectMeta: named("resume")},
		&corev1.ConfigMap{ObjectMeta: owned("env", v1.Kind)}, &corev1.ConfigMap{ObjectMeta: owned("job-1-svc", "Job")}, &corev1.ConfigMap{ObjectMeta: named("kube-root-ca.crt")},
		&corev1.Service{ObjectMeta: owned("job-1", "Job")}, &networkingv1.NetworkPolicy{ObjectMeta: named("stray")}, &vcscheduling.PodGroup{ObjectMeta: named("job-1-vc")},
		&corev1.Pod{ObjectMeta: owned("job-1-worker-0", "Job")}, &corev1.Event{ObjectMeta: named("e"), Reason: "TooLate"})}
	w, err := look(t.Context(), p)
	require.NoError(t, err)
	require.Contains(t, w.jobs, "job-1")
	require.Contains(t, w.volcano, "job-1")
	require.Len(t, w.podsOf("vc"), 1)
	require.Equal(t, map[string]bool{"env": true}, w.environments)
	require.Equal(t, []string{"PodGroup job-1-vc", "Command resume"}, w.transient)
	require.Equal(t, map[string]types.UID{"ConfigMap job-1-svc": "vc", "Service job-1": "vc", "NetworkPolicy stray": ""}, w.lasting)

	path := filepath.Join(t.TempDir(), "left.yaml")
	require.NoError(t, keep(t.Context(), p, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, what := range []string{"kind: PaddleJob", "name: job-1-worker-0", "reason: TooLate"} {
		require.Contains(t, string(text), what)
	}
}
