// SPDX-License-Identifier: Apache-2.0

package keys

// Labels that Kubeflow's tools find a job's pods by. Its replica-index is not among them: it differs from pod to pod, and
// Volcano's own TaskIndex says the same.
const (
	// KubeflowJob is the label on a converted PaddleJob and its pods with the name of Kubeflow's PaddleJob.
	KubeflowJob = "training.kubeflow.org/job-name"
	// KubeflowOperator is the label on pods with the name of the controller.
	KubeflowOperator = "training.kubeflow.org/operator-name"
	// KubeflowReplicaType is the label on pods with the role in lower case.
	KubeflowReplicaType = "training.kubeflow.org/replica-type"
	// KubeflowJobRole is the label on the pods of the role Master.
	KubeflowJobRole = "training.kubeflow.org/job-role"
)
