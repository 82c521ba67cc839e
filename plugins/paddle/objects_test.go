// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	internal "volcano.sh/apis/pkg/apis/scheduling"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
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

// node is a node that takes 110 pods, unless free says otherwise.
func node(name string, free resources) *corev1.Node {
	list := free.list()
	if _, ok := list[corev1.ResourcePods]; !ok {
		list[corev1.ResourcePods] = resource.MustParse("110")
	}
	return util.BuildNode(name, list, map[string]string{corev1.LabelHostname: name})
}

// queue is an open queue; capability nil is no quota.
func queue(name string, capability resources) *scheduling.Queue {
	return &scheduling.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       scheduling.QueueSpec{Weight: 1, Capability: capability.list()},
		Status:     scheduling.QueueStatus{State: scheduling.QueueStateOpen},
	}
}

// Kinds of owners of PodGroups and pods.
var (
	kindVolcanoJob        = batch.SchemeGroupVersion.WithKind("Job")
	kindPaddleJob         = schema.GroupVersionKind{Group: paddlejob.PaddleJobGroup, Version: "v1", Kind: paddlejob.PaddleJobKind}
	kindKubeflowPaddleJob = schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: paddlejob.PaddleJobKind}
	kindTrainJob          = schema.GroupVersionKind{Group: paddlejob.TrainJobGroup, Version: "v1alpha1", Kind: paddlejob.TrainJobKind}
	kindReplicaSet        = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	kindStatefulSet       = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	kindKubernetesJob     = batchv1.SchemeGroupVersion.WithKind("Job")
	kindPod               = corev1.SchemeGroupVersion.WithKind("Pod")
	kindPyTorchJob        = schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"}
	kindLeaderWorkerSet   = schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}
)

// ownedBy is the reference of what an object of a kind owns.
func ownedBy(kind schema.GroupVersionKind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: name, UID: types.UID(kind.Kind + "-" + name)}, kind)}
}

// podGroup is what Volcano's Job controller makes, waiting to be enqueued, with the resources that its pods request.
func podGroup(name string, minMember int32, minTaskMember map[string]int32) *scheduling.PodGroup {
	return &scheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(name), OwnerReferences: ownedBy(kindVolcanoJob, name)},
		Spec: scheduling.PodGroupSpec{
			Queue: "default", MinMember: minMember, MinTaskMember: minTaskMember, MinResources: &corev1.ResourceList{},
		},
		Status: scheduling.PodGroupStatus{Phase: scheduling.PodGroupPending},
	}
}

// pods is n pods {job}-{task}-{i} of one task of a Volcano Job, with the labels of our controller.
func pods(job, task string, n int, requests resources) []*corev1.Pod {
	result := plainPods(job, task, n, requests)
	for _, pod := range result {
		pod.Labels[paddlejob.JobNameLabel] = job
		pod.Labels[paddlejob.ResourceTypeLabel] = task
		pod.Annotations[paddlejob.ResourceAnnotation] = task
	}
	return result
}

// plainPods is n pods of one task of a Volcano Job that have no mark of Paddle.
func plainPods(job, task string, n int, requests resources) []*corev1.Pod {
	result := make([]*corev1.Pod, n)
	for i := range result {
		name := fmt.Sprintf("%s-%s-%d", job, task, i)
		pod := util.BuildPod(namespace, name, "", corev1.PodPending, requests.list(), job, map[string]string{}, nil)
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

// jobInfo is a job as a session gets it; pods is how many pods each task has.
func jobInfo(minMember int32, minTaskMember map[string]int32, pods map[string]int) *api.JobInfo {
	job := api.NewJobInfo("ns/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: internal.PodGroup{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: ownedBy(kindVolcanoJob, "job")},
		Spec:       internal.PodGroupSpec{MinMember: minMember, MinTaskMember: minTaskMember},
	}})
	for task, n := range pods {
		for _, pod := range plainPods("job", task, n, nothing) {
			job.AddTaskInfo(api.NewTaskInfo(pod).Clone()) // a copy, as in a session
		}
	}
	return job
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
