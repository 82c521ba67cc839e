// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// elastic makes a job of workers elastic between two bounds.
func elastic(least, most int32) change {
	return func(job *v1.PaddleJob) {
		job.Spec.Elastic = ptr.To[int32](1)
		job.Spec.Worker.Requests, job.Spec.Worker.Limits = &least, &most
	}
}

func etcdAt(address string) change {
	return func(job *v1.PaddleJob) { job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: address} }
}

var withEtcd = Config{ElasticEtcd: "kv.paddle:2379"}

func TestElasticEnvironment(t *testing.T) {
	job := paddleJob(0, 4, elastic(2, 8))
	made, warnings := Job(job, PodGroupOverrides{}, withEtcd)
	require.Empty(t, warnings)
	first := taskOf(t, made, RoleWorker).Template.Spec.Containers[0]
	_, values := written(first.Env)
	require.Equal(t, map[string]string{
		"POD_NAME": "<metadata.name>", "POD_IP": "<status.podIP>", "PADDLE_CURRENT_IP": "<status.podIP>",
		"TRAINING_ROLE": "TRAINER", "PADDLE_TRAINING_ROLE": "TRAINER",
	}, values, "no rank")
	want := map[string]string{
		"PADDLE_MASTER": "etcd://kv.paddle:2379", "PADDLE_NNODES": "2:8", "PADDLE_JOB_ID": "train-wide-0f1e", "PADDLE_ELASTIC_LEVEL": "1", "RANK": "-1",
	}
	require.Equal(t, want, ConfigMap(job, nil, "", withEtcd).Data)

	job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "etcd://10.0.0.9:1", TimeoutSeconds: ptr.To(int32(60)), MaxRestarts: ptr.To(int32(0))}
	want["PADDLE_MASTER"], want["PADDLE_ELASTIC_TIMEOUT"], want["PADDLE_MAX_RESTART"] = "etcd://10.0.0.9:1", "60", "0"
	require.Equal(t, want, ConfigMap(job, nil, "", withEtcd).Data, "the job's own etcd comes first")
}

// A change of replicas must be one of a number in the Volcano Job, and of nothing that a pod is made from or reads.
func TestElasticReplicasAreInNoTemplate(t *testing.T) {
	for _, network := range []v1.Intranet{v1.PodIP, v1.Service, v1.Host} {
		few, many := paddleJob(0, 2, elastic(2, 8), intranet(network)), paddleJob(0, 7, elastic(2, 8), intranet(network))
		small, _ := Job(few, PodGroupOverrides{}, withEtcd)
		large, _ := Job(many, PodGroupOverrides{}, withEtcd)
		require.Equal(t, small.Spec.Tasks[0].Template, large.Spec.Tasks[0].Template)
		require.Equal(t, ConfigMap(few, ServiceAddresses(few), "", withEtcd), ConfigMap(many, ServiceAddresses(many), "", withEtcd))
		require.Equal(t, small.Spec.MinAvailable, large.Spec.MinAvailable)
		require.NotEqual(t, small.Spec.Tasks[0].Replicas, large.Spec.Tasks[0].Replicas)
	}
}

func TestElasticGang(t *testing.T) {
	for name, c := range map[string]struct {
		job  *v1.PaddleJob
		want int32
	}{
		"requests":                  {paddleJob(0, 4, elastic(2, 8)), 2},
		"minAvailable says more":    {paddleJob(0, 4, elastic(2, 8), minAvailable(3)), 3},
		"minAvailable says less":    {paddleJob(0, 4, elastic(2, 8), minAvailable(1)), 2},
		"all":                       {paddleJob(0, 4, elastic(4, 4)), 4},
		"no requests: replicas":     {paddleJob(0, 4, elastic(1, 8), func(job *v1.PaddleJob) { job.Spec.Worker.Requests = nil }), 4},
		"one worker is collective":  {paddleJob(0, 1, elastic(1, 8)), 1},
		"no limits: replicas":       {paddleJob(0, 4, elastic(2, 8), func(job *v1.PaddleJob) { job.Spec.Worker.Limits = nil }), 2},
		"OnFailure may be in place": {paddleJob(0, 4, elastic(2, 8), workerPod(func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure })), 2},
	} {
		t.Run(name, func(t *testing.T) {
			made, _ := Job(c.job, PodGroupOverrides{}, withEtcd)
			require.Equal(t, c.want, made.Spec.MinAvailable)
			require.Equal(t, c.want, *taskOf(t, made, RoleWorker).MinAvailable)
			require.Equal(t, v1.ModeCollective, Mode(c.job))
		})
	}
	_, warnings := Job(paddleJob(0, 4, elastic(2, 8), minAvailable(1)), PodGroupOverrides{}, withEtcd)
	require.Len(t, warnings, 1)
	requireCause(t, warnings, ReasonMinAvailableRaised, "2 is used")
}

