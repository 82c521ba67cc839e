// SPDX-License-Identifier: Apache-2.0

package enqueue

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// resources are amounts by resource.
type resources map[corev1.ResourceName]string

func (r resources) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, amount := range r {
		list[name] = resource.MustParse(amount)
	}
	return list
}

var eightGPUs = resources{"nvidia.com/gpu": "8", "cpu": "18", "memory": "64Gi"}

func gpuCandidate() *candidate {
	return &candidate{
		queue: api.NewQueueInfo(&scheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: "q"}}), namespace: "ns",
		listed: eightGPUs.list(), requested: api.NewResource(eightGPUs.list()),
	}
}

func quota(name corev1.ResourceName, hard, used string) corev1.ResourceQuotaStatus {
	return corev1.ResourceQuotaStatus{Hard: resources{name: hard}.list(), Used: resources{name: used}.list()}
}

func TestLacks(t *testing.T) {
	requested := api.NewResource(eightGPUs.list())
	h := headroom{
		total: api.NewResource(resources{"nvidia.com/gpu": "64", "cpu": "64", "memory": "256Gi"}.list()),
		limit: api.NewResource(resources{"nvidia.com/gpu": "32", "cpu": "64", "memory": "256Gi"}.list()),
		used:  api.NewResource(resources{"nvidia.com/gpu": "26", "cpu": "40500m", "memory": "300Gi"}.list()),
	}
	want := report.Report{
		Reason:  report.Overcommit,
		Message: "the cluster has capacity for 6 of the 8 GPUs that the job needs",
		Missing: &report.Missing{Resources: []report.Resource{
			{Name: "nvidia.com/gpu", Requested: "8", Available: "6"}, {Name: "memory", Requested: "64Gi", Available: "0"},
		}},
		Suggestions: []report.Suggestion{report.Suggest(report.LowerRequest, "6 of nvidia.com/gpu")},
	}
	r, short := h.lacks(report.Overcommit, requested)
	require.True(t, short)
	require.Equal(t, want, r, "devices first")

	h.queue = "q"
	r, short = h.lacks(report.QueueCapacity, requested)
	require.True(t, short)
	want.Reason, want.Message = report.QueueCapacity, "queue q has capacity for 6 of the 8 GPUs that the job needs"
	want.Suggestions = append([]report.Suggestion{report.Suggest(report.RaiseQueueCapability, "q")}, want.Suggestions...)
	require.Equal(t, want, r)

	h.total = h.limit
	r, short = h.lacks(report.QueueCapacity, requested)
	require.True(t, short)
	want.Reason, want.Message = report.InsufficientResources, "the cluster has capacity for 6 of the 8 GPUs that the job needs"
	want.Suggestions = want.Suggestions[1:]
	require.Equal(t, want, r, "the queue may use the whole cluster")

	h.used = api.EmptyResource()
	_, short = h.lacks(report.QueueCapacity, requested)
	require.False(t, short)
}

// Overcommit admits more than the cluster has, but no job can have more.
func TestLacks_MoreThanTheClusterHas(t *testing.T) {
	total := api.NewResource(resources{"nvidia.com/gpu": "32"}.list())
	h := headroom{total: total, limit: total.Clone().Multi(1.2), used: api.EmptyResource()}
	r, short := h.lacks(report.Overcommit, api.NewResource(resources{"nvidia.com/gpu": "512"}.list()))
	require.True(t, short)
	require.Equal(t, "the cluster has capacity for 32 of the 512 GPUs that the job needs", r.Message)
	require.Equal(t, []report.Suggestion{report.Suggest(report.LowerRequest, "32 of nvidia.com/gpu")}, r.Suggestions)
}

// A plugin that rejects a job although there seems to be enough knows better.
func TestWhyRejected_WithoutAShortage(t *testing.T) {
	conf.EnabledActionMap = map[string]bool{"enqueue": true}
	list := eightGPUs.list()
	job := api.NewJobInfo("ns/job")
	job.PodGroup, job.Queue = &api.PodGroup{}, "q"
	a := accountingOf(map[string]string{"q": ""}, func(q *scheduling.Queue) { q.Status.State = scheduling.QueueStateOpen })
	a.ssn, a.used = &framework.Session{}, api.EmptyResource()
	for _, plugin := range []string{pluginOvercommit, pluginProportion, pluginCapacity, pluginResourceQuota, "other"} {
		a.ssn.Tiers = append(a.ssn.Tiers, conf.Tier{Plugins: []conf.PluginOption{{Name: plugin, EnabledJobEnqueued: ptr.To(true), EnabledHierarchy: ptr.To(true)}}})
	}
	require.Equal(t, report.WaitingToBeEnqueued, a.WhyRejected(job).Reason, "Volcano admits it without a vote")
	job.PodGroup.Spec.MinResources = &list
	require.Equal(t, report.Report{Reason: report.RefusedByPlugin, Message: "a plugin of the scheduler rejects the job"}, a.WhyRejected(job))
}

