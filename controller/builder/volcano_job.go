// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// maxRetry is Volcano's own default for tasks, and has no effect there: no policy restarts a task.
const maxRetry int32 = 3

// Job renders the Volcano Job of a valid PaddleJob, and returns what the user should know
// about it. Everything that Volcano's webhooks would default is written out, so that the Job means the same without them.
func Job(job *v1.PaddleJob, overrides PodGroupOverrides, cfg Config) (*vcbatch.Job, []Cause) {
	var warnings Causes
	jobWarnings(&warnings, job, overrides, cfg)
	least := members(job, overrides)
	queueName := Queue(job, overrides)
	priority := priorityClass(job, overrides)
	var sum int64
	var tasks []vcbatch.TaskSpec
	for _, r := range Roles(job) {
		tasks = append(tasks, vcbatch.TaskSpec{
			Name:         r.Name,
			Replicas:     r.replicas(),
			MinAvailable: ptr.To(least[r.Name]),
			MaxRetry:     maxRetry,
			Template:     podTemplate(&warnings, job, r, priority, least, cfg),
			Policies:     taskPolicies(job, r),
		})
		sum += int64(least[r.Name])
	}
	return &vcbatch.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: vcbatch.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            job.Name,
			Namespace:       job.Namespace,
			Labels:          merged(unreserved(job.Labels), map[string]string{v1.JobNameLabel: job.Name, v1.ExcludeFromBackupLabel: "true"}),
			Annotations:     jobAnnotations(job),
			OwnerReferences: []metav1.OwnerReference{ownedBy(job)},
		},
		Spec: vcbatch.JobSpec{
			SchedulerName:     cfg.Scheduler(),
			Queue:             queueName,
			PriorityClassName: priority,
			MinAvailable:      int32(min(sum, math.MaxInt32)),
			MaxRetry:          unlimited,
			Tasks:             tasks,
			NetworkTopology:   topology(job),
			Policies:          jobPolicies(job),
			Plugins: map[string][]string{"svc": {
				// Peers look each other up before any of them is ready.
				"--publish-not-ready-addresses=true",
				// The plugin's policy would admit connections of the job's own pods only. paddle-operator had no such policy, and a user who scrapes
				// metrics or opens VisualDL from elsewhere must not lose that by moving here.
				"--disable-network-policy=true",
			}},
		},
	}, warnings
}

func jobAnnotations(job *v1.PaddleJob) map[string]string {
	all := unreserved(job.Annotations)
	for _, key := range v1.UserAnnotations {
		if value, ok := job.Annotations[key]; ok {
			all[key] = value
		}
	}
	maps.Copy(all, placementAnnotations(job))
	all[v1.ModeAnnotation], all[v1.SpecHashAnnotation] = string(Mode(job)), SpecHash(job)
	delete(all, corev1.LastAppliedConfigAnnotation)
	return all
}

func ownedBy(job *v1.PaddleJob) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, v1.SchemeGroupVersion.WithKind(v1.Kind))
}

// unreserved returns a new map without the keys of the project's prefix, which only the controller writes.
func unreserved(metadata map[string]string) map[string]string {
	all := maps.Clone(metadata)
	maps.DeleteFunc(all, func(key, _ string) bool { return strings.HasPrefix(key, v1.Prefix) })
	if all == nil {
		all = map[string]string{}
	}
	return all
}

// merged returns a new map of both; the controller's entries take precedence.
func merged(user, controller map[string]string) map[string]string {
	all := make(map[string]string, len(user)+len(controller))
	maps.Copy(all, user)
	maps.Copy(all, controller)
	return all
}

// defaultQueue is the queue that Volcano makes and that its webhook writes into Jobs that name none.
const defaultQueue = "default"

// minimum is the number of pods that the user wants placed together, whether there is such a request, and where it is
// written.
func minimum(job *v1.PaddleJob, overrides PodGroupOverrides) (value int32, set bool, field string) {
	if policy := job.Spec.SchedulingPolicy; policy != nil && policy.MinAvailable != nil {
		return *policy.MinAvailable, true, "spec.schedulingPolicy.minAvailable"
	}
	// A PodGroup without minMember has 0 there.
	return overrides.MinMember, overrides.MinMember != 0, "spec.minMember of the PodGroup " + job.Name
}

// Queue returns the job's queue.
func Queue(job *v1.PaddleJob, overrides PodGroupOverrides) string {
	if policy := job.Spec.SchedulingPolicy; policy != nil && policy.Queue != "" {
		return policy.Queue
	}
	// As Volcano does, a PodGroup in the default queue is one that names none: its CRD fills that in.
	if overrides.NamespaceQueue != "" && (overrides.Queue == "" || overrides.Queue == defaultQueue) {
		return overrides.NamespaceQueue
	}
	return cmp.Or(overrides.Queue, defaultQueue)
}

