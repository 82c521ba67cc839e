// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestJobOfServersAndWorkers(t *testing.T) {
	job := paddleJob(2, 3)
	job.Labels = map[string]string{"team": "ads", v1.JobNameLabel: "stolen"}
	job.Annotations = map[string]string{"note": "n", corev1.LastAppliedConfigAnnotation: "{}"}
	got, warnings := mustJob(t, job)

	require.Empty(t, warnings)
	require.Equal(t, metav1.TypeMeta{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job"}, got.TypeMeta)
	require.Equal(t, "wide", got.Name)
	require.Equal(t, "train", got.Namespace)
	require.Equal(t, map[string]string{"team": "ads", v1.JobNameLabel: "wide", v1.ExcludeFromBackupLabel: "true"}, got.Labels)
	require.Equal(t, map[string]string{"note": "n", v1.ModeAnnotation: "PS", v1.SpecHashAnnotation: SpecHash(job)}, got.Annotations)
	require.Equal(t, []metav1.OwnerReference{{
		APIVersion: "batch.paddlepaddle.org/v1", Kind: "PaddleJob", Name: "wide", UID: "0f1e",
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}, got.OwnerReferences)
	require.Empty(t, got.Finalizers)

	require.Equal(t, "volcano", got.Spec.SchedulerName)
	require.Equal(t, "default", got.Spec.Queue)
	require.Empty(t, got.Spec.PriorityClassName)
	require.EqualValues(t, 5, got.Spec.MinAvailable)
	require.Equal(t, unlimited, got.Spec.MaxRetry, "the controller counts")
	require.Equal(t, []vcbatch.LifecyclePolicy{
		{Event: vcbus.PodEvictedEvent, Action: vcbus.RestartJobAction},
		{Event: vcbus.PodFailedEvent, Action: vcbus.AbortJobAction, Timeout: &metav1.Duration{Duration: failureTimeout}},
	}, got.Spec.Policies)
	require.Equal(t, map[string][]string{"svc": {"--publish-not-ready-addresses=true", "--disable-network-policy=true"}}, got.Spec.Plugins)

	require.Len(t, got.Spec.Tasks, 2)
	for i, want := range []struct {
		name     string
		replicas int32
		policies []vcbatch.LifecyclePolicy
	}{
		{RolePS, 2, nil},
		{RoleWorker, 3, []vcbatch.LifecyclePolicy{{Event: vcbus.TaskCompletedEvent, Action: vcbus.CompleteJobAction}}},
	} {
		task := got.Spec.Tasks[i]
		require.Equal(t, want.name, task.Name)
		require.Equal(t, want.replicas, task.Replicas)
		require.Equal(t, ptr.To(want.replicas), task.MinAvailable)
		require.EqualValues(t, 3, task.MaxRetry)
		require.Equal(t, want.policies, task.Policies)
	}
}

func TestJobOfWorkersAlone(t *testing.T) {
	for workers, mode := range map[int]v1.Mode{1: v1.ModeSingle, 4: v1.ModeCollective} {
		got, warnings := mustJob(t, paddleJob(0, workers))
		require.Empty(t, warnings)
		require.Len(t, got.Spec.Tasks, 1)
		require.Equal(t, RoleWorker, got.Spec.Tasks[0].Name)
		require.EqualValues(t, workers, got.Spec.MinAvailable)
		require.Equal(t, string(mode), got.Annotations[v1.ModeAnnotation])
	}
}

func TestJobFollowsPolicyThenPodGroup(t *testing.T) {
	own := policy(func(p *v1.SchedulingPolicy) { p.Queue, p.PriorityClass = "own", "high" })
	overrides := PodGroupOverrides{Queue: "user", PriorityClassName: "low", MinMember: 3}
	cases := map[string]struct {
		job             *v1.PaddleJob
		overrides       PodGroupOverrides
		queue, priority string
		min             int32
	}{
		"nothing":                      {paddleJob(2, 2), PodGroupOverrides{}, "default", "", 4},
		"the PodGroup":                 {paddleJob(2, 2), overrides, "user", "low", 3},
		"the namespace":                {paddleJob(2, 2), PodGroupOverrides{NamespaceQueue: "team"}, "team", "", 4},
		"the PodGroup is in default":   {paddleJob(2, 2), PodGroupOverrides{Queue: "default", NamespaceQueue: "team"}, "team", "", 4},
		"the PodGroup, then namespace": {paddleJob(2, 2), PodGroupOverrides{Queue: "user", NamespaceQueue: "team"}, "user", "", 4},
		"the policy, then namespace":   {paddleJob(2, 2, own), PodGroupOverrides{NamespaceQueue: "team"}, "own", "high", 4},
		"the policy is default": {paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.Queue = "default" })), PodGroupOverrides{NamespaceQueue: "team"},
			"default", "", 4},
		"the policy":     {paddleJob(2, 2, own, minAvailable(4)), overrides, "own", "high", 4},
		"some of either": {paddleJob(2, 2, own), overrides, "own", "high", 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := Job(c.job, c.overrides, Config{})
			require.Equal(t, c.queue, got.Spec.Queue)
			require.Equal(t, c.priority, got.Spec.PriorityClassName)
			require.Equal(t, c.min, got.Spec.MinAvailable)
			for i := range got.Spec.Tasks {
				require.Equal(t, c.priority, got.Spec.Tasks[i].Template.Spec.PriorityClassName)
			}
		})
	}
}