// Resources that a quota does not limit are left out, and so are quotas that leave enough.
func TestExceeded(t *testing.T) {
	c := gpuCandidate()
	r, exceeds := c.exceeded(map[string]corev1.ResourceQuotaStatus{"a": quota("pods", "1", "2"), "b": quota("cpu", "20", "4"), "c": quota("cpu", "1", "0")})
	require.True(t, exceeds)
	require.Equal(t, "resource quota b of namespace ns has capacity for 16 of the 18 CPUs that the job needs", r.Message)
	require.Equal(t, []report.Resource{{Name: "cpu", Requested: "18", Available: "16"}}, r.Missing.Resources)
	require.Equal(t, []report.Suggestion{report.Suggest(report.RaiseResourceQuota, "b")}, r.Suggestions)
	c.listed = corev1.ResourceList{"requests.memory": resource.MustParse("2Gi")}
	r, exceeds = c.exceeded(map[string]corev1.ResourceQuotaStatus{"q": quota("requests.memory", "1Gi", "2Gi")})
	require.True(t, exceeds)
	require.Equal(t, "resource quota q of namespace ns has capacity for none of the 2 GiB of memory that the job needs", r.Message)
	require.Equal(t, []report.Resource{{Name: "requests.memory", Requested: "2Gi", Available: "0"}}, r.Missing.Resources)
	_, exceeds = c.exceeded(map[string]corev1.ResourceQuotaStatus{"a": quota("pods", "1", "2")})
	require.False(t, exceeds, "the job requests none")
}

func TestOvercommitFactor(t *testing.T) {
	for _, test := range []struct {
		value any
		want  float64
	}{{2.5, 2.5}, {3, 3}, {0.5, 1.2}, {"2", 1.2}, {nil, 1.2}} {
		require.InDelta(t, test.want, overcommitFactor(framework.Arguments{argOvercommitFactor: test.value}), 0, "%v", test.value)
	}
}

// The whole minimum is reserved for a job that was admitted, and of one that runs what it still lacks.
func TestInqueueOf(t *testing.T) {
	job := api.NewJobInfo("ns/job")
	job.PodGroup = &api.PodGroup{PodGroup: scheduling.PodGroup{Spec: scheduling.PodGroupSpec{MinMember: 2}}}
	for i := range 3 {
		pod := &corev1.Pod{}
		pod.UID, pod.Namespace, pod.Name = types.UID(strconv.Itoa(i)), "ns", strconv.Itoa(i)
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources{"cpu": "1"}.list()}}}
		job.AddTaskInfo(api.NewTaskInfo(pod))
	}
	list := resources{"cpu": "4"}.list()
	job.PodGroup.Spec.MinResources = &list
	inqueue := func(phase scheduling.PodGroupPhase) float64 {
		job.PodGroup.Status.Phase = phase
		return inqueueOf(job).MilliCPU
	}
	require.InDelta(t, 0, inqueue(scheduling.PodGroupPending), 0)
	require.InDelta(t, 4000, inqueue(scheduling.PodGroupInqueue), 0)
	require.InDelta(t, 0, inqueue(scheduling.PodGroupRunning), 0, "fewer pods run than it needs: it does not count as running")
	for _, task := range job.Tasks {
		require.NoError(t, job.UpdateTaskStatus(task, api.Running))
	}
	require.InDelta(t, 1000, inqueue(scheduling.PodGroupRunning), 0)
	job.PodGroup.Spec.MinResources = nil
	require.InDelta(t, 0, inqueue(scheduling.PodGroupInqueue), 0)
}

