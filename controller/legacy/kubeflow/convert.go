// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// Reasons for which a job is refused, and of warnings.
const (
	ReasonInvalidReplicaType   = "InvalidReplicaType"
	ReasonInvalidRestartPolicy = "InvalidRestartPolicy"
	ReasonCleanPodPolicy       = "UnknownCleanPodPolicy"
	ReasonRestartPolicy        = "RestartPolicyChanged"
	ReasonFieldIgnored         = "FieldIgnored"
)

const (
	// trainingContainer is the name of the container that trains.
	trainingContainer = "paddle"
	// masterPort is the name of the port of the launchers' master, and defaultPort its number where no container has it.
	masterPort        = "master"
	defaultPort int32 = 36543
	// firstRetryable is the first exit code that is worth another try under restartPolicy ExitCode.
	firstRetryable int32 = 128
)

// Conversion is a job of Kubeflow's as a PaddleJob.
type Conversion struct {
	// Job is the PaddleJob, nil if Refused says why there is none.
	Job *batchv1.PaddleJob
	// Refused is what the user has to change.
	Refused builder.Causes
	// Warnings is what has another effect than under Kubeflow.
	Warnings builder.Causes
}

// Convert makes a PaddleJob of a job of Kubeflow's. It does not check what the API server refuses of every PaddleJob. Etcd reports
// whether there is one for elastic workers.
func Convert(job *kubeflowv1.PaddleJob, etcd bool) Conversion {
	var c Conversion
	master, worker := c.roles(job)
	c.Job = &batchv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{
		Name: job.Name, Namespace: job.Namespace, Labels: maps.Clone(job.Labels), Annotations: maps.Clone(job.Annotations),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, kubeflowv1.SchemeGroupVersion.WithKind(kubeflowv1.Kind))},
	}}
	metav1.SetMetaDataLabel(&c.Job.ObjectMeta, kubeflowv1.JobNameLabel, job.Name)
	delete(c.Job.Annotations, corev1.LastAppliedConfigAnnotation)
	spec, run := &c.Job.Spec, &job.Spec.RunPolicy
	spec.CleanPodPolicy = c.cleanPodPolicy(run)
	spec.RunPolicy = c.runPolicy(run, master, worker)
	spec.SchedulingPolicy = c.schedulingPolicy(run.SchedulingPolicy)
	if worker != nil {
		spec.Worker = &batchv1.ResourceSpec{Replicas: size(worker)}
		c.elastic(job.Spec.ElasticPolicy, spec, master != nil, etcd)
		spec.Worker.Template = c.template(job.Name, kubeflowv1.Worker, worker, variables(job.Name, kubeflowv1.Worker, master, worker, spec.Elastic != nil))
	}
	if master != nil {
		spec.PS = &batchv1.ResourceSpec{Replicas: size(master),
			Template: c.template(job.Name, kubeflowv1.Master, master, variables(job.Name, kubeflowv1.Master, master, worker, false))}
	}
	if len(c.Refused) > 0 {
		c.Job, c.Warnings = nil, nil
	}
	return c
}

// roleOf returns the role that a name means in any case, "" for none.
func roleOf(name kubeflowv1.ReplicaType) kubeflowv1.ReplicaType {
	for _, role := range []kubeflowv1.ReplicaType{kubeflowv1.Master, kubeflowv1.Worker} {
		if strings.EqualFold(string(name), string(role)) {
			return role
		}
	}
	return ""
}

// roles returns the job's roles, nil for one that it does not have. A role without content is one pod without containers.
func (c *Conversion) roles(job *kubeflowv1.PaddleJob) (master, worker *kubeflowv1.ReplicaSpec) {
	found, names := map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{}, map[kubeflowv1.ReplicaType]kubeflowv1.ReplicaType{}
	for _, name := range slices.Sorted(maps.Keys(job.Spec.PaddleReplicaSpecs)) {
		role := roleOf(name)
		switch {
		case role == "":
			c.Refused.Add(ReasonInvalidReplicaType, "%s is no role of a PaddleJob: use Worker, and Master for parameter servers", path(name))
		case found[role] != nil:
			c.Refused.Add(ReasonInvalidReplicaType, "%s and %s are the same role: keep one of them", path(names[role]), path(name))
		default:
			found[role], names[role] = cmp.Or(job.Spec.PaddleReplicaSpecs[name], &kubeflowv1.ReplicaSpec{}), name
		}
	}
	return found[kubeflowv1.Master], found[kubeflowv1.Worker]
}

func path(name kubeflowv1.ReplicaType) string { return fmt.Sprintf("spec.paddleReplicaSpecs.%s", name) }

// size is the number of pods of a role, 0 for one that the job does not have.
func size(spec *kubeflowv1.ReplicaSpec) int32 {
	if spec == nil {
		return 0
	}
	return ptr.Deref(spec.Replicas, 1)
}

func restartPolicy(spec *kubeflowv1.ReplicaSpec) kubeflowv1.RestartPolicy {
	return cmp.Or(spec.RestartPolicy, kubeflowv1.RestartOnFailure)
}