func TestJobKeepsServersWhole(t *testing.T) {
	cases := map[string]struct {
		job     *v1.PaddleJob
		servers int32
		workers int32
		raised  bool
	}{
		"all":               {paddleJob(2, 4, minAvailable(6)), 2, 4, false},
		"fewer workers":     {paddleJob(2, 4, minAvailable(4)), 2, 2, false},
		"one worker":        {paddleJob(2, 4, minAvailable(3)), 2, 1, false},
		"servers only":      {paddleJob(2, 4, minAvailable(2)), 2, 1, true},
		"less than servers": {paddleJob(2, 4, minAvailable(1)), 2, 1, true},
		"no servers":        {paddleJob(0, 4, minAvailable(1)), 0, 1, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, warnings := mustJob(t, c.job)
			if c.servers > 0 {
				require.Equal(t, c.servers, *taskOf(t, got, RolePS).MinAvailable)
			}
			require.Equal(t, c.workers, *taskOf(t, got, RoleWorker).MinAvailable)
			// Below the sum, stock Volcano would forget the roles' minimums.
			require.Equal(t, c.servers+c.workers, got.Spec.MinAvailable)
			if c.raised {
				requireCause(t, warnings, ReasonMinAvailableRaised, "spec.schedulingPolicy.minAvailable", "3 is used")
			} else {
				require.NotContains(t, reasons(warnings), ReasonMinAvailableRaised)
			}
		})
	}
}

func TestJobWarnsThatTrainingWaits(t *testing.T) {
	_, warnings := mustJob(t, paddleJob(2, 4, minAvailable(4)))
	requireCause(t, warnings, ReasonWaitsForAll, "4 pods", "all 6", "Service")
	for _, addresses := range []v1.Intranet{v1.PodIP, v1.Service} {
		_, warnings := mustJob(t, paddleJob(0, 4, minAvailable(2), intranet(addresses)))
		requireCause(t, warnings, ReasonWaitsForAll, "2 pods", "all 4 workers", "launcher")
	}
	for name, job := range map[string]*v1.PaddleJob{
		"names are known beforehand": paddleJob(2, 4, minAvailable(4), intranet(v1.Service)),
		"all are wanted":             paddleJob(2, 4, minAvailable(6)),
		"nothing is said":            paddleJob(2, 4),
	} {
		_, warnings := mustJob(t, job)
		require.Empty(t, warnings, name)
	}
	_, warnings = Job(paddleJob(2, 4), PodGroupOverrides{MinMember: 5}, Config{})
	requireCause(t, warnings, ReasonWaitsForAll, "spec.minMember of the PodGroup wide")
}

