// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// arbitrary is a job in which the bytes decide what is set, and to what.
func arbitrary(seed []byte) (*v1.PaddleJob, PodGroupOverrides, Config) {
	job, overrides, cfg := &v1.PaddleJob{}, PodGroupOverrides{}, Config{}
	fill := randfill.NewFromGoFuzz(seed).NilChance(0.5).NumElements(0, 3).MaxDepth(12).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63()-c.Int63(), resource.DecimalSI)
		},
		// Names that are worth something now and then, or nothing would ever get past the first checks.
		func(s *string, c randfill.Continue) {
			words := []string{"wide", "data", "", "volcano", "POD_IP", "POD_NAME", "PADDLE_PORT", "/data", "Service", "Host", "kv:1", "Never", c.String(8)}
			*s = words[c.Intn(len(words))]
		},
		func(n *int, c randfill.Continue) { *n = []int{1, 2, 0, -1, c.Int()}[c.Intn(5)] },
		func(n *int32, c randfill.Continue) { *n = []int32{1, 2, 0, -1, c.Int31()}[c.Intn(5)] },
	)
	fill.Fill(job)
	fill.Fill(&overrides)
	fill.Fill(&cfg)
	return job, overrides, cfg
}

// holds checks what must be true of everything that is rendered from a job that was accepted.
func holds(t *testing.T, job *v1.PaddleJob, got *vcbatch.Job) {
	t.Helper()
	var sum int32
	for i := range got.Spec.Tasks {
		task := &got.Spec.Tasks[i]
		require.Positive(t, *task.MinAvailable)
		require.LessOrEqual(t, *task.MinAvailable, task.Replicas)
		require.LessOrEqual(t, len(podName(got.Name, task.Name, int(task.Replicas)-1)), validation.DNS1123LabelMaxLength)
		sum += *task.MinAvailable
		spec := &task.Template.Spec
		require.Contains(t, []corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}, spec.RestartPolicy)
		own := map[string]int{}
		for _, variable := range spec.Containers[0].Env {
			own[variable.Name]++
		}
		for _, name := range []string{"POD_NAME", "POD_IP", "PADDLE_CURRENT_IP", "TRAINING_ROLE", "PADDLE_TRAINING_ROLE"} {
			require.Positive(t, own[name], name)
		}
		require.True(t, own["PADDLE_TRAINER_ID"] > 0 || Elastic(job))
		require.True(t, spec.HostNetwork || job.Spec.Intranet != v1.Host)
		require.Equal(t, job.Name, spec.Containers[0].EnvFrom[0].ConfigMapRef.Name)
	}
	require.Equal(t, sum, got.Spec.MinAvailable)
}

func FuzzJob(f *testing.F) {
	for _, seed := range []string{"", "0", "a longer seed, so that there is something to decide with", "\x00\xff\x7f\x80\x01\x02\x03\x04\x05\x06"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, seed []byte) {
		job, overrides, cfg := arbitrary(seed)
		before := job.DeepCopy()
		got, warnings := Job(job, overrides, cfg)
		PodGroup(got)
		addresses, gang, _ := PodAddresses(job, nil)
		ConfigMapAt(job, addresses, 20000, gang, cfg)
		PodAnnotations(job, 20000, &corev1.Pod{})
		AddressPrefix(addresses)
		require.Equal(t, before, job, "the PaddleJob was changed")
		for _, cause := range warnings {
			require.NotEmpty(t, cause.Reason)
			require.NotEmpty(t, cause.Message)
		}

		// The same bytes as the spec of a job that is otherwise valid.
		fine := paddleJob(2, 2, func(fine *v1.PaddleJob) {
			fine.Spec.SchedulingPolicy, fine.Spec.SampleSetRef = job.Spec.SchedulingPolicy, job.Spec.SampleSetRef
			fine.Labels, fine.Annotations = job.Labels, job.Annotations
			if job.Spec.Worker != nil && len(job.Spec.Worker.Template.Spec.Containers) > 0 {
				first := job.Spec.Worker.Template.Spec.Containers[0]
				fine.Spec.Worker.Template.Spec.Containers[0].Env = first.Env
				fine.Spec.Worker.Template.Spec.Containers[0].Resources = first.Resources
			}
			if len(seed) > 0 && seed[0]%2 == 1 {
				fine.Spec.PS = nil
				fine.Spec.WithGloo = ptr.To(int32(seed[0]) % 3)
			}
			if len(seed) > 1 {
				fine.Spec.Intranet = []v1.Intranet{"", v1.PodIP, v1.Service, v1.Host}[seed[1]%4]
			}
			if len(seed) > 2 && seed[2]%3 == 1 {
				fine.Spec.Heter = roleOf(int(seed[2])%3 + 1)
			}
			if len(seed) > 2 && seed[2]%3 == 2 {
				elastic(int32(seed[2])%3, 4)(fine)
				etcdAt("kv:1")(fine)
			}
		})
		got, _ = Job(fine, PodGroupOverrides{}, cfg)
		holds(t, fine, got)
	})
}

// The same job must give the same bytes each time: what is compared with the API server's object, and hashed, must not
// depend on the order of a map.
func TestRenderingIsDeterministic(t *testing.T) {
	job := paddleJob(2, 3, withGloo(1), minAvailable(3), intranet(v1.Service), workerEnv(
		corev1.EnvVar{Name: "PADDLE_PORT", Value: "1"}, corev1.EnvVar{Name: "POD_NAME", Value: "x"}, corev1.EnvVar{Name: "TRAINER_PORTS_NUM", Value: "2"},
	))
	job.Labels = map[string]string{"a": "1", "b": "2", "c": "3"}
	job.Spec.Worker.Template.Annotations = map[string]string{"x y": "", "z z": "", "a a": ""}
	job.Spec.Worker.Template.Labels = map[string]string{"x y": "", "z z": "", "a a": ""}
	job.Spec.Worker.Template.Spec.Containers[0].Resources.Limits = list("cpu", "-1", "memory", "-1", "nvidia.com/gpu", "-1")
	render := func() []byte {
		vcJob, warnings := Job(job, PodGroupOverrides{}, Config{})
		pods := []*corev1.Pod{pod("wide", RolePS, "1", "10.0.0.1"), pod("wide", RoleWorker, "0", "10.0.0.2")}
		addresses, gang, missing := PodAddresses(job, pods)
		all, err := json.Marshal([]any{
			vcJob, warnings, PodGroup(vcJob),
			ConfigMap(job, addresses, gang, Config{}), missing, ServiceAddresses(job), SpecHash(job),
		})
		require.NoError(t, err)
		return all
	}
	first := render()
	for range 50 {
		require.True(t, bytes.Equal(first, render()), "rendered twice, and not the same")
	}
}