// cleanPodPolicy is what becomes of pods. Servers are stopped in any case once a job has finished, and a gang that fails is
// stopped as a whole, so that nothing of it runs on: Running and None are the same.
func (c *Conversion) cleanPodPolicy(run *kubeflowv1.RunPolicy) batchv1.CleanPodPolicy {
	switch policy := ptr.Deref(run.CleanPodPolicy, ""); policy {
	case kubeflowv1.CleanAll:
		return batchv1.CleanAlways
	case "", kubeflowv1.CleanNone, kubeflowv1.CleanRunning:
	default:
		c.Warnings.Add(ReasonCleanPodPolicy, "spec.runPolicy.cleanPodPolicy %q does not exist and is treated as None: use All, Running or None", string(policy))
	}
	return batchv1.CleanNever
}

// runPolicy is the PaddleJob's; nil if there is none. The time to live is not in it: Kubeflow's object is deleted then, and its
// PaddleJob with it.
func (c *Conversion) runPolicy(run *kubeflowv1.RunPolicy, master, worker *kubeflowv1.ReplicaSpec) *batchv1.RunPolicy {
	made := &batchv1.RunPolicy{ActiveDeadlineSeconds: run.ActiveDeadlineSeconds, BackoffLimit: run.BackoffLimit}
	if ptr.Deref(run.Suspend, false) {
		made.Suspend = run.Suspend
	}
	c.restartPolicies(made, master, worker)
	if made.Suspend == nil && made.ActiveDeadlineSeconds == nil && made.BackoffLimit == nil && made.PermanentExitCodes == nil {
		return nil
	}
	return made
}

// restartPolicies sets what follows a failed pod. The whole gang starts again; the policy of the workers decides whether it does.
func (c *Conversion) restartPolicies(made *batchv1.RunPolicy, master, worker *kubeflowv1.ReplicaSpec) {
	for i, spec := range []*kubeflowv1.ReplicaSpec{master, worker} {
		name := []kubeflowv1.ReplicaType{kubeflowv1.Master, kubeflowv1.Worker}[i]
		if spec == nil {
			continue
		}
		switch policy := restartPolicy(spec); policy {
		case kubeflowv1.RestartOnFailure, kubeflowv1.RestartNever, kubeflowv1.RestartExitCode:
		case kubeflowv1.RestartAlways:
			c.Warnings.Add(ReasonRestartPolicy, "%s.restartPolicy Always is treated as OnFailure, because under Always no training ends", path(name))
		default:
			c.Refused.Add(ReasonInvalidRestartPolicy, "%s.restartPolicy %q does not exist: use OnFailure, Never, ExitCode or Always", path(name), string(policy))
		}
	}
	if worker == nil {
		return
	}
	policy := restartPolicy(worker)
	if master != nil && restartPolicy(master) != policy {
		c.Warnings.Add(ReasonRestartPolicy, "%s.restartPolicy %s counts for all pods of the job, which start again together; that of Master has no effect",
			path(kubeflowv1.Worker), policy)
	}
	switch policy {
	case kubeflowv1.RestartNever:
		if ptr.Deref(made.BackoffLimit, 0) > 0 {
			c.Warnings.Add(ReasonFieldIgnored, "spec.runPolicy.backoffLimit has no effect under restartPolicy Never: the first failure is the last")
		}
		made.BackoffLimit = ptr.To[int32](0)
	case kubeflowv1.RestartExitCode:
		for code := int32(1); code < firstRetryable; code++ {
			made.PermanentExitCodes = append(made.PermanentExitCodes, code)
		}
	}
}

// schedulingPolicy is the PaddleJob's, nil if there is none.
func (c *Conversion) schedulingPolicy(policy *kubeflowv1.SchedulingPolicy) *batchv1.SchedulingPolicy {
	if policy == nil {
		return nil
	}
	if policy.ScheduleTimeoutSeconds != nil {
		c.Warnings.Add(ReasonFieldIgnored, "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds has no effect: under Volcano a job waits until there is capacity")
	}
	if policy.MinAvailable == nil && policy.Queue == "" && policy.PriorityClass == "" && len(policy.MinResources) == 0 {
		return nil
	}
	return &batchv1.SchedulingPolicy{
		MinAvailable: policy.MinAvailable, Queue: policy.Queue, PriorityClass: policy.PriorityClass, MinResources: policy.MinResources.DeepCopy(),
	}
}