func TestJobWarnsOfFieldsWithoutEffect(t *testing.T) {
	for _, policy := range []v1.CleanPodPolicy{"", v1.CleanAlways, v1.CleanNever, v1.CleanOnFailure, v1.CleanOnCompletion} {
		_, warnings := mustJob(t, paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = policy }))
		require.Empty(t, warnings, policy)
	}
	_, warnings := mustJob(t, paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = "OnFailed" }))
	requireCause(t, warnings, ReasonCleanPodPolicy, "cleanPodPolicy", "OnFailed", "Never")
	_, warnings = mustJob(t, paddleJob(0, 2, policy(func(p *v1.SchedulingPolicy) { p.MinResources = list("cpu", "1") })))
	requireCause(t, warnings, ReasonMinResources, "spec.schedulingPolicy.minResources")
}

// The reconciler renders also what it has refused, to tell about it.
func TestJobOfNonsenseIsHarmless(t *testing.T) {
	job := paddleJob(math.MaxInt32, math.MaxInt32)
	got, _ := Job(job, PodGroupOverrides{MinMember: math.MinInt32}, Config{})
	require.EqualValues(t, math.MaxInt32, got.Spec.MinAvailable)
	addresses, _, missing := PodAddresses(job, nil)
	require.LessOrEqual(t, len(missing), 2*maxListedPods)
	require.Len(t, ServiceAddresses(job)[RolePS], maxListedPods)
	require.Len(t, addresses[RoleWorker], maxListedPods)

	got, _ = Job(paddleJob(-1, -1), PodGroupOverrides{}, Config{})
	require.Empty(t, got.Spec.Tasks)
	got, _ = Job(paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = -5 }), PodGroupOverrides{}, Config{})
	require.Zero(t, got.Spec.MinAvailable)
}

func reasons(all []Cause) []string {
	found := make([]string, 0, len(all))
	for _, cause := range all {
		found = append(found, cause.Reason)
	}
	return found
}

func runs(run v1.RunPolicy) func(*v1.PaddleJob) {
	return func(job *v1.PaddleJob) { job.Spec.RunPolicy = &run }
}

func bounded(least, most int32) func(*v1.PaddleJob) {
	return func(job *v1.PaddleJob) {
		job.Spec.Elastic, job.Spec.ElasticPolicy = ptr.To[int32](1), &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}
		job.Spec.Worker.Requests, job.Spec.Worker.Limits = &least, &most
	}
}

// policiesOf are a Volcano Job's policies, and those of its workers, as event=action.
func policiesOf(job *vcbatch.Job) (whole, worker []string) {
	short := func(policies []vcbatch.LifecyclePolicy) []string {
		var all []string
		for _, p := range policies {
			when := string(p.Event)
			if p.ExitCode != nil {
				when = string('0' + *p.ExitCode)
			}
			text := when + "=" + string(p.Action)
			if p.Timeout != nil {
				text += " after " + p.Timeout.Duration.String()
			}
			all = append(all, text)
		}
		return all
	}
	return short(job.Spec.Policies), short(job.Spec.Tasks[len(job.Spec.Tasks)-1].Policies)
}

func TestRestartPolicies(t *testing.T) {
	t.Parallel()
	gang := []string{"PodEvicted=RestartJob", "PodFailed=AbortJob after 8760h0m0s"}
	for name, tc := range map[string]struct {
		job            *v1.PaddleJob
		whole, servers []string
	}{
		"no run policy":   {job: paddleJob(1, 2), whole: gang},
		"only a deadline": {job: paddleJob(1, 2, runs(v1.RunPolicy{ActiveDeadlineSeconds: ptr.To[int64](9)})), whole: gang},
		"a limit":         {job: paddleJob(1, 2, runs(v1.RunPolicy{BackoffLimit: ptr.To[int32](0)})), whole: gang},
		"exit codes":      {job: paddleJob(1, 2, runs(v1.RunPolicy{PermanentExitCodes: []int32{4}})), whole: gang},
		"workers alone": {job: paddleJob(1, 2, runs(v1.RunPolicy{RestartScope: v1.RestartPod, PermanentExitCodes: []int32{5, 4}})),
			servers: gang},
		"elastic": {job: paddleJob(0, 2, bounded(1, 4))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, _ := Job(tc.job, PodGroupOverrides{}, Config{})
			whole, worker := policiesOf(job)
			require.Equal(t, tc.whole, whole)
			require.Equal(t, []string{"TaskCompleted=CompleteJob"}, worker)
			require.Equal(t, unlimited, job.Spec.MaxRetry)
			if len(job.Spec.Tasks) > 1 {
				job.Spec.Policies = job.Spec.Tasks[0].Policies
				servers, _ := policiesOf(job)
				require.Equal(t, tc.servers, servers)
			}
		})
	}
}

