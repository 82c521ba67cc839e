// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/apis/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// kubeflowChange is one difference from a plain job.
type kubeflowChange func(*kubeflowv1.PaddleJob)

// job is one of two workers, which run until they are told otherwise.
func job(space, name string, changes ...kubeflowChange) *kubeflowv1.PaddleJob {
	j := &kubeflowv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
	two := int32(2)
	j.Spec.PaddleReplicaSpecs = map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{
		kubeflowv1.Worker: {Replicas: &two, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{sandbox.AnnotationRunFor: "forever"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "logs", Image: "logs"}, {Name: "paddle", Image: "paddle"}}},
		}},
	}
	for _, c := range changes {
		c(j)
	}
	return j
}

func worker(j *kubeflowv1.PaddleJob) *kubeflowv1.ReplicaSpec {
	return j.Spec.PaddleReplicaSpecs[kubeflowv1.Worker]
}

// servers run until they are stopped.
func servers(j *kubeflowv1.PaddleJob) {
	master := worker(j).DeepCopy()
	master.Template.Annotations = map[string]string{sandbox.AnnotationRunFor: "forever"}
	j.Spec.PaddleReplicaSpecs[kubeflowv1.Master] = master
}

func runFor(duration string) kubeflowChange {
	return func(j *kubeflowv1.PaddleJob) { worker(j).Template.Annotations[sandbox.AnnotationRunFor] = duration }
}

// fails lets the workers exit with a code, after three seconds, in which it is seen to run.
func fails(code string) kubeflowChange {
	return func(j *kubeflowv1.PaddleJob) {
		runFor("3s")(j)
		worker(j).Template.Annotations[sandbox.AnnotationExitCode] = code
	}
}

func restarts(policy kubeflowv1.RestartPolicy) kubeflowChange {
	return func(j *kubeflowv1.PaddleJob) { worker(j).RestartPolicy = policy }
}