func TestElasticPolicyAloneIsReported(t *testing.T) {
	_, warnings := mustJob(t, paddleJob(0, 4, etcdAt("kv:2379")))
	require.Len(t, warnings, 1)
	requireCause(t, warnings, ReasonElasticPolicyIgnored, "spec.elasticPolicy", "minReplicas")
}

func TestBoundsWithoutElasticAreReported(t *testing.T) {
	for field, bounded := range map[string]change{
		"spec.ps.limits":       func(job *v1.PaddleJob) { job.Spec.PS.Limits = ptr.To[int32](4) },
		"spec.worker.requests": func(job *v1.PaddleJob) { job.Spec.Worker.Requests = ptr.To[int32](1) },
	} {
		vcjob, warnings := mustJob(t, paddleJob(2, 4, bounded))
		require.EqualValues(t, 6, vcjob.Spec.MinAvailable)
		requireCause(t, warnings, ReasonBoundsIgnored, field, "spec.elastic")
	}
}

// As users of paddle-operator name it, which has no field for it.
func TestEtcdInTheEnvironment(t *testing.T) {
	server := func(value string) change {
		return workerContainer(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "PADDLE_ELASTIC_SERVER", Value: value}} })
	}
	elastic := func(job *v1.PaddleJob) { job.Spec.Elastic = ptr.To[int32](1) }
	cfg := Config{ElasticEtcd: "flag:1"}
	for name, tc := range map[string]struct {
		job  *v1.PaddleJob
		want string
	}{
		"the flag":                    {paddleJob(0, 2, elastic), "flag:1"},
		"the environment before it":   {paddleJob(0, 2, elastic, server("10.0.0.9:2379")), "10.0.0.9:2379"},
		"nothing in the environment":  {paddleJob(0, 2, elastic, server("")), "flag:1"},
		"the field before both":       {paddleJob(0, 2, elastic, server("10.0.0.9:2379"), etcdAt("kv:2379")), "kv:2379"},
		"with a scheme, which it has": {paddleJob(0, 2, elastic, server("etcd://10.0.0.9:2379")), "10.0.0.9:2379"},
	} {
		require.Equal(t, "etcd://"+tc.want, elasticContract(tc.job, cfg)["PADDLE_MASTER"], name)
	}
	_, source := Etcd(paddleJob(0, 2, elastic, server("etcd:2379")), Config{})
	require.Equal(t, "spec.worker.template.spec.containers[0].env PADDLE_ELASTIC_SERVER", source)
}

func TestEtcdProblem(t *testing.T) {
	for _, fine := range []string{"kv:1", "kv:65535", "10.0.0.9:2379", "etcd://kv.ns.svc:2379", "my-etcd:2379"} {
		require.Empty(t, EtcdProblem(fine))
	}
	for _, wrong := range []string{"", "kv", "kv:", "kv:x", "kv:0", "kv:65536", ":2379", "a b:1", "a@b:1", "http://kv:1", "kv:1:2"} {
		require.Contains(t, EtcdProblem(wrong), "is not host:port", wrong)
	}
	for wrong, left := range map[string]string{"etcd:1": `""`, "e:1": `""`, "data:1": `"ata"`, "tide.ns:1": `"ide.ns"`, "cedt-x:1": `"-x"`} {
		require.Contains(t, EtcdProblem(wrong), "look for "+left, wrong)
	}
}

func TestElasticPolicyIsTheSwitch(t *testing.T) {
	bounds := func(job *v1.PaddleJob) {
		job.Spec.ElasticPolicy = &v1.ElasticPolicy{MinReplicas: ptr.To[int32](2), MaxReplicas: ptr.To[int32](8), Etcd: "kv:1"}
	}
	job := paddleJob(0, 4, bounds)
	require.True(t, Elastic(job))
	require.True(t, Scalable(job))
	least, most := Bounds(job)
	require.Equal(t, []int32{2, 8}, []int32{least, most})
	require.Equal(t, "2:8", elasticContract(job, Config{})["PADDLE_NNODES"])
	require.Equal(t, SpecHash(job), SpecHash(paddleJob(0, 7, bounds)), "the number of workers may change")
	_, warnings := mustJob(t, job)
	require.Empty(t, warnings)
	require.False(t, Elastic(paddleJob(0, 4, etcdAt("kv:1"))))
	require.False(t, Elastic(paddleJob(1, 4, bounds)), "workers of servers are not elastic")
}
