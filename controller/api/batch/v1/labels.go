// SPDX-License-Identifier: Apache-2.0

package v1

// Keys of labels, annotations and finalizers that the controller reads or writes. The scheduler's plugin reads some of them and declares
// those again in plugins/paddle/job/keys.go; a test in test/ compares the two.
const (
	// Prefix begins every key of this project. It is reserved: of a PaddleJob's metadata nothing under it is copied but UserAnnotations.
	Prefix = "batch.paddlepaddle.org/"

	// JobNameLabel is the label on Volcano Job, PodGroup, ConfigMap and pods that holds the PaddleJob's name.
	JobNameLabel = "batch.paddlepaddle.org/job-name"
	// ModeAnnotation is the annotation on Volcano Job and PodGroup that holds the job's mode.
	ModeAnnotation = "batch.paddlepaddle.org/mode"
	// SpecHashAnnotation is the annotation on the Volcano Job that holds the hash of the PaddleJob's spec it was made from.
	SpecHashAnnotation = "batch.paddlepaddle.org/spec-hash"
	// IntranetAnnotation is the annotation on the Volcano Job that holds the intranet its templates were rendered for: what an
	// unset spec.intranet means may change with the controller's flags, and a job that exists must not change with it.
	IntranetAnnotation = "batch.paddlepaddle.org/intranet"
	// EarlierRestartsAnnotation is the annotation on the Volcano Job that holds how often the gang had been restarted before this
	// Volcano Job was made, because Volcano counts from 0 again in a new one.
	EarlierRestartsAnnotation = "batch.paddlepaddle.org/earlier-restarts"
	// RecreationsAnnotation is the annotation on the Volcano Job that holds how many were made before it for the same PaddleJob.
	RecreationsAnnotation = "batch.paddlepaddle.org/recreations"
	// UserPodGroupAnnotation is the annotation on the Volcano Job that holds the uid of the PodGroup of the user's own that was taken
	// into account, so that one that is made later is too.
	UserPodGroupAnnotation = "batch.paddlepaddle.org/own-podgroup"
	// GangAnnotation is the annotation on the environment's ConfigMap that identifies the pods whose addresses it holds, and on pods
	// that looked for it too early.
	GangAnnotation = "batch.paddlepaddle.org/gang"

	// FinalStatusAnnotation is the annotation on a finished PaddleJob: its phase and the hash of its spec. A copy that a backup
	// restores without its status is not run again.
	FinalStatusAnnotation = "batch.paddlepaddle.org/final-status"
	// ExcludeFromBackupLabel is the label by which Velero leaves out what the controller makes again from the PaddleJob.
	ExcludeFromBackupLabel = "velero.io/exclude-from-backup"
	// FailureAnnotation is the annotation on a worker that failed, and that is started again alone, with the number of its failure: the
	// status counts it before the pod is deleted.
	FailureAnnotation = "batch.paddlepaddle.org/failure"

	// ElasticAnnotation is the annotation on the Volcano Job that says that its workers come and go.
	ElasticAnnotation = "batch.paddlepaddle.org/elastic"
	// AnnouncedAnnotation is the annotation on the Volcano Job that says that its pods' templates read the three below.
	AnnouncedAnnotation = "batch.paddlepaddle.org/announced"
	// FirstPortAnnotation is the annotation on the Volcano Job that holds the first of the nodes' ports that its pods have, with
	// intranet Host, from when all of them are placed. Such a Job bears IntranetAnnotation as a label too, by which they are listed.
	FirstPortAnnotation = "batch.paddlepaddle.org/first-port"
	// AddressAnnotation is the annotation on a pod that holds its IP.
	AddressAnnotation = "batch.paddlepaddle.org/address"
	// AnnouncedAtAnnotation is the annotation on a pod that holds when it was given the others, as RFC 3339 with a fraction.
	AnnouncedAtAnnotation = "batch.paddlepaddle.org/announced-at"
	// PortAnnotation is the annotation on a pod that holds the port that Paddle's process there listens on.
	PortAnnotation = "batch.paddlepaddle.org/port"
	// PortRangeAnnotation is the annotation on a pod that holds the ports which Paddle's launcher may use, as first:last.
	PortRangeAnnotation = "batch.paddlepaddle.org/port-range"

	// ColocationAnnotation is the annotation that says how near servers and workers must be: Required, Preferred or None. A user may
	// set it, and the three below, on a PaddleJob, a Volcano Job or a PodGroup: they reach the PodGroup with all others.
	ColocationAnnotation = "batch.paddlepaddle.org/colocation"
	// ParameterSizeAnnotation is the annotation with the size of the model's parameters, such as 2Gi.
	ParameterSizeAnnotation = "batch.paddlepaddle.org/parameter-size"
	// GroupSizeAnnotation is the annotation with the number of ranks in a tensor or pipeline parallel group.
	GroupSizeAnnotation = "batch.paddlepaddle.org/parallel-group-size"
	// ParallelismAnnotation is the annotation with the degrees of hybrid parallelism, such as pipeline=4,sharding=2,tensor=8.
	ParallelismAnnotation = "batch.paddlepaddle.org/parallelism"

	// MinResourcesAnnotation is the annotation with what the user wants free before the job is admitted, such as cpu=4,memory=8Gi:
	// Volcano works the PodGroup's minResources out from the templates alone.
	MinResourcesAnnotation = "batch.paddlepaddle.org/min-resources"

	// ResourceNameLabel is paddle-operator's label with an object's name.
	ResourceNameLabel = "paddle-res-name"
	// ResourceTypeLabel is paddle-operator's label with the role: ps, worker or heter.
	ResourceTypeLabel = "paddle-res-type"
	// ResourceAnnotation is paddle-operator's annotation with the role.
	ResourceAnnotation = "paddle-resource"
	// OperatorFinalizer is what paddle-operator puts on its PaddleJobs; nothing removes it once the operator is gone.
	OperatorFinalizer = "finalizers.paddlepaddle.org"

	// TaskIndexLabel is the label that Volcano gives each pod with its index in the task.
	TaskIndexLabel = "volcano.sh/task-index"
	// OutOfSyncAnnotation is the annotation that Volcano puts on a pod right before it deletes it with the rest of its gang, whose end it
	// then takes for no failure; the constant is not in volcano.sh/apis (pkg/controllers/job/helpers).
	OutOfSyncAnnotation = "volcano.sh/controller-out-of-sync"
)

// UserAnnotations are the annotations of our prefix that a user may set on a PaddleJob.
var UserAnnotations = []string{ColocationAnnotation, ParameterSizeAnnotation, GroupSizeAnnotation, ParallelismAnnotation, MinResourcesAnnotation}
