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
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// Reasons for which a job is refused, and of warnings. Others are those of package builder.
const (
	ReasonInvalidReplicaType   = "InvalidReplicaType"
	ReasonInvalidRestartPolicy = "InvalidRestartPolicy"
	ReasonFieldIgnored         = "FieldIgnored"
)

// trainingContainer is the name of the container that trains.
const trainingContainer = "paddle"

// Conversion is a job of Kubeflow's as a PaddleJob.
type Conversion struct {
	// Job is the PaddleJob, nil if Refused says why there is none.
	Job *batchv1.PaddleJob
	// Refused is what the user has to change.
	Refused builder.Causes
	// Warnings is what has another effect than under Kubeflow.
	Warnings builder.Causes
}

// roles are the specs of the roles that a job has.
type roles map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec

// Convert makes a PaddleJob of a job of Kubeflow's. It does not check what the API server refuses of every PaddleJob. Etcd reports
// whether there is one for elastic workers.
func Convert(job *kubeflowv1.PaddleJob, etcd bool) Conversion {
	var c Conversion
	job = job.DeepCopy()
	pods := c.roles(job.Spec.PaddleReplicaSpecs)
	c.Job = &batchv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{
		Name: job.Name, Namespace: job.Namespace, Labels: job.Labels, Annotations: job.Annotations,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, kubeflowv1.SchemeGroupVersion.WithKind(kubeflowv1.Kind))},
	}}
	metav1.SetMetaDataLabel(&c.Job.ObjectMeta, kubeflowv1.JobNameLabel, job.Name)
	delete(c.Job.Annotations, corev1.LastAppliedConfigAnnotation)
	spec, run := &c.Job.Spec, &job.Spec.RunPolicy
	spec.CleanPodPolicy = c.cleanPodPolicy(run)
	spec.RunPolicy = c.runPolicy(run, pods)
	spec.SchedulingPolicy = c.schedulingPolicy(run.SchedulingPolicy)
	if worker := pods[kubeflowv1.Worker]; worker != nil {
		spec.Worker = &batchv1.ResourceSpec{Replicas: *worker.Replicas}
		c.elastic(job.Spec.ElasticPolicy, spec, pods[kubeflowv1.Master] != nil, etcd)
		spec.Worker.Template = c.template(job.Name, kubeflowv1.Worker, pods, spec.Elastic != nil)
	}
	if master := pods[kubeflowv1.Master]; master != nil {
		spec.PS = &batchv1.ResourceSpec{Replicas: *master.Replicas, Template: c.template(job.Name, kubeflowv1.Master, pods, false)}
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

// roles sets what is unset in the specs of roles and returns them. A role without content is one pod without containers.
func (c *Conversion) roles(specs roles) roles {
	found, names := roles{}, map[kubeflowv1.ReplicaType]kubeflowv1.ReplicaType{}
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		role := roleOf(name)
		switch {
		case role == "":
			c.Refused.Add(ReasonInvalidReplicaType, "%s is no role of a PaddleJob: use Worker, and Master for parameter servers", path(name))
		case found[role] != nil:
			c.Refused.Add(ReasonInvalidReplicaType, "%s and %s are the same role: keep one of them", path(names[role]), path(name))
		default:
			spec := cmp.Or(specs[name], &kubeflowv1.ReplicaSpec{})
			spec.Replicas = cmp.Or(spec.Replicas, ptr.To[int32](1))
			spec.RestartPolicy = cmp.Or(spec.RestartPolicy, corev1.RestartPolicyOnFailure)
			found[role], names[role] = spec, name
		}
	}
	return found
}

func path(name kubeflowv1.ReplicaType) string { return fmt.Sprintf("spec.paddleReplicaSpecs.%s", name) }

// cleanPodPolicy is what becomes of pods. Servers are stopped in any case once a job has finished, and a gang that fails is
// stopped as a whole, so that nothing of it runs on: Running and None are the same.
func (c *Conversion) cleanPodPolicy(run *kubeflowv1.RunPolicy) batchv1.CleanPodPolicy {
	switch policy := ptr.Deref(run.CleanPodPolicy, ""); policy {
	case "All":
		return batchv1.CleanAlways
	case "", "None", "Running":
	default:
		c.Warnings.Add(builder.ReasonCleanPodPolicy, "spec.runPolicy.cleanPodPolicy %q does not exist and is treated as None: use All, Running or None", policy)
	}
	return batchv1.CleanNever
}

// runPolicy is the PaddleJob's; nil if there is none. The time to live is not in it: Kubeflow's object is deleted then, and its
// PaddleJob with it.
func (c *Conversion) runPolicy(run *kubeflowv1.RunPolicy, pods roles) *batchv1.RunPolicy {
	made := &batchv1.RunPolicy{ActiveDeadlineSeconds: run.ActiveDeadlineSeconds, BackoffLimit: run.BackoffLimit}
	if ptr.Deref(run.Suspend, false) {
		made.Suspend = run.Suspend
	}
	c.restartPolicies(made, pods)
	if equality.Semantic.DeepEqual(made, &batchv1.RunPolicy{}) {
		return nil
	}
	return made
}

