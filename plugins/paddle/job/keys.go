// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// Keys that the controller of this project sets; a test in test/ compares them with controller/api/batch/v1.
const (
	// Prefix begins this project's own keys.
	Prefix = "batch.paddlepaddle.org/"
	// JobNameLabel is the label on PodGroup and pods with the PaddleJob's name.
	JobNameLabel = "batch.paddlepaddle.org/job-name"
	// ModeAnnotation is the annotation on the PodGroup with the job's mode.
	ModeAnnotation = "batch.paddlepaddle.org/mode"
	// ColocationAnnotation is the annotation on the PodGroup with Required, Preferred or None.
	ColocationAnnotation = "batch.paddlepaddle.org/colocation"
	// ParameterSizeAnnotation is the annotation on the PodGroup with the size of the model's parameters, such as 2Gi.
	ParameterSizeAnnotation = "batch.paddlepaddle.org/parameter-size"
	// GroupSizeAnnotation is the annotation on the PodGroup with the number of ranks in a tensor or pipeline parallel group.
	GroupSizeAnnotation = "batch.paddlepaddle.org/parallel-group-size"
	// ParallelismAnnotation is the annotation on the PodGroup with the degrees of hybrid parallelism, such as
	// pipeline=4,sharding=2,tensor=8. It counts before GroupSizeAnnotation.
	ParallelismAnnotation = "batch.paddlepaddle.org/parallelism"
	// MinResourcesAnnotation is the annotation on the PodGroup with what must be free before the job is admitted, such as
	// cpu=4,memory=8Gi.
	MinResourcesAnnotation = "batch.paddlepaddle.org/min-resources"
	// ResourceTypeLabel is the label on pods with the role: ps, worker or heter.
	ResourceTypeLabel = "paddle-res-type"
	// ResourceNameLabel is the label on pods with the pod's own name.
	ResourceNameLabel = "paddle-res-name"
	// ResourceAnnotation is the annotation on pods with the role.
	ResourceAnnotation = "paddle-resource"
)

// Keys of the raw Volcano Job of 2019 (the CTR example).
const (
	// CtrServerLabel and CtrWorkerLabel are labels on its pods.
	CtrServerLabel = "paddle-job-pserver"
	CtrWorkerLabel = "paddle-job"
)

// TaskIndexKey is the annotation that Volcano gives each pod with its index in the task.
const TaskIndexKey = batch.TaskIndex

// CompletionIndexKey is the annotation that Kubernetes gives each pod of a Job with its index in the Job.
const CompletionIndexKey = batchv1.JobCompletionIndexAnnotation

// jobSetNameLabel is the label on pods with the name of the JobSet whose Jobs own them.
const jobSetNameLabel = "jobset.sigs.k8s.io/jobset-name"

// IsPerPodKey reports whether each pod of a role has its own value of a label or annotation.
func IsPerPodKey(key string) bool {
	return key == TaskIndexKey || key == CompletionIndexKey || key == ResourceNameLabel || strings.HasPrefix(key, Prefix)
}

// Owners of the PodGroups of training jobs.
const (
	// PaddleJobKind is the kind of this project's, paddle-operator's and Kubeflow's jobs.
	PaddleJobKind = "PaddleJob"
	// PaddleJobGroup is the API group of this project's and paddle-operator's.
	PaddleJobGroup = "batch.paddlepaddle.org"
	// TrainJobKind is the kind of Kubeflow Trainer's jobs.
	TrainJobKind = "TrainJob"
	// TrainJobGroup is their API group.
	TrainJobGroup = "trainer.kubeflow.org"
	// jobKind is the kind of Volcano's Jobs and of Kubernetes'.
	jobKind = "Job"
)

// Variables that only Paddle's training has: those that its role makers read, and what begins with a Prefix.
const (
	envTrainerPrefix      = "PADDLE_TRAINER"
	envServersPrefix      = "PADDLE_PSERVERS"
	envTrainingRole       = "TRAINING_ROLE"
	envPaddleTrainingRole = "PADDLE_TRAINING_ROLE"
)
