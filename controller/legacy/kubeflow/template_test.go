// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

func values(all []corev1.EnvVar) map[string]string {
	found := map[string]string{}
	for _, variable := range all {
		found[variable.Name] = variable.Value
	}
	return found
}

func TestVariablesOfKubeflow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with            []change
		etcd            bool
		worker, servers map[string]string
	}{
		"collective": {
			worker: map[string]string{
				"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": "train", "PADDLE_NNODES": "2", "PADDLE_MASTER": "train-worker-0.train:37777",
			},
		},
		"without a port": {
			with: []change{func(j *kubeflowv1.PaddleJob) { worker(j).Template.Spec.Containers[0].Ports[0].Name = "other" }},
			worker: map[string]string{
				"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": "train", "PADDLE_NNODES": "2", "PADDLE_MASTER": "train-worker-0.train:36543",
			},
		},
		"servers": {
			with: []change{servers, func(j *kubeflowv1.PaddleJob) { worker(j).Template.Spec.Containers[0].Ports = nil }},
			worker: map[string]string{
				"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": "train", "PADDLE_NNODES": "3", "PADDLE_MASTER": "train-ps-0.train:37777", "PADDLE_TRAINER_NUM": "1",
			},
			servers: map[string]string{
				"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": "train", "PADDLE_NNODES": "3", "PADDLE_MASTER": "train-ps-0.train:37777", "PADDLE_SERVER_NUM": "1",
			},
		},
		"elastic": {with: []change{bounds(ptr.To[int32](1), ptr.To[int32](4))}, etcd: true, worker: map[string]string{"PYTHONUNBUFFERED": "1"}},
		"the user's own": {
			with: []change{func(j *kubeflowv1.PaddleJob) {
				worker(j).Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MINE", Value: "$(PADDLE_JOB_ID)"}, {Name: "PADDLE_NNODES", Value: "9"}}
			}},
			worker: map[string]string{
				"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": "train", "PADDLE_NNODES": "9", "PADDLE_MASTER": "train-worker-0.train:37777", "MINE": "$(PADDLE_JOB_ID)",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := Convert(job(tc.with...), tc.etcd).Job
			env := made.Spec.Worker.Template.Spec.Containers[0].Env
			require.Equal(t, tc.worker, values(env))
			require.Len(t, env, len(tc.worker), "none twice")
			require.Equal(t, "PYTHONUNBUFFERED", env[0].Name, "the controller's first, so that the user's can refer to them")
			if tc.servers == nil {
				require.Nil(t, made.Spec.PS)
				return
			}
			require.Equal(t, tc.servers, values(made.Spec.PS.Template.Spec.Containers[0].Env))
		})
	}
}

func TestTheTrainingContainerIsTheFirst(t *testing.T) {
	t.Parallel()
	j := job(func(j *kubeflowv1.PaddleJob) {
		spec := &worker(j).Template.Spec
		spec.Containers = append([]corev1.Container{{Name: "logs", Image: "logs"}, {Name: "proxy", Image: "proxy"}}, spec.Containers...)
	})
	before := j.DeepCopy()
	made := Convert(j, false).Job
	var names []string
	for _, container := range made.Spec.Worker.Template.Spec.Containers {
		names = append(names, container.Name)
		require.Equal(t, "train", values(container.Env)["PADDLE_JOB_ID"], "all containers have them")
	}
	require.Equal(t, []string{"paddle", "logs", "proxy"}, names)
	require.Equal(t, before, j, "the cached job is not touched")
	require.Equal(t, corev1.RestartPolicyNever, made.Spec.Worker.Template.Spec.RestartPolicy)

	other := Convert(job(func(j *kubeflowv1.PaddleJob) { worker(j).Template.Spec.Containers[0].Name = "other" }), false)
	require.Equal(t, "other", other.Job.Spec.Worker.Template.Spec.Containers[0].Name)
}

func TestRestartPolicyOfTheTemplate(t *testing.T) {
	t.Parallel()
	in := func(policy corev1.RestartPolicy) Conversion {
		return Convert(job(func(j *kubeflowv1.PaddleJob) { worker(j).Template.Spec.RestartPolicy = policy }), false)
	}
	require.Equal(t, []string{builder.ReasonRestartPolicyChanged}, reasons(in("Always").Warnings))
	require.Empty(t, in("OnFailure").Warnings, "what the role says too")
	require.Equal(t, corev1.RestartPolicyNever, in("Always").Job.Spec.Worker.Template.Spec.RestartPolicy)
}

func TestPodsHaveKubeflowsLabels(t *testing.T) {
	t.Parallel()
	made := Convert(job(servers, func(j *kubeflowv1.PaddleJob) { worker(j).Template.Labels = map[string]string{"mine": "x"} }), false).Job
	require.Equal(t, map[string]string{
		"mine": "x", "training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "paddlejob-controller",
		"training.kubeflow.org/replica-type": "worker",
	}, made.Spec.Worker.Template.Labels)
	require.Equal(t, map[string]string{
		"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "paddlejob-controller",
		"training.kubeflow.org/replica-type": "master", "training.kubeflow.org/job-role": "master",
	}, made.Spec.PS.Template.Labels)
	require.Empty(t, validation.Validate(made, builder.PodGroupOverrides{}, builder.Config{}))
}

func TestTranslateFieldPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"spec.worker.replicas is 0":                         "spec.paddleReplicaSpecs.Worker.replicas is 0",
		"spec.ps.template.spec.containers is empty":         "spec.paddleReplicaSpecs.Master.template.spec.containers is empty",
		"spec.worker.requests is 3":                         "spec.elasticPolicy.minReplicas is 3",
		"spec.worker.limits is 3":                           "spec.elasticPolicy.maxReplicas is 3",
		`spec.schedulingPolicy.queue "x" does not exist`:    `spec.runPolicy.schedulingPolicy.queue "x" does not exist`,
		"spec.runPolicy.backoffLimit, spec.cleanPodPolicy":  "spec.runPolicy.backoffLimit, spec.runPolicy.cleanPodPolicy",
		"train-worker-0 exited with code 7 in a.spec.thing": "train-worker-0 exited with code 7 in a.spec.thing",
	} {
		require.Equal(t, want, fieldPaths.Replace(path))
	}
}
