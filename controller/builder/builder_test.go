// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestMode(t *testing.T) {
	require.Equal(t, v1.ModePS, Mode(paddleJob(1, 1)))
	require.Equal(t, v1.ModePS, Mode(paddleJob(1, 0)))
	require.Equal(t, v1.ModeCollective, Mode(paddleJob(0, 2)))
	require.Equal(t, v1.ModeSingle, Mode(paddleJob(0, 1)))
	require.Equal(t, v1.ModeSingle, Mode(paddleJob(0, 0)))
}

func TestIntranet(t *testing.T) {
	require.Equal(t, v1.PodIP, Intranet(paddleJob(0, 1), Config{}))
	require.Equal(t, v1.Service, Intranet(paddleJob(0, 1), Config{DefaultIntranet: v1.Service}))
	require.Equal(t, v1.PodIP, Intranet(paddleJob(0, 1, intranet(v1.PodIP)), Config{DefaultIntranet: v1.Service}))
	misspelt := paddleJob(0, 2, intranet("service"))
	require.Equal(t, v1.PodIP, Intranet(misspelt, Config{DefaultIntranet: v1.Service}), "as with paddle-operator")
	_, warnings := mustJob(t, misspelt)
	requireCause(t, warnings, ReasonIntranet, "spec.intranet", `"service"`, "PodIP, Service or Host")
}

// change is one difference to a job that is fine.
type change func(*v1.PaddleJob)

func paddleJob(ps, workers int, changes ...change) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "wide", Namespace: "train", UID: "0f1e"}}
	if ps > 0 {
		job.Spec.PS = roleOf(ps)
	}
	if workers > 0 {
		job.Spec.Worker = roleOf(workers)
	}
	for _, apply := range changes {
		apply(job)
	}
	return job
}

func roleOf(replicas int) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "paddle", Image: "paddle:v1"}},
	}}}
}

// workerPod changes the workers' pod.
func workerPod(apply func(*corev1.PodSpec)) change {
	return func(job *v1.PaddleJob) { apply(&job.Spec.Worker.Template.Spec) }
}

// workerContainer changes the workers' first container.
func workerContainer(apply func(*corev1.Container)) change {
	return workerPod(func(spec *corev1.PodSpec) { apply(&spec.Containers[0]) })
}

func workerEnv(variables ...corev1.EnvVar) change {
	return workerContainer(func(c *corev1.Container) { c.Env = variables })
}

func intranet(value v1.Intranet) change {
	return func(job *v1.PaddleJob) { job.Spec.Intranet = value }
}

func named(name string) change {
	return func(job *v1.PaddleJob) { job.Name = name }
}

func policy(apply func(*v1.SchedulingPolicy)) change {
	return func(job *v1.PaddleJob) {
		if job.Spec.SchedulingPolicy == nil {
			job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{}
		}
		apply(job.Spec.SchedulingPolicy)
	}
}

func minAvailable(value int32) change {
	return policy(func(p *v1.SchedulingPolicy) { p.MinAvailable = ptr.To(value) })
}

func sampleSet(ref v1.SampleSetRef) change {
	return func(job *v1.PaddleJob) { job.Spec.SampleSetRef = &ref }
}

func list(pairs ...string) corev1.ResourceList {
	all := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		all[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return all
}

// text has every quantity in its canonical form, to be compared.
func text(resources corev1.ResourceList) map[string]string {
	all := map[string]string{}
	for name, quantity := range resources {
		all[string(name)] = quantity.String()
	}
	return all
}

// pod is a live pod as Volcano makes it.
func pod(job, role, index, ip string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        job + "-" + role + "-" + index,
			UID:         "uid-of-" + "pod",
			Labels:      map[string]string{vcbatch.TaskIndex: index},
			Annotations: map[string]string{vcbatch.TaskSpecKey: role},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip},
	}
}

// mustJob renders a valid job.
func mustJob(t *testing.T, job *v1.PaddleJob) (*vcbatch.Job, []Cause) {
	t.Helper()
	return Job(job, PodGroupOverrides{}, Config{})
}

// taskOf is the task of a role.
func taskOf(t *testing.T, job *vcbatch.Job, name string) *vcbatch.TaskSpec {
	t.Helper()
	for i := range job.Spec.Tasks {
		if job.Spec.Tasks[i].Name == name {
			return &job.Spec.Tasks[i]
		}
	}
	require.Fail(t, "no task "+name)
	return nil
}

// requireCause checks that there is one notice of the reason, and that it has these words.
func requireCause(t *testing.T, all []Cause, reason string, words ...string) {
	t.Helper()
	var found []string
	for _, cause := range all {
		if cause.Reason == reason {
			found = append(found, cause.Message)
		}
	}
	require.Len(t, found, 1, "notices with reason %s among %v", reason, all)
	for _, word := range words {
		require.Contains(t, found[0], word)
	}
	require.NotContains(t, found[0], "%!", "badly formatted")
}