func TestWhatOfTheRunPolicyMayChange(t *testing.T) {
	t.Parallel()
	hash := func(run v1.RunPolicy) string { return SpecHash(paddleJob(1, 2, runs(run))) }
	plain := SpecHash(paddleJob(1, 2))
	for _, same := range []v1.RunPolicy{
		{}, {Suspend: ptr.To(true)}, {ActiveDeadlineSeconds: ptr.To[int64](1)}, {TTLSecondsAfterFinished: ptr.To[int32](0)}, {RestartScope: v1.RestartGang},
	} {
		require.Equal(t, plain, hash(same))
	}
	require.Equal(t, plain, hash(v1.RunPolicy{BackoffLimit: ptr.To[int32](0), PermanentExitCodes: []int32{3}}), "the controller decides")
	require.NotEqual(t, plain, hash(v1.RunPolicy{RestartScope: v1.RestartPod}))

	elastic := func(replicas int, least, most int32) string {
		return SpecHash(paddleJob(0, replicas, bounded(least, most)))
	}
	require.Equal(t, elastic(2, 1, 4), elastic(4, 1, 4))
	require.NotEqual(t, elastic(2, 1, 4), elastic(5, 1, 4), "out of bounds")
	require.NotEqual(t, elastic(2, 1, 4), elastic(2, 1, 5))
	unbounded := func(replicas int) string {
		return SpecHash(paddleJob(0, replicas, bounded(1, 4), func(job *v1.PaddleJob) { job.Spec.Worker.Limits = nil }))
	}
	require.NotEqual(t, unbounded(2), unbounded(3), "the bound that is unset would follow")
}

func TestTopologyReachesThePodGroup(t *testing.T) {
	for name, c := range map[string]struct {
		limit *v1.NetworkTopology
		job   *vcbatch.NetworkTopologySpec
		group *vcscheduling.NetworkTopologySpec
	}{
		"none": {},
		"hard by default": {
			&v1.NetworkTopology{HighestTierAllowed: ptr.To[int32](2)},
			&vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)},
			&vcscheduling.NetworkTopologySpec{Mode: vcscheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)},
		},
		"by name": {
			&v1.NetworkTopology{Mode: v1.TopologyHard, HighestTierName: "rack"},
			&vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierName: "rack"},
			&vcscheduling.NetworkTopologySpec{Mode: vcscheduling.HardNetworkTopologyMode, HighestTierName: "rack"},
		},
		"soft": {
			&v1.NetworkTopology{Mode: v1.TopologySoft},
			&vcbatch.NetworkTopologySpec{Mode: vcbatch.SoftNetworkTopologyMode},
			&vcscheduling.NetworkTopologySpec{Mode: vcscheduling.SoftNetworkTopologyMode},
		},
	} {
		t.Run(name, func(t *testing.T) {
			job, warnings := mustJob(t, paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.NetworkTopology = c.limit })))
			require.Empty(t, warnings)
			require.Equal(t, c.job, job.Spec.NetworkTopology)
			require.Equal(t, c.group, PodGroup(job).Spec.NetworkTopology)
		})
	}
}