// What a user requests beyond the minimum stands in the PodGroup while the session votes.
func TestRaise(t *testing.T) {
	job := api.NewJobInfo("ns/job")
	job.PodGroup = &api.PodGroup{}
	had := resources{"cpu": "4", "requests.cpu": "4", "memory": "2Gi"}.list()
	job.PodGroup.Spec.MinResources = &had
	r := Raised{}
	r.Add(job, api.NewResource(resources{"cpu": "2", "memory": "3Gi", "nvidia.com/gpu": "8"}.list()))
	require.Equal(t, api.NewResource(resources{"cpu": "4", "memory": "3Gi", "nvidia.com/gpu": "8"}.list()), job.GetMinResources())
	require.Contains(t, *job.PodGroup.Spec.MinResources, corev1.ResourceName("requests.cpu"))
	r.Set(false)
	require.Same(t, &had, job.PodGroup.Spec.MinResources)
	r.Set(true)
	require.InDelta(t, 8000, job.GetMinResources().Get("nvidia.com/gpu"), 0)
	r.Set(false)
	r.Set(false)
	require.Same(t, &had, job.PodGroup.Spec.MinResources)
	require.Len(t, had, 3)
}

// accountingOf returns 64 CPUs and 16 GPUs that queues share, by the queues' parents. Each has 2 CPUs of its jobs' minimums.
func accountingOf(parents map[string]string, change func(*scheduling.Queue)) *Accounting {
	a := &Accounting{
		total: api.NewResource(resources{"nvidia.com/gpu": "16", "cpu": "64", "memory": "256Gi"}.list()), queues: map[api.QueueID]*api.QueueInfo{}, accounts: map[api.QueueID]*account{},
	}
	for name, parent := range parents {
		q := &scheduling.Queue{}
		q.Name, q.Spec.Parent = name, parent
		change(q)
		a.queues[api.QueueID(name)] = api.NewQueueInfo(q)
		a.account(api.QueueID(name)).reserved.MilliCPU = 2000
	}
	return a
}

// The headroom of a queue is used by all queues below it, and parents may form a circle.
func TestOfQueue_SumsTheQueuesBelow(t *testing.T) {
	a := accountingOf(map[string]string{"root": "", "a": "", "b": "a", "c": "b", "d": "a", "x": "y", "y": "x"}, func(q *scheduling.Queue) {
		q.Spec.Capability = resources{"cpu": "20"}.list()
	})
	a.account("gone").reserved.MilliCPU = 1000
	for name, queues := range map[string]float64{"root": 5, "a": 4, "b": 2, "c": 1, "d": 1, "x": 2, "y": 2} {
		h := a.ofQueue(a.queues[api.QueueID(name)])
		require.InDelta(t, 20000, h.limit.MilliCPU, 0)
		require.InDelta(t, 2000*queues, h.used.MilliCPU, 0, name)
		require.Equal(t, name, h.queue)
	}
}

// What is guaranteed to a queue beside it, or beside one above it, is not for a queue. What that gives to queues below counts once.
func TestOfQueue_LeavesGuarantees(t *testing.T) {
	guarantees := map[string]string{"root": "0", "a": "1", "b": "2", "c": "4", "d": "8", "below-d": "8"}
	a := accountingOf(map[string]string{"root": "", "a": "root", "b": "a", "c": "a", "d": "", "below-d": "d"}, func(q *scheduling.Queue) {
		q.Spec.Guarantee.Resource = resources{"cpu": guarantees[q.Name]}.list()
	})
	for name, cpus := range map[string]float64{"root": 64, "a": 64 - 8, "b": 64 - 4 - 8, "d": 64 - 1, "below-d": 64 - 1} {
		require.InDelta(t, 1000*cpus, a.ofQueue(a.queues[api.QueueID(name)]).limit.MilliCPU, 0, name)
	}
}

func TestOfQueue_Capability(t *testing.T) {
	for name, test := range map[string]struct {
		capability resources
		gpus, cpus float64
	}{
		"no capability":          {nil, 16, 64},
		"less than there is":     {resources{"nvidia.com/gpu": "10", "cpu": "7"}, 10, 7},
		"more than there is":     {resources{"nvidia.com/gpu": "99", "cpu": "99"}, 16, 64},
		"CPUs are not mentioned": {resources{"nvidia.com/gpu": "10"}, 10, 64},
		"GPUs are not mentioned": {resources{"cpu": "7"}, 16, 7},
	} {
		t.Run(name, func(t *testing.T) {
			a := accountingOf(map[string]string{"q": ""}, func(q *scheduling.Queue) { q.Spec.Capability = test.capability.list() })
			h := a.ofQueue(a.queues["q"])
			require.InDelta(t, test.gpus*1000, h.limit.Get("nvidia.com/gpu"), 0)
			require.InDelta(t, test.cpus*1000, h.limit.MilliCPU, 0)
		})
	}
}
