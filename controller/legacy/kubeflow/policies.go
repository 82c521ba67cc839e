// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"cmp"

	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

// firstRetryable is the first exit code that is worth another try under restartPolicy ExitCode.
const firstRetryable int32 = 128

// cleanPodPolicy is what becomes of pods. Servers are stopped in any case once a job has ended, and a gang that fails is
// stopped as a whole, so that nothing of it runs on: Running and None are the same.
func (f *conversionResult) cleanPodPolicy(run *kubeflowv1.RunPolicy) batchv1.CleanPodPolicy {
	switch policy := ptr.Deref(run.CleanPodPolicy, ""); policy {
	case kubeflowv1.CleanAll:
		return batchv1.CleanAlways
	case "", kubeflowv1.CleanNone, kubeflowv1.CleanRunning:
	default:
		f.warn(ReasonCleanPodPolicy, "spec.runPolicy.cleanPodPolicy %q does not exist and is treated as None: use All, Running or None", string(policy))
	}
	return batchv1.CleanNever
}

// runPolicy is the part of it that the PaddleJob that is made has too; nil if there is none. The time to live is not in
// it: it is Kubeflow's object that is deleted then, and its PaddleJob with it.
func (f *conversionResult) runPolicy(run *kubeflowv1.RunPolicy, found replicas) *batchv1.RunPolicy {
	made := &batchv1.RunPolicy{ActiveDeadlineSeconds: run.ActiveDeadlineSeconds, BackoffLimit: run.BackoffLimit}
	if ptr.Deref(run.Suspend, false) {
		made.Suspend = ptr.To(true)
	}
	if ttl := run.TTLSecondsAfterFinished; ttl != nil && *ttl < 0 {
		f.refuse(ReasonInvalidRunPolicy, "spec.runPolicy.ttlSecondsAfterFinished is %d: set it to 0 or more, or leave it out", *ttl)
	}
	if deadline := run.ActiveDeadlineSeconds; deadline != nil && *deadline < 1 {
		f.refuse(ReasonInvalidRunPolicy, "spec.runPolicy.activeDeadlineSeconds is %d: set it to 1 or more, or leave it out", *deadline)
	}
	if limit := run.BackoffLimit; limit != nil && *limit < 0 {
		f.refuse(ReasonInvalidRunPolicy, "spec.runPolicy.backoffLimit is %d: set it to 0 or more, or leave it out", *limit)
	}
	f.restarts(made, found)
	if made.Suspend == nil && made.ActiveDeadlineSeconds == nil && made.BackoffLimit == nil && made.PermanentExitCodes == nil {
		return nil
	}
	return made
}

// restarts says what a failed pod means. It is always the whole gang that starts again; whether it does is for the
// workers to say, which train.
func (f *conversionResult) restarts(made *batchv1.RunPolicy, found replicas) {
	for _, role := range []struct {
		name kubeflowv1.ReplicaType
		spec *kubeflowv1.ReplicaSpec
	}{{kubeflowv1.Master, found.master}, {kubeflowv1.Worker, found.worker}} {
		if role.spec == nil {
			continue
		}
		switch policy := restartPolicy(role.spec); policy {
		case kubeflowv1.RestartOnFailure, kubeflowv1.RestartNever, kubeflowv1.RestartExitCode:
		case kubeflowv1.RestartAlways:
			f.warn(ReasonRestartPolicy, "%s.restartPolicy Always is treated as OnFailure, because under Always no training ends", path(role.name))
		default:
			f.refuse(ReasonInvalidRestartPolicy, "%s.restartPolicy %q does not exist: use OnFailure, Never, ExitCode or Always", path(role.name), string(policy))
		}
	}
	if found.worker == nil {
		return
	}
	policy := restartPolicy(found.worker)
	if found.master != nil && restartPolicy(found.master) != policy {
		f.warn(ReasonRestartPolicy, "%s.restartPolicy %s counts for all pods of the job, which start again together; that of Master has no effect",
			path(kubeflowv1.Worker), policy)
	}
	switch policy {
	case kubeflowv1.RestartNever:
		if ptr.Deref(made.BackoffLimit, 0) > 0 {
			f.warn(ReasonFieldIgnored, "spec.runPolicy.backoffLimit has no effect under restartPolicy Never: the first failure is the last")
		}
		made.BackoffLimit = ptr.To[int32](0)
	case kubeflowv1.RestartExitCode:
		for code := int32(1); code < firstRetryable; code++ {
			made.PermanentExitCodes = append(made.PermanentExitCodes, code)
		}
	}
}

// schedulingPolicy is what the scheduler is told, nil for nothing.
func (f *conversionResult) schedulingPolicy(run *kubeflowv1.RunPolicy) *batchv1.SchedulingPolicy {
	policy := run.SchedulingPolicy
	if policy == nil {
		return nil
	}
	if policy.ScheduleTimeoutSeconds != nil {
		f.warn(ReasonFieldIgnored, "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds has no effect: under Volcano a job waits until there is room")
	}
	if policy.MinAvailable == nil && policy.Queue == "" && policy.PriorityClass == "" && len(policy.MinResources) == 0 {
		return nil
	}
	return &batchv1.SchedulingPolicy{
		MinAvailable: policy.MinAvailable, Queue: policy.Queue, PriorityClass: policy.PriorityClass,
		MinResources: policy.MinResources.DeepCopy(),
	}
}

// elastic makes the workers come and go between the bounds, if they can: without servers, with bounds that differ, and
// with an etcd to meet in. Kubeflow never did, so that a job for which it cannot be is run as it was there. It says
// whether the job is elastic.
func (f *conversionResult) elastic(job *kubeflowv1.PaddleJob, found replicas, etcd bool) (least, most int32, is bool) {
	policy := job.Spec.ElasticPolicy
	if policy == nil || found.worker == nil {
		return 0, 0, false
	}
	if len(policy.Metrics) > 0 {
		f.warn(ReasonFieldIgnored, "spec.elasticPolicy.metrics has no effect: make a HorizontalPodAutoscaler for the job, whose workers can be scaled")
	}
	unset := ptr.To(size(found.worker))
	least = *cmp.Or(policy.MinReplicas, policy.MaxReplicas, unset)
	most = *cmp.Or(policy.MaxReplicas, policy.MinReplicas, unset)
	switch {
	case least < 1:
		f.refuse(ReasonInvalidElasticPolicy, "spec.elasticPolicy.minReplicas is %d: set it to 1 or more", least)
	case least > most:
		f.refuse(ReasonInvalidElasticPolicy, "spec.elasticPolicy.minReplicas is %d, above maxReplicas %d: swap them", least, most)
	case least == most:
		return 0, 0, false
	case found.master != nil:
		f.warn(ReasonFieldIgnored, "spec.elasticPolicy has no effect on a job with a Master: workers of parameter servers do not come and go")
	case !etcd:
		f.warn(ReasonFieldIgnored, "spec.elasticPolicy has no effect, because the controller has no etcd in which elastic workers could meet "+
			"(--elastic-etcd): the job trains with %d of them throughout", size(found.worker))
	default:
		return least, most, true
	}
	return 0, 0, false
}
