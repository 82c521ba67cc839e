// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestIsPaddlePod(t *testing.T) {
	for name, test := range map[string]struct {
		pod    func(*corev1.Pod)
		paddle bool
	}{
		"only a task's name":           {func(*corev1.Pod) {}, false},
		"other labels":                 {label("app", "paddle"), false},
		"our label":                    {label(JobNameLabel, "job"), true},
		"paddle-operator's label":      {label(ResourceTypeLabel, "worker"), true},
		"paddle-operator's annotation": {annotation(ResourceAnnotation, "worker"), true},
		"example's server":             {label(CtrServerLabel, "ctr"), true},
		"example's trainer":            {label(CtrWorkerLabel, "ctr"), true},
		"a variable of trainers":       {variable("PADDLE_TRAINER_ENDPOINTS", "10.0.0.1:36000"), true},
		"another variable of trainers": {variable("PADDLE_TRAINERS_NUM", "2"), true},
		"a variable of servers":        {variable("PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:36000"), true},
		"what launchers need":          {variable("PADDLE_MASTER", "job-worker-0.job:36000"), false},
		"what services need":           {variable("PADDLE_SERVING_PORT", "9292"), false},
		"training role":                {variable("TRAINING_ROLE", "TRAINER"), true},
		"somebody else's role":         {variable("TRAINING_ROLE", "chief"), false},
		"somebody else's variable":     {variable("MY_ROLE", "TRAINER"), false},
		"a pod of a JobSet":            {ownedIn(kindKubernetesJob, jobSetNameLabel), true},
		"a pod of a Job":               {ownedIn(kindKubernetesJob, "app"), false},
		"a JobSet's label elsewhere":   {ownedIn(kindReplicaSet, jobSetNameLabel), false},
		"variable of the second container": {func(pod *corev1.Pod) {
			pod.Spec.Containers = append([]corev1.Container{{Name: "sidecar"}}, pod.Spec.Containers...)
			pod.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "PADDLE_TRAINER_ID", Value: "0"}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.paddle, IsPaddlePod(one(test.pod)))
		})
	}
}

// ownedIn gives a pod with the role of a worker an owner and one more label.
func ownedIn(kind schema.GroupVersionKind, key string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		annotation(ResourceAnnotation, "worker")(pod)
		label(key, "job")(pod)
		pod.OwnerReferences = ownedBy(kind)
	}
}

func TestIsPaddle(t *testing.T) {
	job := func(pods ...*corev1.Pod) *api.JobInfo {
		made := api.NewJobInfo("ns/job")
		made.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{}})
		for _, pod := range pods {
			made.AddTaskInfo(api.NewTaskInfo(pod))
		}
		return made
	}
	plain := plainPods("worker", 2, nothing)

	require.False(t, IsPaddle(job()))
	require.False(t, IsPaddle(job(plain...)))
	require.True(t, IsPaddle(job(plain[0], withLabel(plainPods("ps", 1, nothing), CtrServerLabel, "ctr")[0])),
		"one pod is enough")

	labelled := job(plain...)
	labelled.PodGroup.Labels = map[string]string{JobNameLabel: "job"}
	require.True(t, IsPaddle(labelled))

	annotated := job(plain...)
	annotated.PodGroup.Annotations = map[string]string{ModeAnnotation: "Collective"}
	require.True(t, IsPaddle(annotated))

	bare := job(plain...)
	bare.PodGroup = nil
	require.False(t, IsPaddle(bare))
}

// Who owns a PodGroup decides whether it may be a Paddle job; who owns a pod, whether its marks count.
func TestIsPaddle_Owners(t *testing.T) {
	other := append(ownedBy(kindVolcanoJob), metav1.OwnerReference{APIVersion: "ray.io/v1", Kind: "RayCluster"})
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		paddle bool
		all    bool
	}{
		"a user":                    {nil, true, false},
		"a Volcano Job":             {ownedBy(kindVolcanoJob), true, true},
		"paddle-operator":           {ownedBy(kindPaddleJob), true, true},
		"Kubeflow's PaddleJob":      {ownedBy(kindKubeflowPaddleJob), true, false},
		"a TrainJob":                {ownedBy(kindTrainJob), true, true},
		"a ReplicaSet":              {ownedBy(kindReplicaSet), false, false},
		"a StatefulSet":             {ownedBy(kindStatefulSet), false, false},
		"a Job of Kubernetes":       {ownedBy(kindKubernetesJob), false, false},
		"a plain pod":               {ownedBy(kindPod), false, false},
		"another framework":         {ownedBy(kindPyTorchJob), false, false},
		"LeaderWorkerSet":           {ownedBy(kindLeaderWorkerSet), false, false},
		"another framework as well": {other, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := one(label(ResourceTypeLabel, "worker"))
			job := api.NewJobInfo("ns/job")
			job.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.owners}}})
			job.AddTaskInfo(api.NewTaskInfo(pod))
			require.Equal(t, test.paddle, IsPaddle(job))
			require.Equal(t, test.all, needsAllPods(job))

			job.PodGroup.Labels = map[string]string{JobNameLabel: "job"}
			require.Equal(t, test.paddle, IsPaddle(job), "with a label on the PodGroup")

			pod.OwnerReferences = test.owners
			require.Equal(t, test.paddle, IsPaddlePod(pod))
		})
	}
}

func TestPodRole(t *testing.T) {
	for name, test := range map[string]struct {
		task string
		pod  func(*corev1.Pod)
		role Role
	}{
		"task ps":                   {"ps", func(*corev1.Pod) {}, Server},
		"task pserver":              {"pserver", func(*corev1.Pod) {}, Server},
		"task worker":               {"worker", func(*corev1.Pod) {}, Worker},
		"task trainer":              {"trainer", func(*corev1.Pod) {}, Worker},
		"task heter":                {"heter", func(*corev1.Pod) {}, Heter},
		"unknown task":              {"tensorboard", func(*corev1.Pod) {}, Other},
		"label beats task":          {"worker", label(ResourceTypeLabel, "ps"), Server},
		"annotation beats task":     {"worker", annotation(ResourceAnnotation, "heter"), Heter},
		"unknown label, known task": {"worker", label(ResourceTypeLabel, "coordinator"), Worker},
		"example's server":          {"a", label(CtrServerLabel, "ctr"), Server},
		"example's trainer":         {"a", label(CtrWorkerLabel, "ctr"), Worker},
		"label beats variable": {"a", func(pod *corev1.Pod) {
			label(CtrServerLabel, "x")(pod)
			variable("TRAINING_ROLE", "TRAINER")(pod)
		}, Server},
		"variable PSERVER":            {"worker", variable("TRAINING_ROLE", "PSERVER"), Server},
		"variable TRAINER":            {"a", variable("PADDLE_TRAINING_ROLE", "TRAINER"), Worker},
		"variable HETER_TRAINER":      {"a", variable("TRAINING_ROLE", "HETER_TRAINER"), Heter},
		"variable of paddle-operator": {"a", variable("PADDLE_TRAINING_ROLE", "HETER"), Heter},
		"unknown value, known task":   {"ps", variable("TRAINING_ROLE", "BOSS"), Server},
		"another variable":            {"ps", variable("PADDLE_ROLE", "TRAINER"), Server},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.role, PodRole(one(test.pod), test.task, defaultTaskRoles))
		})
	}
}
