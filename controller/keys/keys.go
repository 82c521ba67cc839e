// SPDX-License-Identifier: Apache-2.0

// Package keys declares every label, annotation and finalizer key that the controller reads or writes, and nothing else.
//
// The scheduler plugin reads some of them and declares those again in plugins/paddle/job/keys.go; a test in test/ compares
// the two.
package keys

const (
	// Prefix begins every key of ours. It is reserved: of a PaddleJob's metadata nothing under it is copied but OfUsers.
	Prefix = "batch.paddlepaddle.org/"

	// JobName is the label on Volcano Job, PodGroup, ConfigMap and pods that holds the PaddleJob's name.
	JobName = "batch.paddlepaddle.org/job-name"
	// Mode is the annotation on Volcano Job and PodGroup that holds the job's mode.
	Mode = "batch.paddlepaddle.org/mode"
	// SpecHash is the annotation on the Volcano Job that holds the hash of the PaddleJob's spec it was made from.
	SpecHash = "batch.paddlepaddle.org/spec-hash"
	// Intranet is the annotation on the Volcano Job that holds the intranet its templates were rendered for: what an
	// unset spec.intranet means may change with the controller's flags, and a job that exists must not change with it.
	Intranet = "batch.paddlepaddle.org/intranet"
	// EarlierRestarts is the annotation on the Volcano Job that holds how often the gang had been restarted before this
	// Volcano Job was made, because Volcano counts from 0 again in a new one.
	EarlierRestarts = "batch.paddlepaddle.org/earlier-restarts"
	// Recreations is the annotation on the Volcano Job that holds how many were made before it for the same PaddleJob.
	Recreations = "batch.paddlepaddle.org/recreations"
	// OwnPodGroup is the annotation on the Volcano Job that holds the uid of the PodGroup of the user's own that was taken
	// into account, so that one that is made later is too.
	OwnPodGroup = "batch.paddlepaddle.org/own-podgroup"
	// Gang is the annotation on the environment's ConfigMap that identifies the pods whose addresses it holds, and on pods
	// that looked for it too early.
	Gang = "batch.paddlepaddle.org/gang"

	// FinalStatus is the annotation on a PaddleJob that has ended: its phase and the hash of its spec. A copy that a backup
	// restores without its status is not run again.
	FinalStatus = "batch.paddlepaddle.org/final-status"
	// ExcludeFromBackup is the label by which Velero leaves out what the controller makes again from the PaddleJob.
	ExcludeFromBackup = "velero.io/exclude-from-backup"
	// Failure is the annotation on a worker that failed, and that is started again alone, with the number of its failure: the
	// status counts it before the pod is deleted.
	Failure = "batch.paddlepaddle.org/failure"

	// Elastic is the annotation on the Volcano Job that says that its workers come and go.
	Elastic = "batch.paddlepaddle.org/elastic"
	// Announced is the annotation on the Volcano Job that says that its pods' templates read the three below.
	Announced = "batch.paddlepaddle.org/announced"
	// FirstPort is the annotation on the Volcano Job that holds the first of the nodes' ports that its pods have, with
	// intranet Host, from when all of them are placed. Such a Job bears Intranet as a label too, by which they are listed.
	FirstPort = "batch.paddlepaddle.org/first-port"
	// Address is the annotation on a pod that holds its IP.
	Address = "batch.paddlepaddle.org/address"
	// AnnouncedAt is the annotation on a pod that holds when it was told the others, as RFC 3339 with a fraction.
	AnnouncedAt = "batch.paddlepaddle.org/announced-at"
	// Port is the annotation on a pod that holds the port that Paddle's process there listens on.
	Port = "batch.paddlepaddle.org/port"
	// PortRange is the annotation on a pod that holds the ports which Paddle's launcher may use, as first:last.
	PortRange = "batch.paddlepaddle.org/port-range"

	// Colocation is the annotation that says how near servers and workers must be: Required, Preferred or None. A user may
	// set it, and the two below, on a PaddleJob, a Volcano Job or a PodGroup: they reach the PodGroup with all others.
	Colocation = "batch.paddlepaddle.org/colocation"
	// ParameterSize is the annotation with the size of the model's parameters, such as 2Gi.
	ParameterSize = "batch.paddlepaddle.org/parameter-size"
	// GroupSize is the annotation with the number of ranks in a tensor or pipeline parallel group.
	GroupSize = "batch.paddlepaddle.org/parallel-group-size"

	// MinResources is the annotation with what the user wants free before the job is admitted, such as cpu=4,memory=8Gi:
	// Volcano works the PodGroup's minResources out from the templates alone.
	MinResources = "batch.paddlepaddle.org/min-resources"

	// ResourceName is paddle-operator's label with an object's name.
	ResourceName = "paddle-res-name"
	// ResourceType is paddle-operator's label with the role: ps, worker or heter.
	ResourceType = "paddle-res-type"
	// Resource is paddle-operator's annotation with the role.
	Resource = "paddle-resource"
	// OperatorFinalizer is what paddle-operator puts on its PaddleJobs; nobody removes it once the operator is gone.
	OperatorFinalizer = "finalizers.paddlepaddle.org"

	// TaskIndex is the label that Volcano gives each pod with its index in the task.
	TaskIndex = "volcano.sh/task-index"
	// OutOfSync is the annotation that Volcano puts on a pod right before it deletes it with the rest of its gang, whose end it
	// then takes for no failure; the constant is not in volcano.sh/apis (pkg/controllers/job/helpers).
	OutOfSync = "volcano.sh/controller-out-of-sync"
)

// OfUsers are the annotations of our prefix that a user may set on a PaddleJob.
var OfUsers = []string{Colocation, ParameterSize, GroupSize, MinResources}
