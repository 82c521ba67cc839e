// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

// Roles are the roles' names in the order in which everything about them is listed.
var Roles = []string{render.RolePS, render.RoleWorker, render.RoleHeter}

// Spec is what the PaddleJob wants of a role, nil if it has no such role.
func Spec(job *v1.PaddleJob, role string) *v1.ResourceSpec {
	switch role {
	case render.RolePS:
		return job.Spec.PS
	case render.RoleWorker:
		return job.Spec.Worker
	case render.RoleHeter:
		return job.Spec.Heter
	}
	return nil
}

// Size is how many pods of a role the gang has and the number below which it does not start: those of the Volcano Job,
// which is what runs, or of the spec where there is none yet.
func (v *View) Size(role string) (total, minimum int32) {
	if v.VolcanoJob == nil {
		if spec := Spec(v.Job, role); spec != nil {
			return int32(spec.Replicas), int32(spec.Replicas)
		}
		return 0, 0
	}
	for i := range v.VolcanoJob.Spec.Tasks {
		task := &v.VolcanoJob.Spec.Tasks[i]
		if task.Name != role {
			continue
		}
		if task.MinAvailable != nil {
			return task.Replicas, *task.MinAvailable
		}
		return task.Replicas, task.Replicas
	}
	return 0, 0
}

// PodName is the name of a job's pod.
func PodName(job, role string, index int32) string {
	return fmt.Sprintf("%s-%s-%d", job, role, index)
}

// LetIn says whether the queue has let the gang in.
func (v *View) LetIn() bool {
	return v.PodGroup != nil && v.PodGroup.Status.Phase != "" && v.PodGroup.Status.Phase != vcscheduling.PodGroupPending
}

// Unmade says whether pods are missing that Volcano is to make at once: the queue has let the gang in.
func (v *View) Unmade() bool {
	if v.VolcanoJob == nil || !v.LetIn() {
		return false
	}
	if phase := v.VolcanoJob.Status.State.Phase; phase != vcbatch.Pending && phase != "" {
		return false
	}
	return int32(len(v.Pods)) < v.Total()
}

// Short says whether an elastic job that trains has fewer pods than Volcano is to make.
func (v *View) Short() bool {
	return v.VolcanoJob != nil && v.VolcanoJob.Status.State.Phase == vcbatch.Running && render.Scalable(v.Job) &&
		int32(len(v.Pods)) < v.Total()
}

// GivenUp says whether Volcano, or somebody, has just terminated the job: its end is not written down yet.
func (v *View) GivenUp() bool {
	return v.VolcanoJob != nil && v.VolcanoJob.Status.State.Phase == vcbatch.Terminated && !Finished(v.Job)
}

// Total is how many pods the gang has.
func (v *View) Total() (total int32) {
	for _, role := range Roles {
		n, _ := v.Size(role)
		total += n
	}
	return total
}

// Members are the pods that run the job: those of the Volcano Job, or paddle-operator's where it started the job.
func (v *View) Members() []*Member {
	pods := v.Pods
	if v.VolcanoJob == nil {
		pods = v.Operator.Pods
	}
	members := make([]*Member, 0, len(pods))
	for _, pod := range pods {
		members = append(members, NewMember(pod))
	}
	return members
}

// AllSucceeded says whether every worker that the job has has succeeded.
func (v *View) AllSucceeded() bool {
	total, _ := v.Size(render.RoleWorker)
	done, _ := v.succeeded()
	return total > 0 && done >= total
}

// Succeeded says whether training has: every worker has succeeded, or if they are elastic, every worker that has started,
// and as many as training needs at least.
func (v *View) Succeeded() bool {
	if v.AllSucceeded() {
		return true
	}
	if v.VolcanoJob == nil || !render.Elastic(v.Job) {
		return false
	}
	_, least := v.Size(render.RoleWorker)
	done, rest := v.succeeded()
	return rest && done >= max(least, 1)
}

// succeeded is how many workers have succeeded, and whether none of the others has started.
func (v *View) succeeded() (done int32, rest bool) {
	seen := map[int]bool{}
	rest = true
	for _, m := range v.Members() {
		switch {
		case m.Role != render.RoleWorker || m.State == Unplaced:
		case m.State == Succeeded:
			seen[m.Index] = true
		default:
			rest = false
		}
	}
	return int32(len(seen)), rest
}

// LastEnd is when the last container of the workers ended; the zero time if none is known to have.
func (v *View) LastEnd() time.Time {
	var last time.Time
	for _, m := range v.Members() {
		if m.Role != render.RoleWorker {
			continue
		}
		for i := range m.Pod.Status.ContainerStatuses {
			if end := m.Pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.FinishedAt.After(last) {
				last = end.FinishedAt.Time
			}
		}
	}
	return last
}

// FirstFailure is when the first of the pods that have failed did; false if none has, or nobody wrote down when.
func (v *View) FirstFailure() (first time.Time, ok bool) {
	for _, m := range v.Members() {
		if !m.FailedItself() {
			continue
		}
		if at, known := failedAt(m.Pod); known && (!ok || at.Before(first)) {
			first, ok = at, true
		}
	}
	return first, ok
}
