// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// scale gives the Volcano Job of an elastic job as many workers as the spec has now. Volcano makes and deletes the pods,
// and the PodGroup follows the Job.
func (p *Plan) scale(obs *observed.State, cfg builder.Config) {
	if !builder.Scalable(obs.Job) || p.SpecNotSynced != nil || specChanged(obs) || endsByItself(obs) {
		return
	}
	job, workerCap := p.capWorkers(obs)
	want, _ := builder.Job(job, overridesOf(obs), cfg)
	if SameSize(want, obs.VolcanoJob) {
		return
	}
	if refused := validation.Validate(job, overridesOf(obs), cfg); len(refused) > 0 {
		p.SpecNotSynced = invalidSpec(ReasonSpecChangeRefused, refused)
		return
	}
	scaled := obs.VolcanoJob.DeepCopy()
	scaled.Spec.MinAvailable = want.Spec.MinAvailable
	for i := range scaled.Spec.Tasks {
		scaled.Spec.Tasks[i].Replicas = want.Spec.Tasks[i].Replicas
		scaled.Spec.Tasks[i].MinAvailable = want.Spec.Tasks[i].MinAvailable
	}
	p.do(ScaleVolcanoJob{Job: scaled, WorkerCap: workerCap})
}

// SameSize reports whether two Volcano Jobs of the same roles have the same numbers of pods.
func SameSize(a, b *vcbatch.Job) bool {
	return len(a.Spec.Tasks) != len(b.Spec.Tasks) || slices.EqualFunc(a.Spec.Tasks, b.Spec.Tasks, func(a, b vcbatch.TaskSpec) bool {
		return a.Replicas == b.Replicas && ptr.Equal(a.MinAvailable, b.MinAvailable)
	})
}

// workerCapPeriod is how long an elastic job is kept at the workers that it has before more are requested again.
const workerCapPeriod = 5 * time.Minute

// capWorkers returns an elastic job with no more workers than the API server accepts, and the new cap, nil if it is not new.
// Volcano tries to make a pod that is refused for under three minutes, and then gives up the whole job, with the workers that
// train (its controller's --max-requeue-num).
func (p *Plan) capWorkers(obs *observed.State) (job *v1.PaddleJob, newCap *observed.WorkerCap) {
	workerCap := obs.WorkerCap
	if !obs.WorkersMissingSince.IsZero() {
		p.requeueAfter(pollInterval)
		made := int32(0)
		for _, m := range obs.RolePods() {
			if m.Role == builder.RoleWorker {
				made++
			}
		}
		if _, least := obs.Size(builder.RoleWorker); obs.PodCreateError != "" && made >= least {
			newCap = &observed.WorkerCap{Workers: made, PodCreateError: obs.PodCreateError, Until: obs.Now.Add(workerCapPeriod)}
			workerCap = newCap
		}
	}
	if workerCap == nil || obs.Job.Spec.Worker.Replicas <= workerCap.Workers {
		return obs.Job, nil
	}
	p.requeueAfter(workerCap.Until.Sub(obs.Now))
	p.SpecNotSynced = &builder.Cause{Reason: RefusalReason(workerCap.PodCreateError), Message: fmt.Sprintf(
		"spec.worker.replicas is %d, and the API server lets the job have %d workers, with which it continues; more are asked for again every %.0f minutes: %s",
		obs.Job.Spec.Worker.Replicas, workerCap.Workers, workerCapPeriod.Minutes(), workerCap.PodCreateError)}
	job = obs.Job.DeepCopy()
	job.Spec.Worker.Replicas = workerCap.Workers
	return job, newCap
}

// markDeletedPodsOutOfSync annotates deleted workers of an elastic job, so that Volcano ignores how they end. Volcano deletes them where there
// are to be fewer, or a user drains a node. Programs that are stopped exit with 143 or so; Volcano would take that for
// a failure, and count it for the limit. The programs end, and kubelets report it, later than the deletion is seen here.
func (p *Plan) markDeletedPodsOutOfSync(obs *observed.State) {
	if obs.VolcanoJob.Annotations[v1.ElasticAnnotation] == "" {
		return
	}
	var action AnnouncePods
	for _, m := range obs.RolePods() {
		if m.State == observed.Terminating && m.Pod.Annotations[v1.OutOfSyncAnnotation] == "" {
			action.Pods = append(action.Pods, Announcement{Pod: m.Pod, Annotations: map[string]string{v1.OutOfSyncAnnotation: "true"}})
		}
	}
	if len(action.Pods) > 0 {
		p.do(action)
	}
}
