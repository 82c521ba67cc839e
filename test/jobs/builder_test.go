// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// change is one difference from a plain job.
type change func(*v1.PaddleJob)

// psJob is a job of two servers and two workers, which run until they are told otherwise.
func psJob(namespace, name string, changes ...change) *v1.PaddleJob {
	return collective(namespace, name, append([]change{func(job *v1.PaddleJob) { job.Spec.PS = role(2) }}, changes...)...)
}

// collective is a job of two workers.
func collective(namespace, name string, changes ...change) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	job.Spec.Worker = role(2)
	job.Spec.CleanPodPolicy = v1.CleanNever
	for _, c := range changes {
		c(job)
	}
	return job
}

func role(replicas int) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{sandbox.AnnotationRunFor: "forever"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}},
	}}
}

// workersRunFor lets the workers succeed after a time, for example "1s".
func workersRunFor(duration string) change {
	return annotateWorkers(sandbox.AnnotationRunFor, duration)
}

// workersFail lets the workers of one attempt exit with a code; every attempt's where attempt is empty.
func workersFail(code, attempt string) change {
	return func(job *v1.PaddleJob) {
		annotateWorkers(sandbox.AnnotationExitCode, code)(job)
		if attempt != "" {
			annotateWorkers(sandbox.AnnotationFailAttempt, attempt)(job)
		}
	}
}

func annotateWorkers(key, value string) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Template.Annotations[key] = value }
}

// byService lets the pods reach each other by names.
func byService(job *v1.PaddleJob) { job.Spec.Intranet = v1.Service }

func cleans(policy v1.CleanPodPolicy) change {
	return func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = policy }
}

func workers(replicas int) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = int32(replicas) }
}

// runs gives a job its run policy.
func runs(edit func(*v1.RunPolicy)) change {
	return func(job *v1.PaddleJob) {
		if job.Spec.RunPolicy == nil {
			job.Spec.RunPolicy = &v1.RunPolicy{}
		}
		edit(job.Spec.RunPolicy)
	}
}

func suspend(yes bool) change {
	return runs(func(run *v1.RunPolicy) { run.Suspend = &yes })
}

// image is that of the workers' training container.
func image(name string) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.Containers[0].Image = name }
}

func queue(name string) change {
	return func(job *v1.PaddleJob) {
		if job.Spec.SchedulingPolicy == nil {
			job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{}
		}
		job.Spec.SchedulingPolicy.Queue = name
	}
}

// onNodes lets no pod be placed where no node has the label.
func onNodes(label string) change {
	return func(job *v1.PaddleJob) {
		for _, spec := range []*v1.ResourceSpec{job.Spec.PS, job.Spec.Worker} {
			if spec != nil {
				spec.Template.Spec.NodeSelector = map[string]string{label: "true"}
			}
		}
	}
}
