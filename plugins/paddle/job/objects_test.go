// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	internal "volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/util"
)

// resources is a list such as {"cpu": "1"}.
type resources map[corev1.ResourceName]string

func (r resources) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, quantity := range r {
		list[name] = resource.MustParse(quantity)
	}
	return list
}

// Kinds of owners of PodGroups and pods.
var (
	kindVolcanoJob        = batch.SchemeGroupVersion.WithKind("Job")
	kindPaddleJob         = schema.GroupVersionKind{Group: PaddleJobGroup, Version: "v1", Kind: PaddleJobKind}
	kindKubeflowPaddleJob = schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: PaddleJobKind}
	kindTrainJob          = schema.GroupVersionKind{Group: TrainJobGroup, Version: "v1alpha1", Kind: TrainJobKind}
	kindReplicaSet        = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	kindStatefulSet       = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	kindKubernetesJob     = batchv1.SchemeGroupVersion.WithKind("Job")
	kindPod               = corev1.SchemeGroupVersion.WithKind("Pod")
	kindPyTorchJob        = schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"}
	kindLeaderWorkerSet   = schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}
)

// ownedBy returns the reference of what an object of a kind owns.
func ownedBy(kind schema.GroupVersionKind) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "job", UID: types.UID(kind.Kind + "-job")}, kind)}
}

// plainPods returns n pods of one task of a Volcano Job that have no mark of Paddle.
func plainPods(task string, n int, requests resources) []*corev1.Pod {
	result := make([]*corev1.Pod, n)
	for i := range result {
		name := fmt.Sprintf("job-%s-%d", task, i)
		pod := util.BuildPod(namespace, name, "", corev1.PodPending, requests.list(), "job", map[string]string{}, nil)
		pod.Annotations[batch.TaskSpecKey] = task
		pod.Annotations[batch.TaskIndex] = strconv.Itoa(i)
		pod.Spec.SchedulerName = "volcano"
		result[i] = pod
	}
	return result
}

// withEnv gives the pods' container a variable.
func withEnv(pods []*corev1.Pod, name, value string) []*corev1.Pod {
	for _, pod := range pods {
		pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: value})
	}
	return pods
}

// withLabel gives the pods a label.
func withLabel(pods []*corev1.Pod, key, value string) []*corev1.Pod {
	for _, pod := range pods {
		pod.Labels[key] = value
	}
	return pods
}

// jobInfo returns a job as a session gets it; pods is how many pods each task has.
func jobInfo(minMember int32, minTaskMember map[string]int32, pods map[string]int) *api.JobInfo {
	job := api.NewJobInfo("ns/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: internal.PodGroup{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: ownedBy(kindVolcanoJob)},
		Spec:       internal.PodGroupSpec{MinMember: minMember, MinTaskMember: minTaskMember},
	}})
	for task, n := range pods {
		for _, pod := range plainPods(task, n, nothing) {
			job.AddTaskInfo(api.NewTaskInfo(pod).Clone()) // a copy, as in a session
		}
	}
	return job
}

// one returns a pod of a task called worker, which by itself says nothing.
func one(change func(*corev1.Pod)) *corev1.Pod {
	pod := plainPods("worker", 1, nothing)[0]
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

// Requests of pods.
var (
	nothing = resources{}
	oneCPU  = resources{"cpu": "1", "memory": "1Gi"}
)

const namespace = "ns"

// defaultTaskRoles are the roles of Paddle's own task names.
var defaultTaskRoles = NewRoleMap([]string{"ps", "pserver"}, []string{"worker", "trainer"}, []string{"heter"})

var twoTwo = map[string]int32{"ps": 2, "worker": 2}

// inStatus lets the pods of a job run, but for some, by what their names have after the job's.
func inStatus(t *testing.T, job *api.JobInfo, others map[string]api.TaskStatus) *api.JobInfo {
	t.Helper()
	for _, task := range InOrder(job) {
		status, ok := others[strings.TrimPrefix(task.Name, "job-")]
		if !ok {
			status = api.Running
		}
		require.NoError(t, job.UpdateTaskStatus(task, status))
	}
	return job
}
