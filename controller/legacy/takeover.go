// SPDX-License-Identifier: Apache-2.0

// Package legacy is the take-over of what paddle-operator left behind: it created pods, Services, a ConfigMap and a PodGroup that the
// PaddleJob owns directly, and a finalizer that nothing removes. It makes no API calls. It can be deleted two releases after the last user has moved.
package legacy

import (
	"slices"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// HasFinalizer reports whether a PaddleJob has paddle-operator's finalizer.
func HasFinalizer(job *v1.PaddleJob) bool {
	return slices.Contains(job.Finalizers, v1.OperatorFinalizer)
}

// WithoutFinalizer returns the other finalizers of a PaddleJob.
func WithoutFinalizer(job *v1.PaddleJob) []string {
	return slices.DeleteFunc(slices.Clone(job.Finalizers), func(f string) bool { return f == v1.OperatorFinalizer })
}

// PodsHealthy reports whether a job that paddle-operator started can finish by itself: its workers have succeeded,
// or every pod is healthy and all of them have each other's addresses.
func PodsHealthy(obs *observed.State) bool {
	if obs.VolcanoJob != nil || len(obs.Operator.Pods) == 0 {
		return false
	}
	if obs.Succeeded() {
		return true
	}
	if obs.Operator.Environment == nil {
		return false
	}
	well := map[string]int32{}
	for _, m := range obs.RolePods() {
		if m.State == observed.Failed || m.State == observed.Terminating {
			return false
		}
		well[m.Role]++
	}
	return !slices.ContainsFunc(builder.Roles(obs.Job), func(r builder.Role) bool { return well[r.Name] < r.Spec.Replicas })
}
