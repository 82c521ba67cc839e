// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// Reasons for which a job is refused.
const (
	// ReasonInvalidName refuses a name that nothing of the job's could have.
	ReasonInvalidName = "InvalidName"
	// ReasonInvalidReplicaType refuses a role that a PaddleJob does not have, or has twice.
	ReasonInvalidReplicaType = "InvalidReplicaType"
	// ReasonInvalidRestartPolicy refuses an unknown restart policy.
	ReasonInvalidRestartPolicy = "InvalidRestartPolicy"
	// ReasonInvalidRunPolicy refuses numbers that no job can have.
	ReasonInvalidRunPolicy = "InvalidRunPolicy"
	// ReasonInvalidElasticPolicy refuses bounds that no number of workers can keep.
	ReasonInvalidElasticPolicy = "InvalidElasticPolicy"
)

// Reasons of what a user of Kubeflow's may not expect of a job that is run.
const (
	// ReasonCleanPodPolicy tells that a cleanPodPolicy does not exist.
	ReasonCleanPodPolicy = "UnknownCleanPodPolicy"
	// ReasonRestartPolicy tells what is made of a restart policy.
	ReasonRestartPolicy = "RestartPolicyChanged"
	// ReasonFieldIgnored tells that a field has no effect.
	ReasonFieldIgnored = "FieldIgnored"
)

// Reasons for which a job waits or cannot be made, beside those of package policy that mean the same here.
const (
	// ReasonTrainingOperator stalls a job that Kubeflow's training operator has begun.
	ReasonTrainingOperator = "StartedByTrainingOperator"
	// ReasonRefusedByServer stalls a job whose PaddleJob the API server refuses.
	ReasonRefusedByServer = "RefusedByServer"
)

// conversionResult are what there is to say about a job of Kubeflow's.
type conversionResult struct {
	// refused is what the user has to change, told what has another effect than under Kubeflow.
	refused, warnings []builder.Cause
}

func (f *conversionResult) refuse(reason, format string, args ...any) {
	f.refused = append(f.refused, builder.Cause{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

func (f *conversionResult) warn(reason, format string, args ...any) {
	f.warnings = append(f.warnings, builder.Cause{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// texts are the messages of notices as one.
func texts(all []builder.Cause) string {
	lines := make([]string, 0, len(all))
	for _, n := range all {
		lines = append(lines, n.Message)
	}
	return strings.Join(lines, "; ")
}

// translation leads from the fields of the PaddleJob that is made to where a user of Kubeflow's finds them, who has no
// spec.intranet.
var translation = strings.NewReplacer(
	"Set spec.intranet: Service", "Have the controller started with --default-intranet=Service",
	"spec.ps", "spec.paddleReplicaSpecs.Master",
	"spec.worker.requests", "spec.elasticPolicy.minReplicas",
	"spec.worker.limits", "spec.elasticPolicy.maxReplicas",
	"spec.worker", "spec.paddleReplicaSpecs.Worker",
	"spec.schedulingPolicy", "spec.runPolicy.schedulingPolicy",
	"spec.cleanPodPolicy", "spec.runPolicy.cleanPodPolicy",
)

// translateFieldPaths is a text about the PaddleJob that is made, for whoever only knows Kubeflow's.
func translateFieldPaths(text string) string { return translation.Replace(text) }