// elastic makes the workers elastic between the bounds, if they can be: without servers, with bounds that differ, and with an etcd.
// Kubeflow's controller never did that, so a job that cannot be elastic runs as it did there.
func (c *Conversion) elastic(policy *kubeflowv1.ElasticPolicy, spec *batchv1.PaddleJobSpec, servers, etcd bool) {
	if policy == nil {
		return
	}
	if len(policy.Metrics) > 0 {
		c.Warnings.Add(ReasonFieldIgnored, "spec.elasticPolicy.metrics has no effect: make a HorizontalPodAutoscaler for the job, whose workers can be scaled")
	}
	workers := &spec.Worker.Replicas
	least, most := *cmp.Or(policy.MinReplicas, policy.MaxReplicas, workers), *cmp.Or(policy.MaxReplicas, policy.MinReplicas, workers)
	switch {
	case least == most:
	case servers:
		c.Warnings.Add(ReasonFieldIgnored, "spec.elasticPolicy has no effect on a job with a Master: workers of parameter servers do not come and go")
	case !etcd:
		c.Warnings.Add(ReasonFieldIgnored, "spec.elasticPolicy has no effect, because the controller has no etcd in which elastic workers could meet "+
			"(--elastic-etcd): the job trains with %d of them throughout", spec.Worker.Replicas)
	default:
		// A release that set minReplicas and maxReplicas would change the specs of jobs that run.
		spec.Elastic, spec.Worker.Requests, spec.Worker.Limits = ptr.To[int32](1), ptr.To(least), ptr.To(most)
		if policy.MaxRestarts != nil {
			spec.ElasticPolicy = &batchv1.ElasticPolicy{MaxRestarts: policy.MaxRestarts}
		}
	}
}

// template is a role's pod as it is for the PaddleJob.
func (c *Conversion) template(job string, name kubeflowv1.ReplicaType, spec *kubeflowv1.ReplicaSpec, env []corev1.EnvVar) corev1.PodTemplateSpec {
	made := *spec.Template.DeepCopy()
	if made.Labels == nil {
		made.Labels = map[string]string{}
	}
	maps.Copy(made.Labels, podLabels(job, name))
	pod := &made.Spec
	if pod.RestartPolicy != "" && string(pod.RestartPolicy) != string(restartPolicy(spec)) {
		c.Warnings.Add(ReasonRestartPolicy, "%s.template.spec.restartPolicy has no effect: %s.restartPolicy counts", path(name), path(name))
	}
	// Kubernetes reports no failure of a container that restarts in place, and its peers would wait for it forever.
	pod.RestartPolicy = corev1.RestartPolicyNever
	// A PaddleJob trains in its first container.
	if at := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == trainingContainer }); at > 0 {
		first := pod.Containers[at]
		pod.Containers = slices.Insert(slices.Delete(pod.Containers, at, at+1), 0, first)
	}
	for i := range pod.Containers {
		// The container's own variables win, and may refer to the others.
		own := pod.Containers[i].Env
		pod.Containers[i].Env = append(slices.DeleteFunc(slices.Clone(env), func(v corev1.EnvVar) bool {
			return slices.ContainsFunc(own, func(o corev1.EnvVar) bool { return o.Name == v.Name })
		}), own...)
	}
	return made
}

// podLabels are those by which Kubeflow's tools find the pods of a role.
func podLabels(job string, name kubeflowv1.ReplicaType) map[string]string {
	role := strings.ToLower(string(name))
	labels := map[string]string{
		kubeflowv1.JobNameLabel: job, kubeflowv1.OperatorNameLabel: kubeflowv1.OperatorName, kubeflowv1.ReplicaTypeLabel: role,
	}
	if name == kubeflowv1.Master {
		labels[kubeflowv1.JobRoleLabel] = role
	}
	return labels
}

// variables are what Kubeflow's controller gives every container of a role, for programs that read them. The launcher does not depend on
// them: the endpoints of the PaddleJob override PADDLE_MASTER and PADDLE_NNODES, and its lists of servers and trainers their numbers. So
// ranks are those of the pods and not the order in which they arrive. Elastic jobs have another master, number of nodes and
// id.
func variables(job string, name kubeflowv1.ReplicaType, master, worker *kubeflowv1.ReplicaSpec, elastic bool) []corev1.EnvVar {
	all := []corev1.EnvVar{{Name: "PYTHONUNBUFFERED", Value: "1"}}
	if elastic {
		return all
	}
	meets, role := worker, builder.RoleWorker
	if master != nil {
		meets, role = master, builder.RolePS
	}
	all = append(all,
		corev1.EnvVar{Name: "PADDLE_JOB_ID", Value: job},
		corev1.EnvVar{Name: "PADDLE_NNODES", Value: strconv.Itoa(int(size(master) + size(worker)))},
		// A pod's name resolves under the job's. Kubeflow has a Service for each pod.
		corev1.EnvVar{Name: "PADDLE_MASTER", Value: fmt.Sprintf("%s-%s-0.%s:%d", job, role, job, portOf(meets))},
	)
	switch {
	case master == nil:
	case name == kubeflowv1.Master:
		all = append(all, corev1.EnvVar{Name: "PADDLE_SERVER_NUM", Value: "1"})
	default:
		all = append(all, corev1.EnvVar{Name: "PADDLE_TRAINER_NUM", Value: "1"})
	}
	return all
}

// portOf is the number of the port named master of the container that trains.
func portOf(spec *kubeflowv1.ReplicaSpec) int32 {
	for i := range spec.Template.Spec.Containers {
		for _, port := range spec.Template.Spec.Containers[i].Ports {
			if spec.Template.Spec.Containers[i].Name == trainingContainer && port.Name == masterPort {
				return port.ContainerPort
			}
		}
	}
	return defaultPort
}