// priorityClass returns the job's priority class, "" for none.
func priorityClass(job *v1.PaddleJob, overrides PodGroupOverrides) string {
	if policy := job.Spec.SchedulingPolicy; policy != nil && policy.PriorityClass != "" {
		return policy.PriorityClass
	}
	return overrides.PriorityClassName
}

// Total returns the number of pods of a job.
func Total(job *v1.PaddleJob) int64 {
	var sum int64
	for _, r := range Roles(job) {
		sum += int64(r.replicas())
	}
	return sum
}

// members is how many pods of each role the gang needs at least. These are every server and every heterogeneous worker, because
// each holds a part of the model. Of the workers it is what is left of the minimum, but never fewer than training needs:
// one, and if they are elastic the least number of them, which is then also what no minimum means.
func members(job *v1.PaddleJob, overrides PodGroupOverrides) map[string]int32 {
	least := map[string]int32{}
	for _, r := range Roles(job) {
		least[r.Name] = r.replicas()
	}
	workers := int64(least[RoleWorker])
	if workers == 0 {
		return least
	}
	floor := int64(1)
	value, set, _ := minimum(job, overrides)
	if Elastic(job) {
		bound, _ := Bounds(job)
		floor = max(int64(bound), 1)
		workers = floor
	}
	if set {
		workers = max(int64(value)-int64(least[RolePS])-int64(least[RoleHeter]), floor)
	}
	least[RoleWorker] = int32(min(workers, int64(least[RoleWorker])))
	return least
}

// Scalable reports whether the number of workers may change while the job runs: nothing that their pods are made from may
// depend on it.
func Scalable(job *v1.PaddleJob) bool {
	worker := job.Spec.Worker
	if !Elastic(job) {
		return false
	}
	minReplicas, maxReplicas := bounds(job)
	return minReplicas != nil && maxReplicas != nil && worker.Replicas >= *minReplicas && worker.Replicas <= *maxReplicas
}

// restartsPods reports whether a worker that fails is started again alone.
func restartsPods(job *v1.PaddleJob) bool {
	return Elastic(job) || (job.Spec.RunPolicy != nil && job.Spec.RunPolicy.RestartScope == v1.RestartPod)
}

// unlimited is the maxRetry of Volcano Jobs: Volcano counts evictions as failures, so the controller counts.
const unlimited int32 = 1 << 30

// failureTimeout is the timeout of the policy for failures: longer than any outage of the controller.
const failureTimeout = 365 * 24 * time.Hour

// gangPolicies are what becomes of the gang when a pod is lost: all of it starts again, because launchers and role makers
// count their peers once, at the start. An eviction is no failure: Volcano starts the gang again at once, with or without the
// controller, also where the evicted program or its peers failed before the pod was gone. A failure is the controller's, which
// aborts the Volcano Job (paddlejob/lifecycle), counts the failure, and resumes the Volcano Job after a delay, or fails the job.
// The policy for a failure only keeps Volcano from acting: without one Volcano would sync the Job at once, and fail the Job
// if all pods have finished. Its action is never reached, since the controller's AbortJob cancels it (cleanupDelayActions in
// volcano/pkg/controllers/job/job_controller.go). A pod may also fail after the Job is aborted. The action must not
// resume an aborted Job, which would start the next attempt next to the failed pods of this one.
func gangPolicies() []vcbatch.LifecyclePolicy {
	return []vcbatch.LifecyclePolicy{
		{Event: vcbus.PodEvictedEvent, Action: vcbus.RestartJobAction},
		{Event: vcbus.PodFailedEvent, Action: vcbus.AbortJobAction, Timeout: &metav1.Duration{Duration: failureTimeout}},
	}
}

// jobPolicies are those of the whole Job: none where workers are started again alone. Volcano then creates an evicted worker
// again, and the controller deletes one that has failed, once it is counted. If all pods of the Job have failed, Volcano fails the
// Job, and the controller starts the gang again. Volcano's own RestartPod would delete the gang's
// PodGroup, with its place in the queue (killPods in volcano/pkg/controllers/job/job_controller_actions.go, v1.14.1).
func jobPolicies(job *v1.PaddleJob) []vcbatch.LifecyclePolicy {
	if restartsPods(job) {
		return nil
	}
	return gangPolicies()
}

