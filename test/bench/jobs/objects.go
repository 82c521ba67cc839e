// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/bench/rawjob"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const namespace = "default"

func name(i int) string { return fmt.Sprintf("job-%04d", i) }

// paddleJob is job i.
func (s *Settings) paddleJob(i int) *v1.PaddleJob {
	return &v1.PaddleJob{
		ObjectMeta: metav1.ObjectMeta{Name: name(i), Namespace: namespace},
		Spec: v1.PaddleJobSpec{
			CleanPodPolicy: v1.CleanNever,
			PS:             role(s.Servers, "forever"),
			Worker:         role(s.Workers, s.RunFor.String()),
		},
	}
}

func role(replicas int, runFor string) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: replicas, Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{sandbox.AnnotationRunFor: runFor}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "paddle", Image: "paddle",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			}},
		}}},
	}}
}

// volcanoJob is the raw Volcano Job that is equal to job i: its pods are the same, with an init container in the place of the
// start barrier's, unless kind says that they wait for nobody. kwok runs no image.
func (s *Settings) volcanoJob(kind string, i int) *vcbatch.Job {
	barrier := "barrier"
	if kind == kindBare {
		barrier = ""
	}
	return rawjob.Of(s.paddleJob(i), barrier)
}
