// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// Namespace has all objects of a load.
const Namespace = "bench"

// Forms in which gangs are submitted.
const (
	PodGroups   = "podgroup"
	VolcanoJobs = "vcjob"
	PaddleJobs  = "paddlejob"
)

// Forms returns all forms.
func Forms() []string { return []string{PodGroups, VolcanoJobs, PaddleJobs} }

// Load is a number of gangs of equal size. Of a gang of 5 or more, a fifth are servers; a smaller one has workers only.
type Load struct {
	Form  string
	Gangs int
	Gang  int
	// First is the number of the first gang.
	First int
	// Scheduler is the schedulerName of pods with PodGroups.
	Scheduler string
	// Nodes are labels of those that pods with PodGroups may go to; none means all.
	Nodes map[string]string
	// Series makes the names of loads differ: controllers wait before they create an object again that was just deleted.
	Series int
	// Of jobs: the pods of Volcano Jobs first run the image Barrier, as those of PaddleJobs do; their workers end after RunFor
	// (0: never), and none asks for a GPU.
	Barrier string
	RunFor  time.Duration
	NoGPUs  bool
}

// Pods returns how many there are in all.
func (l Load) Pods() int { return l.Gangs * l.Gang }

// Name of a gang has no dash, by which its pods' names are cut.
func (l Load) Name(i int) string { return fmt.Sprintf("s%dg%05d", l.Series, i) }

func (l Load) servers() int { return l.Gang / 5 }

const (
	gpu = corev1.ResourceName("nvidia.com/gpu")
	// GPUsOfNode is what a node has, and a pod takes one.
	GPUsOfNode = 8
)

func requests(pods int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(pods, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(pods<<30, resource.BinarySI),
		gpu: *resource.NewQuantity(pods, resource.DecimalSI),
	}
}

func containers() []corev1.Container {
	return []corev1.Container{{
		Name: "paddle", Image: "paddle", Resources: corev1.ResourceRequirements{Requests: requests(1), Limits: corev1.ResourceList{gpu: resource.MustParse("1")}},
	}}
}

// podGroup returns the PodGroup of gang i.
func (l Load) podGroup(i int) *vcscheduling.PodGroup {
	least := requests(int64(l.Gang))
	return &vcscheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: l.Name(i), Namespace: Namespace},
		Spec:       vcscheduling.PodGroupSpec{MinMember: int32(l.Gang), MinResources: &least, Queue: "default"},
	}
}

// pod is member m of gang i, named as Volcano's Job controller would: the first ones are servers. The plugin
// detects a Paddle job by the label of the role.
func (l Load) pod(i, m int) *corev1.Pod {
	role, index := "worker", m-l.servers()
	if m < l.servers() {
		role, index = "ps", m
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%s-%d", l.Name(i), role, index), Namespace: Namespace, Labels: map[string]string{"paddle-res-type": role},
			Annotations: map[string]string{vcscheduling.KubeGroupNameAnnotationKey: l.Name(i), vcbatch.TaskSpecKey: role},
		},
		Spec: corev1.PodSpec{
			SchedulerName: l.Scheduler, RestartPolicy: corev1.RestartPolicyNever, Containers: containers(), NodeSelector: l.Nodes,
		},
	}
}

// paddleJob is gang i.
func (l Load) paddleJob(i int) *v1.PaddleJob {
	role := func(replicas int) *v1.ResourceSpec {
		spec := &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers()}}}
		if l.NoGPUs {
			resources := &spec.Template.Spec.Containers[0].Resources
			delete(resources.Requests, gpu)
			resources.Limits = nil
		}
		return spec
	}
	job := &v1.PaddleJob{
		ObjectMeta: metav1.ObjectMeta{Name: l.Name(i), Namespace: Namespace},
		Spec:       v1.PaddleJobSpec{CleanPodPolicy: v1.CleanNever, Worker: role(l.Gang - l.servers())},
	}
	if l.RunFor > 0 {
		job.Spec.Worker.Template.Annotations = map[string]string{stages.AnnotationRunFor: l.RunFor.String()}
	}
	if l.servers() > 0 {
		job.Spec.PS = role(l.servers())
		job.Spec.PS.Template.Annotations = map[string]string{stages.AnnotationRunFor: "forever"}
	}
	return job
}

// rawJob returns the Volcano Job that the controller would create for a PaddleJob, without the controller's labels, annotations and
// environment. Its pods first run the image barrier, as those of the controller do. Without one they have no init container.
func rawJob(job *v1.PaddleJob, barrier string) *vcbatch.Job {
	raw, _ := builder.Job(job, builder.PodGroupOverrides{}, builder.Config{DefaultIntranet: v1.PodIP, BarrierImage: barrier})
	raw.Labels, raw.Annotations, raw.OwnerReferences = nil, nil, nil
	for t := range raw.Spec.Tasks {
		template := &raw.Spec.Tasks[t].Template
		template.Labels = nil
		for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
			for c := range containers {
				containers[c].EnvFrom = nil // no controller creates the ConfigMap
			}
		}
	}
	return raw
}
