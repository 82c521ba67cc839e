// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// Mode of a job.
type Mode string

// Modes. Other is a job of another framework, which bears no mark of Paddle.
const (
	PS         Mode = "PS"
	Collective Mode = "Collective"
	Other      Mode = "Other"
)

// Names of the tasks of Paddle jobs.
const (
	ServerTask = "ps"
	WorkerTask = "worker"
)

// Job is what someone wants to run, as one gang.
type Job struct {
	Name  string
	Mode  Mode
	Roles []Role
	// Age in seconds: the older of two jobs comes first in a queue.
	Age int
	// Tensor and Pipeline are degrees of hybrid parallelism, which a Paddle job tells the scheduler; 0 is none.
	Tensor, Pipeline int
}

// Role is the equal pods of one task.
type Role struct {
	Task    string
	Pods    int
	Request Amounts
	// Annotations of the pods.
	Annotations map[string]string
}

// ServersAndWorkers is a job in PS mode.
func ServersAndWorkers(name string, servers, workers int, server, worker Amounts) Job {
	return Job{Name: name, Mode: PS, Roles: []Role{{Task: ServerTask, Pods: servers, Request: server}, {Task: WorkerTask, Pods: workers, Request: worker}}}
}

// Ring is a collective job.
func Ring(name string, pods int, worker Amounts) Job {
	return Job{Name: name, Mode: Collective, Roles: []Role{{Task: WorkerTask, Pods: pods, Request: worker}}}
}

// Pods of all roles.
func (j *Job) Pods() int {
	sum := 0
	for i := range j.Roles {
		sum += j.Roles[i].Pods
	}
	return sum
}

// Demand is what all pods ask for, added up.
func (j *Job) Demand() Amounts {
	var sum Amounts
	for i := range j.Roles {
		r, n := j.Roles[i].Request, int64(j.Roles[i].Pods)
		sum = sum.Plus(Amounts{CPU: r.CPU * n, Memory: r.Memory * n, GPU: r.GPU * n})
	}
	return sum
}

// PodName is the name of one pod of the job, as Volcano's Job controller gives it.
func (j *Job) PodName(task string, index int) string {
	return fmt.Sprintf("%s-%s-%d", j.Name, task, index)
}

// born is when a job of age 0 was made.
var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// volcanoJob is what our controller makes of a Paddle job, or what a user of another framework writes.
func (j *Job) volcanoJob() *batch.Job {
	var job *batch.Job
	if j.Mode == Other {
		job = j.Plain()
	} else {
		job, _ = builder.Job(j.PaddleJob(), builder.PodGroupOverrides{}, builder.Config{DefaultIntranet: v1.Service})
	}
	job.UID = identity(j.Name)
	job.Spec.Queue = queueName
	job.CreationTimestamp = metav1.NewTime(born.Add(-time.Duration(j.Age) * time.Second))
	return job
}

// PaddleJob is what a user of Paddle writes.
func (j *Job) PaddleJob() *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: j.Name, Namespace: namespace, UID: identity("paddle " + j.Name)}}
	if j.Tensor > 0 {
		job.Spec.Parallelism = &v1.Parallelism{Tensor: int32(j.Tensor), Pipeline: int32(j.Pipeline)}
	}
	for i := range j.Roles {
		role := &j.Roles[i]
		spec := &v1.ResourceSpec{Replicas: int32(role.Pods), Template: role.template()}
		if role.Task == ServerTask {
			job.Spec.PS = spec
		} else {
			job.Spec.Worker = spec
		}
	}
	return job
}

// Plain is the Volcano Job that a user of another framework writes.
func (j *Job) Plain() *batch.Job {
	job := &batch.Job{
		ObjectMeta: metav1.ObjectMeta{Name: j.Name, Namespace: namespace},
		Spec:       batch.JobSpec{SchedulerName: "volcano", MinAvailable: int32(j.Pods())},
	}
	for i := range j.Roles {
		role := &j.Roles[i]
		template := role.template()
		template.Name = role.Task
		job.Spec.Tasks = append(job.Spec.Tasks, batch.TaskSpec{Name: role.Task, Replicas: int32(role.Pods), Template: template})
	}
	return job
}

func (r *Role) template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: r.Annotations}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "registry.example/train:1", Command: []string{"python", "train.py"},
		Resources: corev1.ResourceRequirements{Requests: r.Request.list(), Limits: r.Request.list()},
	}}}}
}

// objects are the job's PodGroup, waiting to be enqueued, and its pods.
func (j *Job) objects() (*scheduling.PodGroup, []*corev1.Pod) {
	job := j.volcanoJob()
	group := builder.PodGroup(job)
	group.UID = identity("group " + j.Name)
	group.CreationTimestamp = job.CreationTimestamp
	group.Status.Phase = scheduling.PodGroupPending
	pods := make([]*corev1.Pod, 0, j.Pods())
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		for index := range int(task.Replicas) {
			pods = append(pods, pod(job, group, task, j.PodName(task.Name, index), index))
		}
	}
	return group, pods
}

// pod is what Volcano's Job controller makes: createJobPod in pkg/controllers/job/job_controller_util.go, v1.14.1.
func pod(job *batch.Job, group *scheduling.PodGroup, task *batch.TaskSpec, name string, index int) *corev1.Pod {
	template := task.Template.DeepCopy()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: job.Namespace, UID: identity(name), CreationTimestamp: job.CreationTimestamp,
			Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batch.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec:   template.Spec,
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	pod.Spec.SchedulerName = job.Spec.SchedulerName
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	for key, value := range map[string]string{
		batch.TaskIndex: strconv.Itoa(index), batch.TaskSpecKey: task.Name, batch.JobNameKey: job.Name, batch.QueueNameKey: job.Spec.Queue,
	} {
		pod.Annotations[key], pod.Labels[key] = value, value
	}
	pod.Labels[batch.JobNamespaceKey] = job.Namespace
	pod.Annotations[scheduling.KubeGroupNameAnnotationKey] = group.Name
	pod.Annotations[batch.JobVersion] = "0"
	pod.Annotations[batch.JobRetryCountKey] = "0"
	pod.Annotations[batch.PodTemplateKey] = job.Name + "-" + task.Name
	return pod
}
