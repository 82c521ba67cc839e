// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// variables are what Kubeflow's controller gives every container of a role, for programs that read them. The launcher
// does not depend on them: the endpoints of the PaddleJob that is made beat PADDLE_MASTER and PADDLE_NNODES, and its lists
// of servers and trainers beat their numbers, so that ranks are those of the pods and not the order in which they arrive.
//
// Elastic jobs have a master, a number of nodes and an id of their own.
func variables(job string, name kubeflowv1.ReplicaType, found replicas, elastic bool) []corev1.EnvVar {
	all := []corev1.EnvVar{{Name: "PYTHONUNBUFFERED", Value: "1"}}
	if elastic {
		return all
	}
	meets, role := found.worker, builder.RoleWorker
	if found.master != nil {
		meets, role = found.master, builder.RolePS
	}
	all = append(all,
		corev1.EnvVar{Name: "PADDLE_JOB_ID", Value: job},
		corev1.EnvVar{Name: "PADDLE_NNODES", Value: strconv.Itoa(int(size(found.master) + size(found.worker)))},
		// A pod's name resolves under the job's. Kubeflow has a Service for each pod.
		corev1.EnvVar{Name: "PADDLE_MASTER", Value: fmt.Sprintf("%s-%s-0.%s:%d", job, role, job, portOf(meets))},
	)
	switch {
	case found.master == nil:
	case name == kubeflowv1.Master:
		all = append(all, corev1.EnvVar{Name: "PADDLE_SERVER_NUM", Value: "1"})
	default:
		all = append(all, corev1.EnvVar{Name: "PADDLE_TRAINER_NUM", Value: "1"})
	}
	return all
}

// addVariables puts variables before a container's own, which win, and may refer to them.
func addVariables(container *corev1.Container, all []corev1.EnvVar) {
	var added []corev1.EnvVar
	for _, variable := range all {
		if !slices.ContainsFunc(container.Env, func(own corev1.EnvVar) bool { return own.Name == variable.Name }) {
			added = append(added, variable)
		}
	}
	container.Env = append(added, container.Env...)
}
