// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/crd"
)

func TestConvertedJobBelongsToItsJob(t *testing.T) {
	t.Parallel()
	made := Convert(job(func(j *kubeflowv1.PaddleJob) {
		j.Labels = map[string]string{"team": "vision"}
		j.Annotations = map[string]string{"note": "x", corev1.LastAppliedConfigAnnotation: "{}"}
	}), false)
	require.Empty(t, made.Warnings)
	require.Equal(t, "team/train", made.Job.Namespace+"/"+made.Job.Name)
	require.Equal(t, map[string]string{"team": "vision", "training.kubeflow.org/job-name": "train"}, made.Job.Labels)
	require.Equal(t, map[string]string{"note": "x"}, made.Job.Annotations)
	require.Equal(t, []metav1.OwnerReference{{
		APIVersion: "kubeflow.org/v1", Kind: "PaddleJob", Name: "train", UID: "kubeflow-1", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}, made.Job.OwnerReferences)
	require.Empty(t, validation.Validate(made.Job, builder.PodGroupOverrides{}, builder.Config{}))
}

func TestConvertRoles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		specs       map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec
		ps, workers int
		refused     string
	}{
		"workers":          {specs: map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"Worker": pods(3)}, workers: 3},
		"servers":          {specs: map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"Worker": pods(3), "Master": pods(2)}, ps: 2, workers: 3},
		"any case":         {specs: map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"WORKER": pods(3), "master": pods(2)}, ps: 2, workers: 3},
		"one by default":   {specs: map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"Worker": {}}, workers: 1},
		"nothing is a pod": {specs: map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"Worker": nil}, workers: 1},
		"twice": {
			specs:   map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"Worker": pods(1), "worker": pods(2)},
			refused: "spec.paddleReplicaSpecs.Worker and spec.paddleReplicaSpecs.worker are the same role: keep one of them",
		},
		"another": {
			specs:   map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"Worker": pods(1), "Chief": pods(2)},
			refused: "spec.paddleReplicaSpecs.Chief is no role of a PaddleJob: use Worker, and Master for parameter servers",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := Convert(job(func(j *kubeflowv1.PaddleJob) { j.Spec.PaddleReplicaSpecs = tc.specs }), false)
			if tc.refused != "" {
				require.Nil(t, made.Job)
				require.Equal(t, tc.refused, builder.Messages(made.Refused))
				require.Equal(t, ReasonInvalidReplicaType, made.Refused[0].Reason)
				return
			}
			require.EqualValues(t, tc.workers, made.Job.Spec.Worker.Replicas)
			if tc.ps == 0 {
				require.Nil(t, made.Job.Spec.PS)
				return
			}
			require.EqualValues(t, tc.ps, made.Job.Spec.PS.Replicas)
		})
	}
}

// What is wrong with a job is wrong with its PaddleJob, which the API server refuses.
func TestTheAPIServerRefusesTheRest(t *testing.T) {
	t.Parallel()
	text, err := deploy.Files.ReadFile("v1/crd.yaml")
	require.NoError(t, err)
	validator, err := crd.NewValidator(t.Context(), text)
	require.NoError(t, err)
	run := func(policy kubeflowv1.RunPolicy) change {
		return func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy = policy }
	}
	for says, with := range map[string]change{
		"spec.paddleReplicaSpecs.Worker is missing": func(j *kubeflowv1.PaddleJob) { j.Spec.PaddleReplicaSpecs = nil },
		"servers do not train by themselves": func(j *kubeflowv1.PaddleJob) {
			j.Spec.PaddleReplicaSpecs = map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{"Master": pods(2)}
		},
		"spec.runPolicy.activeDeadlineSeconds":                       run(kubeflowv1.RunPolicy{ActiveDeadlineSeconds: ptr.To[int64](0)}),
		"spec.runPolicy.backoffLimit":                                run(kubeflowv1.RunPolicy{BackoffLimit: ptr.To[int32](-1)}),
		"minReplicas, the minimum of elastic workers, must be 1":     bounds(ptr.To[int32](0), ptr.To[int32](2)),
		"maxReplicas, the maximum of elastic workers":                bounds(ptr.To[int32](2), ptr.To[int32](1)),
		"at most spec.paddleReplicaSpecs.Worker.replicas: correct":   bounds(ptr.To[int32](4), ptr.To[int32](2)),
		"cannot be the name of the job's Service":                    func(j *kubeflowv1.PaddleJob) { j.Name = "1.train" },
		"it must fit into the 63 characters of a host name; shorten": func(j *kubeflowv1.PaddleJob) { j.Name = strings.Repeat("a", 64) },
	} {
		made := Convert(job(with), true)
		require.Empty(t, made.Refused, says)
		made.Job.APIVersion, made.Job.Kind = batchv1.SchemeGroupVersion.String(), batchv1.Kind
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made.Job)
		require.NoError(t, err)
		delete(object, "status") // as the API server does
		refused := validator.Create(t.Context(), &unstructured.Unstructured{Object: object}).ToAggregate()
		require.ErrorContains(t, refused, "", says)
		require.Contains(t, fieldPaths.Replace(refused.Error()), says)
	}
}