// restartPolicies sets what follows a failed pod. The whole gang starts again; the policy of the workers decides whether it does.
func (c *Conversion) restartPolicies(made *batchv1.RunPolicy, pods roles) {
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		switch policy := pods[name].RestartPolicy; policy {
		case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever, kubeflowv1.RestartExitCode:
		case corev1.RestartPolicyAlways:
			c.Warnings.Add(builder.ReasonRestartPolicyChanged, "%s.restartPolicy Always is treated as OnFailure, because under Always no training ends", path(name))
		default:
			c.Refused.Add(ReasonInvalidRestartPolicy, "%s.restartPolicy %q does not exist: use OnFailure, Never, ExitCode or Always", path(name), string(policy))
		}
	}
	master, worker := pods[kubeflowv1.Master], pods[kubeflowv1.Worker]
	if worker == nil {
		return
	}
	if master != nil && master.RestartPolicy != worker.RestartPolicy {
		c.Warnings.Add(builder.ReasonRestartPolicyChanged, "%s.restartPolicy %s counts for all pods of the job, which start again together; that of Master has no effect",
			path(kubeflowv1.Worker), worker.RestartPolicy)
	}
	switch worker.RestartPolicy {
	case corev1.RestartPolicyNever:
		if ptr.Deref(made.BackoffLimit, 0) > 0 {
			c.Warnings.Add(ReasonFieldIgnored, "spec.runPolicy.backoffLimit has no effect under restartPolicy Never: the first failure is the last")
		}
		made.BackoffLimit = ptr.To[int32](0)
	case kubeflowv1.RestartExitCode:
		const firstRetryable int32 = 128
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
	made := &batchv1.SchedulingPolicy{
		MinAvailable: policy.MinAvailable, Queue: policy.Queue, PriorityClass: policy.PriorityClass, MinResources: policy.MinResources,
	}
	if equality.Semantic.DeepEqual(made, &batchv1.SchedulingPolicy{}) {
		return nil
	}
	return made
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
func (c *Conversion) template(job string, name kubeflowv1.ReplicaType, pods roles, elastic bool) corev1.PodTemplateSpec {
	env, made := variables(job, name, pods, elastic), pods[name].Template
	made.Labels = labels.Merge(made.Labels, podLabels(job, name))
	pod := &made.Spec
	if pod.RestartPolicy != "" && pod.RestartPolicy != pods[name].RestartPolicy {
		c.Warnings.Add(builder.ReasonRestartPolicyChanged, "%s.template.spec.restartPolicy has no effect: %s.restartPolicy counts", path(name), path(name))
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

// podLabels are those by which Kubeflow's tools find the pods of a role. Its replica-index is not among them: it differs from pod to
// pod, and the label volcano.sh/task-index says the same.
func podLabels(job string, name kubeflowv1.ReplicaType) labels.Set {
	role := strings.ToLower(string(name))
	all := labels.Set{
		kubeflowv1.JobNameLabel: job, "training.kubeflow.org/operator-name": "paddlejob-controller", "training.kubeflow.org/replica-type": role,
	}
	if name == kubeflowv1.Master {
		all["training.kubeflow.org/job-role"] = role
	}
	return all
}

// variables are what Kubeflow's controller gives every container of a role, for programs that read them. The launcher does not depend on
// them: the endpoints of the PaddleJob override PADDLE_MASTER and PADDLE_NNODES, and its lists of servers and trainers their numbers. So
// ranks are those of the pods and not the order in which they arrive. Elastic jobs have another master, number of nodes and
// id.
func variables(job string, name kubeflowv1.ReplicaType, pods roles, elastic bool) []corev1.EnvVar {
	all := []corev1.EnvVar{{Name: "PYTHONUNBUFFERED", Value: "1"}}
	if elastic {
		return all
	}
	var nodes int32
	for _, spec := range pods {
		nodes += *spec.Replicas
	}
	meets, role := pods[kubeflowv1.Worker], builder.RoleWorker
	if pods[kubeflowv1.Master] != nil {
		meets, role = pods[kubeflowv1.Master], builder.RolePS
	}
	all = append(all,
		corev1.EnvVar{Name: "PADDLE_JOB_ID", Value: job},
		corev1.EnvVar{Name: "PADDLE_NNODES", Value: strconv.Itoa(int(nodes))},
		// A pod's name resolves under the job's. Kubeflow has a Service for each pod.
		corev1.EnvVar{Name: "PADDLE_MASTER", Value: fmt.Sprintf("%s-%s-0.%s:%d", job, role, job, masterPort(meets))},
	)
	if pods[kubeflowv1.Master] != nil {
		number := map[kubeflowv1.ReplicaType]string{kubeflowv1.Master: "PADDLE_SERVER_NUM", kubeflowv1.Worker: "PADDLE_TRAINER_NUM"}
		all = append(all, corev1.EnvVar{Name: number[name], Value: "1"})
	}
	return all
}

// masterPort is the number of the port named master of the container that trains, Kubeflow's where it has none.
func masterPort(spec *kubeflowv1.ReplicaSpec) int32 {
	for i := range spec.Template.Spec.Containers {
		for _, port := range spec.Template.Spec.Containers[i].Ports {
			if spec.Template.Spec.Containers[i].Name == trainingContainer && port.Name == "master" {
				return port.ContainerPort
			}
		}
	}
	return 36543
}
