// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// Keys that the controller of this project sets; a test in test/ compares them with controller/keys.
const (
	// prefix begins this project's own keys.
	prefix = "batch.paddlepaddle.org/"
	// jobNameLabel is the label on PodGroup and pods with the PaddleJob's name.
	jobNameLabel = "batch.paddlepaddle.org/job-name"
	// modeAnnotation is the annotation on the PodGroup with the job's mode.
	modeAnnotation = "batch.paddlepaddle.org/mode"
	// colocationAnnotation is the annotation on the PodGroup with Required, Preferred or None.
	colocationAnnotation = "batch.paddlepaddle.org/colocation"
	// parameterSizeAnnotation is the annotation on the PodGroup with the size of the model's parameters, such as 2Gi.
	parameterSizeAnnotation = "batch.paddlepaddle.org/parameter-size"
	// groupSizeAnnotation is the annotation on the PodGroup with the number of ranks in a tensor or pipeline parallel group.
	groupSizeAnnotation = "batch.paddlepaddle.org/parallel-group-size"
	// minResourcesAnnotation is the annotation on the PodGroup with what must be free before the job is let in, such as
	// cpu=4,memory=8Gi.
	minResourcesAnnotation = "batch.paddlepaddle.org/min-resources"
	// resourceTypeLabel is the label on pods with the role: ps, worker or heter.
	resourceTypeLabel = "paddle-res-type"
	// resourceNameLabel is the label on pods with the pod's own name.
	resourceNameLabel = "paddle-res-name"
	// resourceAnnotation is the annotation on pods with the role.
	resourceAnnotation = "paddle-resource"
)

// Keys of the raw Volcano Job of 2019 (the CTR example).
const (
	ctrServerLabel = "paddle-job-pserver"
	ctrWorkerLabel = "paddle-job"
)

// taskIndexKey is the annotation that Volcano gives each pod with its index in the task.
const taskIndexKey = batch.TaskIndex

// Owners of the PodGroups of training jobs.
const (
	// paddleJobKind is the kind of our, paddle-operator's and Kubeflow's jobs.
	paddleJobKind = "PaddleJob"
	// paddleJobGroup is the API group of our and paddle-operator's.
	paddleJobGroup = "batch.paddlepaddle.org"
	volcanoJobKind = "Job"
)

// Variables that only Paddle's training has: those that its role makers read, and what begins with a prefix.
const (
	envTrainerPrefix      = "PADDLE_TRAINER"
	envServersPrefix      = "PADDLE_PSERVERS"
	envTrainingRole       = "TRAINING_ROLE"
	envPaddleTrainingRole = "PADDLE_TRAINING_ROLE"
)