func TestConvertPolicies(t *testing.T) {
	t.Parallel()
	cleans := func(policy string) change {
		return func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy.CleanPodPolicy = &policy }
	}
	runs := func(run kubeflowv1.RunPolicy) change { return func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy = run } }
	schedules := func(policy kubeflowv1.SchedulingPolicy) change {
		return runs(kubeflowv1.RunPolicy{SchedulingPolicy: &policy})
	}
	codes := make([]int32, 127)
	for i := range codes {
		codes[i] = int32(i) + 1
	}
	four := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	for name, tc := range map[string]struct {
		with     []change
		etcd     bool
		want     batchv1.PaddleJobSpec
		warnings []string
		refused  string
	}{
		"nothing":       {},
		"clean all":     {with: []change{cleans("All")}, want: batchv1.PaddleJobSpec{CleanPodPolicy: batchv1.CleanAlways}},
		"clean running": {with: []change{cleans("Running")}},
		"clean none":    {with: []change{cleans("None")}},
		"clean unset":   {with: []change{cleans("")}},
		"clean else":    {with: []change{cleans("Al")}, warnings: []string{builder.ReasonCleanPodPolicy}},
		"time to live":  {with: []change{ttl(60)}},
		"lives forever": {with: []change{ttl(-1)}},
		"not suspended": {with: []change{runs(kubeflowv1.RunPolicy{Suspend: ptr.To(false)})}},
		"suspended": {
			with: []change{runs(kubeflowv1.RunPolicy{Suspend: ptr.To(true)})},
			want: batchv1.PaddleJobSpec{RunPolicy: &batchv1.RunPolicy{Suspend: ptr.To(true)}},
		},
		"limits": {
			with: []change{runs(kubeflowv1.RunPolicy{ActiveDeadlineSeconds: ptr.To[int64](9), BackoffLimit: ptr.To[int32](5)})},
			want: batchv1.PaddleJobSpec{RunPolicy: &batchv1.RunPolicy{ActiveDeadlineSeconds: ptr.To[int64](9), BackoffLimit: ptr.To[int32](5)}},
		},
		"least limits": {
			with: []change{runs(kubeflowv1.RunPolicy{
				ActiveDeadlineSeconds: ptr.To[int64](1), BackoffLimit: ptr.To[int32](0), TTLSecondsAfterFinished: ptr.To[int32](0),
			})},
			want: batchv1.PaddleJobSpec{RunPolicy: &batchv1.RunPolicy{ActiveDeadlineSeconds: ptr.To[int64](1), BackoffLimit: ptr.To[int32](0)}},
		},
		"only a minimum": {
			with: []change{schedules(kubeflowv1.SchedulingPolicy{MinAvailable: ptr.To[int32](1)})},
			want: batchv1.PaddleJobSpec{SchedulingPolicy: &batchv1.SchedulingPolicy{MinAvailable: ptr.To[int32](1)}},
		},
		"only a queue": {
			with: []change{schedules(kubeflowv1.SchedulingPolicy{Queue: "gold"})},
			want: batchv1.PaddleJobSpec{SchedulingPolicy: &batchv1.SchedulingPolicy{Queue: "gold"}},
		},
		"only a class": {
			with: []change{schedules(kubeflowv1.SchedulingPolicy{PriorityClass: "high"})},
			want: batchv1.PaddleJobSpec{SchedulingPolicy: &batchv1.SchedulingPolicy{PriorityClass: "high"}},
		},
		"only resources": {
			with: []change{schedules(kubeflowv1.SchedulingPolicy{MinResources: four})},
			want: batchv1.PaddleJobSpec{SchedulingPolicy: &batchv1.SchedulingPolicy{MinResources: four}},
		},
		"on failure":        {with: []change{restarts("OnFailure")}},
		"always":            {with: []change{restarts("Always")}, warnings: []string{builder.ReasonRestartPolicyChanged}},
		"unknown":           {with: []change{restarts("Sometimes")}, refused: ReasonInvalidRestartPolicy},
		"unknown of master": {with: []change{servers, func(j *kubeflowv1.PaddleJob) { j.Spec.PaddleReplicaSpecs["Master"].RestartPolicy = "?" }}, refused: ReasonInvalidRestartPolicy},
		"never": {
			with: []change{restarts("Never")},
			want: batchv1.PaddleJobSpec{RunPolicy: &batchv1.RunPolicy{BackoffLimit: ptr.To[int32](0)}},
		},
		"never, and often": {
			with:     []change{runs(kubeflowv1.RunPolicy{BackoffLimit: ptr.To[int32](5)}), restarts("Never")},
			want:     batchv1.PaddleJobSpec{RunPolicy: &batchv1.RunPolicy{BackoffLimit: ptr.To[int32](0)}},
			warnings: []string{ReasonFieldIgnored},
		},
		"exit code": {
			with: []change{restarts("ExitCode")},
			want: batchv1.PaddleJobSpec{RunPolicy: &batchv1.RunPolicy{PermanentExitCodes: codes}},
		},
		"two policies": {
			with: []change{servers, restarts("Never")}, warnings: []string{builder.ReasonRestartPolicyChanged},
			want: batchv1.PaddleJobSpec{RunPolicy: &batchv1.RunPolicy{BackoffLimit: ptr.To[int32](0)}},
		},
		"scheduling": {
			with: []change{schedules(kubeflowv1.SchedulingPolicy{
				MinAvailable: ptr.To[int32](1), Queue: "gold", PriorityClass: "high", MinResources: four,
			})},
			want: batchv1.PaddleJobSpec{SchedulingPolicy: &batchv1.SchedulingPolicy{
				MinAvailable: ptr.To[int32](1), Queue: "gold", PriorityClass: "high", MinResources: four,
			}},
		},
		"timeout": {
			with: []change{schedules(kubeflowv1.SchedulingPolicy{ScheduleTimeoutSeconds: ptr.To[int32](5)})}, warnings: []string{ReasonFieldIgnored},
		},
		"elastic": {
			with: []change{bounds(ptr.To[int32](1), ptr.To[int32](4))}, etcd: true,
			want: batchv1.PaddleJobSpec{Elastic: ptr.To[int32](1), Worker: &batchv1.ResourceSpec{Requests: ptr.To[int32](1), Limits: ptr.To[int32](4)}},
		},
		"elastic, restarts": {
			with: []change{bounds(ptr.To[int32](2), ptr.To[int32](3)), func(j *kubeflowv1.PaddleJob) { j.Spec.ElasticPolicy.MaxRestarts = ptr.To[int32](3) }},
			etcd: true,
			want: batchv1.PaddleJobSpec{
				Elastic: ptr.To[int32](1), ElasticPolicy: &batchv1.ElasticPolicy{MaxRestarts: ptr.To[int32](3)},
				Worker: &batchv1.ResourceSpec{Requests: ptr.To[int32](2), Limits: ptr.To[int32](3)},
			},
		},
		"elastic without etcd": {with: []change{bounds(ptr.To[int32](1), ptr.To[int32](4))}, warnings: []string{ReasonFieldIgnored}},
		"elastic with servers": {with: []change{servers, bounds(ptr.To[int32](1), ptr.To[int32](4))}, etcd: true, warnings: []string{ReasonFieldIgnored}},
		"bounds that are one":  {with: []change{bounds(ptr.To[int32](2), ptr.To[int32](2))}, etcd: true},
		"no bounds":            {with: []change{bounds(nil, nil)}, etcd: true},
		"the least alone":      {with: []change{bounds(ptr.To[int32](1), nil)}, etcd: true},
		"the most alone":       {with: []change{bounds(nil, ptr.To[int32](5))}, etcd: true},
		"metrics": {with: []change{func(j *kubeflowv1.PaddleJob) {
			j.Spec.ElasticPolicy = &kubeflowv1.ElasticPolicy{Metrics: make([]autoscalingv2.MetricSpec, 1)}
		}}, warnings: []string{ReasonFieldIgnored}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := Convert(job(tc.with...), tc.etcd)
			if tc.refused != "" {
				require.Nil(t, made.Job)
				require.Equal(t, []string{tc.refused}, reasons(made.Refused))
				return
			}
			require.Equal(t, tc.warnings, reasons(made.Warnings))
			spec, want := made.Job.Spec, tc.want
			if want.CleanPodPolicy == "" {
				want.CleanPodPolicy = batchv1.CleanNever
			}
			if want.Worker == nil {
				want.Worker = &batchv1.ResourceSpec{}
			}
			want.Worker.Replicas, want.Worker.Template, want.PS = 2, spec.Worker.Template, spec.PS
			require.Equal(t, want, spec)
		})
	}
}
