// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// at is when tests happen.
var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(at.Add(-d))) }

// change is one difference from a plain job.
type change func(*kubeflowv1.PaddleJob)

// job is one of two workers.
func job(changes ...change) *kubeflowv1.PaddleJob {
	j := &kubeflowv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "train", UID: "kubeflow-1"}}
	j.Spec.PaddleReplicaSpecs = map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{kubeflowv1.Worker: pods(2)}
	for _, c := range changes {
		c(j)
	}
	return j
}

// pods are some of a role, with a port for launchers to meet at.
func pods(replicas int32) *kubeflowv1.ReplicaSpec {
	return &kubeflowv1.ReplicaSpec{Replicas: ptr.To(replicas), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "paddle", Image: "paddle", Ports: []corev1.ContainerPort{{Name: "master", ContainerPort: 37777, Protocol: corev1.ProtocolTCP}},
		}},
	}}}
}

func worker(j *kubeflowv1.PaddleJob) *kubeflowv1.ReplicaSpec {
	return j.Spec.PaddleReplicaSpecs[kubeflowv1.Worker]
}

// servers makes the job one of parameter servers.
func servers(j *kubeflowv1.PaddleJob) { j.Spec.PaddleReplicaSpecs[kubeflowv1.Master] = pods(1) }

func restarts(policy corev1.RestartPolicy) change {
	return func(j *kubeflowv1.PaddleJob) { worker(j).RestartPolicy = policy }
}

func bounds(least, most *int32) change {
	return func(j *kubeflowv1.PaddleJob) {
		j.Spec.ElasticPolicy = &kubeflowv1.ElasticPolicy{MinReplicas: least, MaxReplicas: most}
	}
}

func ttl(seconds int32) change {
	return func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy.TTLSecondsAfterFinished = ptr.To(seconds) }
}

// ended makes the status that of a job that ended some time ago.
func ended(kind string, before time.Duration) change {
	return func(j *kubeflowv1.PaddleJob) {
		j.Status.Conditions = append(j.Status.Conditions, kubeflowv1.JobCondition{Type: kind, Status: corev1.ConditionTrue})
		j.Status.CompletionTime = ago(before)
	}
}

// madeFor is the PaddleJob of a job, as it is once it was made.
func madeFor(j *kubeflowv1.PaddleJob, changes ...func(*batchv1.PaddleJob)) *batchv1.PaddleJob {
	made := Convert(j, false).Job
	made.UID, made.ResourceVersion = "made-1", "7"
	for _, c := range changes {
		c(made)
	}
	return made
}

// says gives a PaddleJob a condition.
func says(kind string, is bool, reason, message string) func(*batchv1.PaddleJob) {
	return func(made *batchv1.PaddleJob) {
		state := metav1.ConditionFalse
		if is {
			state = metav1.ConditionTrue
		}
		made.Status.Conditions = append(made.Status.Conditions, metav1.Condition{Type: kind, Status: state, Reason: reason, Message: message})
	}
}

func reasons(all []builder.Cause) []string {
	var names []string
	for _, n := range all {
		names = append(names, n.Reason)
	}
	return names
}
