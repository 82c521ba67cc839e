// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// one is a pod of a task called worker, which by itself says nothing.
func one(change func(*corev1.Pod)) *corev1.Pod {
	pod := plainPods("job", "worker", 1, nothing)[0]
	change(pod)
	return pod
}

func variable(name, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { withEnv([]*corev1.Pod{pod}, name, value) }
}

func label(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[key] = value }
}

func annotation(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[key] = value }
}

func TestIsPaddlePod(t *testing.T) {
	for name, test := range map[string]struct {
		pod    func(*corev1.Pod)
		paddle bool
	}{
		"only a task's name":           {func(*corev1.Pod) {}, false},
		"other labels":                 {label("app", "paddle"), false},
		"our label":                    {label(jobNameLabel, "job"), true},
		"paddle-operator's label":      {label(resourceTypeLabel, "worker"), true},
		"paddle-operator's annotation": {annotation(resourceAnnotation, "worker"), true},
		"example's server":             {label(ctrServerLabel, "ctr"), true},
		"example's trainer":            {label(ctrWorkerLabel, "ctr"), true},
		"a variable of trainers":       {variable("PADDLE_TRAINER_ENDPOINTS", "10.0.0.1:36000"), true},
		"another variable of trainers": {variable("PADDLE_TRAINERS_NUM", "2"), true},
		"a variable of servers":        {variable("PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:36000"), true},
		"what launchers need":          {variable("PADDLE_MASTER", "job-worker-0.job:36000"), false},
		"what services need":           {variable("PADDLE_SERVING_PORT", "9292"), false},
		"training role":                {variable("TRAINING_ROLE", "TRAINER"), true},
		"somebody else's role":         {variable("TRAINING_ROLE", "chief"), false},
		"somebody else's variable":     {variable("MY_ROLE", "TRAINER"), false},
		"variable of the second container": {func(pod *corev1.Pod) {
			pod.Spec.Containers = append([]corev1.Container{{Name: "sidecar"}}, pod.Spec.Containers...)
			pod.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "PADDLE_TRAINER_ID", Value: "0"}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.paddle, isPaddlePod(one(test.pod)))
		})
	}
}

func TestIsPaddleJob(t *testing.T) {
	job := func(pods ...*corev1.Pod) *api.JobInfo {
		made := api.NewJobInfo("ns/job")
		made.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{}})
		for _, pod := range pods {
			made.AddTaskInfo(api.NewTaskInfo(pod))
		}
		return made
	}
	plain := plainPods("job", "worker", 2, nothing)

	require.False(t, isPaddleJob(job()))
	require.False(t, isPaddleJob(job(plain...)))
	require.True(t, isPaddleJob(job(plain[0], withLabel(plainPods("job", "ps", 1, nothing), ctrServerLabel, "ctr")[0])),
		"one pod is enough")

	labelled := job(plain...)
	labelled.PodGroup.Labels = map[string]string{jobNameLabel: "job"}
	require.True(t, isPaddleJob(labelled))

	annotated := job(plain...)
	annotated.PodGroup.Annotations = map[string]string{modeAnnotation: "Collective"}
	require.True(t, isPaddleJob(annotated))

	bare := job(plain...)
	bare.PodGroup = nil
	require.False(t, isPaddleJob(bare))
}

// Who owns a PodGroup decides whether it may be a Paddle job; who owns a pod, whether its marks count.
func TestWhoOwnsAPaddleJob(t *testing.T) {
	other := append(ownedBy(kindVolcanoJob, "job"), metav1.OwnerReference{APIVersion: "ray.io/v1", Kind: "RayCluster"})
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		paddle bool
		all    bool
	}{
		"a user":                    {nil, true, false},
		"a Volcano Job":             {ownedBy(kindVolcanoJob, "job"), true, true},
		"paddle-operator":           {ownedBy(kindPaddleJob, "job"), true, true},
		"Kubeflow's PaddleJob":      {ownedBy(kindKubeflowPaddleJob, "job"), true, false},
		"a ReplicaSet":              {ownedBy(kindReplicaSet, "job"), false, false},
		"a StatefulSet":             {ownedBy(kindStatefulSet, "job"), false, false},
		"a Job of Kubernetes":       {ownedBy(kindKubernetesJob, "job"), false, false},
		"a plain pod":               {ownedBy(kindPod, "job"), false, false},
		"another framework":         {ownedBy(kindPyTorchJob, "job"), false, false},
		"LeaderWorkerSet":           {ownedBy(kindLeaderWorkerSet, "job"), false, false},
		"another framework as well": {other, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := one(label(resourceTypeLabel, "worker"))
			job := api.NewJobInfo("ns/job")
			job.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.owners}}})
			job.AddTaskInfo(api.NewTaskInfo(pod))
			require.Equal(t, test.paddle, isPaddleJob(job))
			require.Equal(t, test.all, needsAllPods(job))

			job.PodGroup.Labels = map[string]string{jobNameLabel: "job"}
			require.Equal(t, test.paddle, isPaddleJob(job), "with a label on the PodGroup")

			pod.OwnerReferences = test.owners
			require.Equal(t, test.paddle, isPaddlePod(pod))
		})
	}
}

func TestPodRole(t *testing.T) {
	for name, test := range map[string]struct {
		task string
		pod  func(*corev1.Pod)
		role role
	}{
		"task ps":                     {"ps", func(*corev1.Pod) {}, roleServer},
		"task pserver":                {"pserver", func(*corev1.Pod) {}, roleServer},
		"task worker":                 {"worker", func(*corev1.Pod) {}, roleWorker},
		"task trainer":                {"trainer", func(*corev1.Pod) {}, roleWorker},
		"task heter":                  {"heter", func(*corev1.Pod) {}, roleHeter},
		"unknown task":                {"tensorboard", func(*corev1.Pod) {}, roleOther},
		"label beats task":            {"worker", label(resourceTypeLabel, "ps"), roleServer},
		"annotation beats task":       {"worker", annotation(resourceAnnotation, "heter"), roleHeter},
		"unknown label, known task":   {"worker", label(resourceTypeLabel, "coordinator"), roleWorker},
		"example's server":            {"a", label(ctrServerLabel, "ctr"), roleServer},
		"example's trainer":           {"a", label(ctrWorkerLabel, "ctr"), roleWorker},
		"label beats variable":        {"a", func(pod *corev1.Pod) { label(ctrServerLabel, "x")(pod); variable("TRAINING_ROLE", "TRAINER")(pod) }, roleServer},
		"variable PSERVER":            {"worker", variable("TRAINING_ROLE", "PSERVER"), roleServer},
		"variable TRAINER":            {"a", variable("PADDLE_TRAINING_ROLE", "TRAINER"), roleWorker},
		"variable HETER_TRAINER":      {"a", variable("TRAINING_ROLE", "HETER_TRAINER"), roleHeter},
		"variable of paddle-operator": {"a", variable("PADDLE_TRAINING_ROLE", "HETER"), roleHeter},
		"unknown value, known task":   {"ps", variable("TRAINING_ROLE", "BOSS"), roleServer},
		"another variable":            {"ps", variable("PADDLE_ROLE", "TRAINER"), roleServer},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.role, podRole(one(test.pod), test.task, defaultTaskRoles))
		})
	}
}