// taskPolicies are the role's own, which take precedence over those of the Job.
func taskPolicies(job *v1.PaddleJob, r Role) []vcbatch.LifecyclePolicy {
	if r.Name == RoleWorker {
		// Servers never exit, so the workers' success is the job's; Volcano stops the servers then.
		return []vcbatch.LifecyclePolicy{{Event: vcbus.TaskCompletedEvent, Action: vcbus.CompleteJobAction}}
	}
	if restartsPods(job) {
		return gangPolicies()
	}
	return nil
}

// topology is the job's limit in the terms of a Volcano Job, nil for none. A limit without a mode is hard, as Volcano's
// CRD has it.
func topology(job *v1.PaddleJob) *vcbatch.NetworkTopologySpec {
	policy := job.Spec.SchedulingPolicy
	if policy == nil || policy.NetworkTopology == nil {
		return nil
	}
	limit := policy.NetworkTopology
	spec := &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierName: limit.HighestTierName}
	if limit.Mode == v1.TopologySoft {
		spec.Mode = vcbatch.SoftNetworkTopologyMode
	}
	if limit.HighestTierAllowed != nil {
		spec.HighestTierAllowed = ptr.To(int(*limit.HighestTierAllowed))
	}
	return spec
}

// placementAnnotations are the fields of spec.schedulingPolicy and spec.parallelism for which Volcano has no field, for the scheduler's
// plugin. They take precedence over annotations of the same keys that the user gave the PaddleJob.
func placementAnnotations(job *v1.PaddleJob) map[string]string {
	all := map[string]string{}
	if degrees := Degrees(job.Spec.Parallelism); degrees != "" {
		all[v1.ParallelismAnnotation] = degrees
	}
	policy := job.Spec.SchedulingPolicy
	if policy == nil {
		return all
	}
	if policy.Colocation != "" {
		all[v1.ColocationAnnotation] = string(policy.Colocation)
	}
	if policy.ParameterSize != nil {
		size := policy.ParameterSize.DeepCopy() // String changes its receiver
		all[v1.ParameterSizeAnnotation] = size.String()
	}
	if policy.ParallelGroupSize != nil {
		all[v1.GroupSizeAnnotation] = strconv.Itoa(int(*policy.ParallelGroupSize))
	}
	if len(policy.MinResources) > 0 {
		all[v1.MinResourcesAnnotation] = amounts(policy.MinResources)
	}
	return all
}

// Degrees returns the degrees of parallelism that are set as text, such as pipeline=4,tensor=8, and then the order of ranks.
func Degrees(p *v1.Parallelism) string {
	if p == nil {
		return ""
	}
	var all []string
	for _, axis := range []struct {
		name   string
		degree int32
	}{{"data", p.Data}, {"pipeline", p.Pipeline}, {"sharding", p.Sharding}, {"sep", p.Sep}, {"tensor", p.Tensor}, {"expert", p.Expert}} {
		if axis.degree > 0 {
			all = append(all, axis.name+"="+strconv.Itoa(int(axis.degree)))
		}
	}
	if len(all) > 0 && p.Order == v1.ShardingFirst {
		all = append(all, "order="+string(p.Order))
	}
	return strings.Join(all, ",")
}

// amounts of resources as text, such as cpu=4,memory=8Gi, by name.
func amounts(list corev1.ResourceList) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		all = append(all, string(name)+"="+quantity.String())
	}
	return strings.Join(all, ",")
}

// SpecHash identifies what the job's objects are made from: the spec without what may change while the job runs, which is
// cleanPodPolicy, runPolicy but for its restartScope Pod, and the number of elastic workers between their bounds. Labels and annotations do
// not count for the same reason. Fields without content are left out: whether Kubernetes' types write them differs between
// their releases, and a new controller must not take that for a change of the user's.
func SpecHash(job *v1.PaddleJob) string {
	spec := job.Spec
	spec.CleanPodPolicy = ""
	spec.RunPolicy = nil
	if run := job.Spec.RunPolicy; run != nil && run.RestartScope == v1.RestartPod {
		spec.RunPolicy = &v1.RunPolicy{RestartScope: v1.RestartPod}
	}
	if Scalable(job) {
		worker := *spec.Worker
		worker.Replicas = 0
		spec.Worker = &worker
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return "" // Not possible for a spec that came from the API server.
	}
	text, err := json.Marshal(withoutEmpty(tree))
	if err != nil {
		return ""
	}
	return digest(text)
}

// withoutEmpty drops null and {} from objects.
func withoutEmpty(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			field = withoutEmpty(field)
			if fields, object := field.(map[string]any); field == nil || (object && len(fields) == 0) {
				delete(value, key)
			}
		}
	case []any:
		for i := range value {
			value[i] = withoutEmpty(value[i])
		}
	}
	return value
}

// digest is short enough to be read in a table, and long enough to distinguish one job's versions.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
