// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

// replicas are a job's roles, whatever the case of their names; nil for one that it does not have.
type replicas struct {
	master, worker *kubeflowv1.ReplicaSpec
}

// rolesOf finds the roles, and refuses what is none. A role without content is one pod without containers.
func (f *conversionResult) rolesOf(job *kubeflowv1.PaddleJob) replicas {
	var found replicas
	names := map[kubeflowv1.ReplicaType]kubeflowv1.ReplicaType{}
	for _, name := range slices.Sorted(maps.Keys(job.Spec.PaddleReplicaSpecs)) {
		var place **kubeflowv1.ReplicaSpec
		var known kubeflowv1.ReplicaType
		switch {
		case strings.EqualFold(string(name), string(kubeflowv1.Master)):
			known, place = kubeflowv1.Master, &found.master
		case strings.EqualFold(string(name), string(kubeflowv1.Worker)):
			known, place = kubeflowv1.Worker, &found.worker
		default:
			f.refuse(ReasonInvalidReplicaType, "%s is no role of a PaddleJob: use Worker, and Master for parameter servers", path(name))
			continue
		}
		if other, twice := names[known]; twice {
			f.refuse(ReasonInvalidReplicaType, "%s and %s are the same role: keep one of them", path(other), path(name))
			continue
		}
		names[known] = name
		*place = job.Spec.PaddleReplicaSpecs[name]
		if *place == nil {
			*place = &kubeflowv1.ReplicaSpec{}
		}
	}
	if found.worker == nil {
		without := "spec.paddleReplicaSpecs has no Worker: add it"
		if found.master != nil {
			without += "; a Master is a parameter server here, and does not train by itself"
		}
		f.refuse(ReasonInvalidReplicaType, "%s", without)
	}
	return found
}

func path(name kubeflowv1.ReplicaType) string {
	return fmt.Sprintf("spec.paddleReplicaSpecs.%s", name)
}

// size is the number of pods of a role, 0 for one that the job does not have.
func size(spec *kubeflowv1.ReplicaSpec) int32 {
	if spec == nil {
		return 0
	}
	return ptr.Deref(spec.Replicas, 1)
}

// restartPolicy of a role.
func restartPolicy(spec *kubeflowv1.ReplicaSpec) kubeflowv1.RestartPolicy {
	if spec.RestartPolicy == "" {
		return kubeflowv1.RestartOnFailure
	}
	return spec.RestartPolicy
}