func TestPlacementAnnotations(t *testing.T) {
	job := paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) {
		p.Colocation, p.ParameterSize, p.ParallelGroupSize = "Required", ptr.To(resource.MustParse("2048Mi")), ptr.To[int32](8)
		p.MinResources = list("nvidia.com/gpu", "8", "cpu", "4", "memory", "1Gi")
	}))
	job.Spec.Parallelism = &v1.Parallelism{Data: 2, Pipeline: 4, Sharding: 3, Sep: 1, Tensor: 8, Expert: 6}
	job.Annotations = map[string]string{v1.ColocationAnnotation: "None", "note": "n"}
	want := map[string]string{
		v1.ColocationAnnotation: "Required", v1.ParameterSizeAnnotation: "2Gi", v1.GroupSizeAnnotation: "8", v1.MinResourcesAnnotation: "cpu=4,memory=1Gi,nvidia.com/gpu=8",
		"note": "n", v1.ModeAnnotation: "PS", v1.SpecHashAnnotation: SpecHash(job),
		v1.ParallelismAnnotation: "data=2,pipeline=4,sharding=3,sep=1,tensor=8,expert=6",
	}
	got, _ := mustJob(t, job)
	require.Equal(t, want, got.Annotations)
	require.Equal(t, want, PodGroup(got).Annotations)

	job.Spec.Parallelism.Order = v1.ShardingFirst
	got, _ = mustJob(t, job)
	require.Equal(t, "data=2,pipeline=4,sharding=3,sep=1,tensor=8,expert=6,order=ShardingFirst", got.Annotations[v1.ParallelismAnnotation])

	job.Spec.Parallelism = &v1.Parallelism{ConfigMapKeyRef: &v1.ConfigMapKeyRef{Name: "config", Key: "train.yaml"}}
	got, _ = mustJob(t, job)
	require.NotContains(t, got.Annotations, v1.ParallelismAnnotation)

	job.Spec.SchedulingPolicy, job.Spec.Parallelism = nil, nil
	got, _ = mustJob(t, job)
	require.Equal(t, map[string]string{v1.ColocationAnnotation: "None", "note": "n", v1.ModeAnnotation: "PS", v1.SpecHashAnnotation: SpecHash(job)}, got.Annotations)
}

func TestSpecHash(t *testing.T) {
	base := SpecHash(paddleJob(2, 2))
	require.NotEmpty(t, base)
	for name, apply := range map[string]change{
		"labels":                    func(job *v1.PaddleJob) { job.Labels = map[string]string{"a": "b"} },
		"name":                      named("deep"),
		"cleanPodPolicy":            func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = v1.CleanAlways },
		"status":                    func(job *v1.PaddleJob) { job.Status.Phase = v1.Running },
		"an empty policy":           policy(func(*v1.SchedulingPolicy) {}),
		"an empty security context": workerPod(func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{} }),
	} {
		require.Equal(t, base, SpecHash(paddleJob(2, 2, apply)), name)
	}
	seen := map[string]string{base: "nothing"}
	for name, apply := range map[string]change{
		"replicas":   func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = 3 },
		"no servers": func(job *v1.PaddleJob) { job.Spec.PS = nil },
		"image":      workerContainer(func(c *corev1.Container) { c.Image = "paddle:v2" }),
		"gloo":       withGloo(0),
		"intranet":   intranet(v1.PodIP),
		"label":      func(job *v1.PaddleJob) { job.Spec.Worker.Template.Labels = map[string]string{"a": ""} },
	} {
		hash := SpecHash(paddleJob(2, 2, apply))
		require.NotContains(t, seen, hash, name)
		seen[hash] = name
	}
}

// The hash must not depend on how a quantity is written, or on the time that some releases of Kubernetes' types write
// into templates.
func TestSpecHashIsOfTheMeaning(t *testing.T) {
	decode := func(text string) *v1.PaddleJob {
		job := &v1.PaddleJob{}
		require.NoError(t, json.Unmarshal([]byte(text), job))
		return job
	}
	a := decode(`{"spec":{"worker":{"replicas":1,"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m"}}}]}}}}}`)
	b := decode(`{"spec":{"worker":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":1}},"name":"c"}]}},"replicas":1}}}`)
	require.Equal(t, SpecHash(a), SpecHash(b))
	b.Spec.Worker.Template.CreationTimestamp = metav1.Time{}
	require.Equal(t, SpecHash(a), SpecHash(b))
}

// Jobs run, and finished ones are in backups, with hashes that an earlier version of the controller wrote.
func TestSpecHashIsTheSameInAllVersions(t *testing.T) {
	t.Parallel()
	require.Equal(t, "fa584830da225bd2", SpecHash(paddleJob(1, 2)))
	require.Equal(t, "1e35991378cac55c", SpecHash(paddleJob(1, 2, runs(v1.RunPolicy{RestartScope: v1.RestartPod}))))
}
