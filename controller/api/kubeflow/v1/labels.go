// SPDX-License-Identifier: Apache-2.0

package v1

// Labels that Kubeflow's tools find a job's pods by. Its replica-index is not among them: it differs from pod to pod, and
// the label volcano.sh/task-index says the same.
const (
	// JobNameLabel is the label on a converted PaddleJob and its pods with the name of Kubeflow's PaddleJob.
	JobNameLabel = "training.kubeflow.org/job-name"
	// OperatorNameLabel is the label on pods with the name of the controller.
	OperatorNameLabel = "training.kubeflow.org/operator-name"
	// ReplicaTypeLabel is the label on pods with the role in lower case.
	ReplicaTypeLabel = "training.kubeflow.org/replica-type"
	// JobRoleLabel is the label on the pods of the role Master.
	JobRoleLabel = "training.kubeflow.org/job-role"
	// OperatorName is what Kubeflow's tools know the controller of PaddleJobs as.
	OperatorName = "paddlejob-controller"
)
