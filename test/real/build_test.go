// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// change is one difference from a plain job.
type change func(*v1.PaddleJob)

// psJob is a job of two servers and two workers, whose pods stay after the end.
func (r *trial) psJob(changes ...change) *v1.PaddleJob {
	return r.workersOnly(append([]change{func(job *v1.PaddleJob) { job.Spec.PS = role(2) }}, changes...)...)
}

// workersOnly is a job of two workers.
func (r *trial) workersOnly(changes ...change) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: r.job, Namespace: r.namespace}}
	job.Spec.Worker, job.Spec.CleanPodPolicy = role(2), v1.CleanNever
	for _, c := range changes {
		c(job)
	}
	for _, spec := range roles(job) {
		env := map[string]string{}
		if job.Spec.Elastic == nil {
			env["TRAINER_EXPECT_WORLD"] = strconv.Itoa(int(job.Spec.Worker.Replicas))
		}
		r.fit(&spec.Template, env)
	}
	return job
}

func roles(job *v1.PaddleJob) (specs []*v1.ResourceSpec) {
	for _, spec := range []*v1.ResourceSpec{job.Spec.PS, job.Spec.Worker, job.Spec.Heter} {
		if spec != nil {
			specs = append(specs, spec)
		}
	}
	return specs
}

func role(replicas int32) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: replicas, Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: trainerImage}}},
	}}
}

func intranet(by v1.Intranet) change { return func(job *v1.PaddleJob) { job.Spec.Intranet = by } }

func gloo(level int32) change { return func(job *v1.PaddleJob) { job.Spec.WithGloo = &level } }

func heter(replicas int32) change {
	return func(job *v1.PaddleJob) { job.Spec.Heter = role(replicas) }
}

func workers(replicas int32) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = replicas }
}

// launched has Paddle's launcher start the program.
func launched(job *v1.PaddleJob) {
	for _, spec := range roles(job) {
		spec.Template.Spec.Containers[0].Command = []string{"python", "-m", "paddle.distributed.launch", "train.py"}
	}
}

// variable is a setting of the trainer, in each role that there is so far.
func variable(name, value string) change {
	return func(job *v1.PaddleJob) {
		for _, spec := range roles(job) {
			c := &spec.Template.Spec.Containers[0]
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
		}
	}
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
