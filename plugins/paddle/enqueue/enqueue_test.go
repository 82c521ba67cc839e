// SPDX-License-Identifier: Apache-2.0

package enqueue

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
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

func amounts(r resources) func(corev1.ResourceName) float64 { return api.NewResource(r.list()).Get }

var eightGPUs = resources{"nvidia.com/gpu": "8", "cpu": "18", "memory": "64Gi"}

func gpuCandidate() *candidate {
	return &candidate{
		queue: &api.QueueInfo{Name: "q"}, namespace: "ns", pods: func() string { return "2 servers and 8 workers" },
		listed: eightGPUs.list(), requested: api.NewResource(eightGPUs.list()), minimum: api.NewResource(eightGPUs.list()),
	}
}

func quota(name corev1.ResourceName, hard, used string) *corev1.ResourceQuotaStatus {
	return &corev1.ResourceQuotaStatus{Hard: resources{name: hard}.list(), Used: resources{name: used}.list()}
}

func TestLacks(t *testing.T) {
	c := gpuCandidate()
	h := headroom{
		limit:   amounts(resources{"nvidia.com/gpu": "32", "cpu": "64", "memory": "256Gi"}),
		used:    amounts(resources{"nvidia.com/gpu": "20", "cpu": "40", "memory": "300Gi"}),
		inqueue: amounts(resources{"nvidia.com/gpu": "6", "cpu": "500m"}),
		where:   func(corev1.ResourceName) string { return theCluster },
	}
	require.Equal(t, []corev1.ResourceName{"nvidia.com/gpu", "memory"}, h.lacking(c.requested), "devices first")
	want := report.Report{
		Reason:  report.Overcommit,
		Message: "the cluster has capacity for 6 of the 8 GPUs that the job's minimum asks for (2 servers and 8 workers)",
		Missing: &report.Missing{Resources: []report.Resource{
			{Name: "nvidia.com/gpu", Requested: "8", Available: "6"}, {Name: "memory", Requested: "64Gi", Available: "0"},
		}},
		Suggestions: []report.Suggestion{{Kind: report.LowerRequest, Value: "6 of nvidia.com/gpu", Text: "request no more than 6 of nvidia.com/gpu"}},
	}
	require.Equal(t, want, c.lacks(report.Overcommit, theCluster, h))
	c.minimum = api.NewResource(resources{"nvidia.com/gpu": "4"}.list())
	want.Message = "the cluster has capacity for 6 of the 8 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 4)"
	require.Equal(t, want, c.lacks(report.Overcommit, theCluster, h))

	// A plugin that rejects a job although there seems to be enough knows better.
	h.used, h.inqueue = amounts(nil), amounts(nil)
	r := c.lacks(report.QueueCapacity, "queue q", h)
	require.Equal(t, report.QueueCapacity, r.Reason)
	require.Equal(t, "queue q has no capacity now for the job's minimum (2 servers and 8 workers)", r.Message)
}

// Resources that a quota does not limit are left out.
func TestExceeds(t *testing.T) {
	c := gpuCandidate()
	r, exceeds := c.exceeds("q", quota("cpu", "20", "4"))
	require.True(t, exceeds)
	require.Equal(t, "resource quota q of namespace ns has capacity for 16 of the 18 CPUs that the job's minimum asks for (2 servers and 8 workers)", r.Message)
	require.Equal(t, []report.Resource{{Name: "cpu", Requested: "18", Available: "16"}}, r.Missing.Resources)
	_, exceeds = c.exceeds("q", quota("pods", "1", "2"))
	require.False(t, exceeds, "the job requests none")
	c.listed = corev1.ResourceList{"requests.memory": resource.MustParse("2Gi")}
	r, exceeds = c.exceeds("q", quota("requests.memory", "1Gi", "2Gi"))
	require.True(t, exceeds)
	require.Equal(t, "resource quota q of namespace ns has capacity for none of the 2 GiB of memory that the job's minimum asks for (2 servers and 8 workers)", r.Message)
	require.Equal(t, []report.Resource{{Name: "requests.memory", Requested: "2Gi", Available: "0"}}, r.Missing.Resources)
	r = c.rejectedBy(&conf.PluginOption{Name: pluginResourceQuota}, nil, nil)
	require.Equal(t, report.Report{
		Reason: report.ResourceQuota, Message: "the resource quota of namespace ns has no capacity for the job's minimum (2 servers and 8 workers)",
	}, r)
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

// What a user asks for beyond the minimum stands in the PodGroup while the session votes.
func TestRaise(t *testing.T) {
	job := api.NewJobInfo("ns/job")
	job.PodGroup = &api.PodGroup{}
	had := resources{"cpu": "4", "requests.cpu": "4", "memory": "2Gi"}.list()
	job.PodGroup.Spec.MinResources = &had
	p := &Probe{}
	p.raise(job, api.NewResource(resources{"cpu": "2", "memory": "3Gi", "nvidia.com/gpu": "8"}.list()))
	require.Equal(t, api.NewResource(resources{"cpu": "4", "memory": "3Gi", "nvidia.com/gpu": "8"}.list()), job.GetMinResources())
	require.Contains(t, *job.PodGroup.Spec.MinResources, corev1.ResourceName("requests.cpu"))
	p.Close()
	require.Same(t, &had, job.PodGroup.Spec.MinResources)
	require.Len(t, had, 3)
}

func TestBeforeVote_OtherObjects(t *testing.T) {
	p := &Probe{candidates: map[api.JobID]*candidate{}}
	require.Zero(t, p.beforeVote(nil, "not a job"))
	require.Zero(t, p.beforeVote(nil, api.NewJobInfo("ns/job")))
	p.onEnqueued("not a job")
	p.onEnqueued(api.NewJobInfo("ns/job"))
	require.Nil(t, p.accounting)
}

// The headroom of a queue is used by all queues below it, and parents may form a circle.
func TestOfSubtree(t *testing.T) {
	l := &Accounting{total: api.NewResource(resources{"cpu": "64"}.list()), queues: map[api.QueueID]*api.QueueInfo{}, accounts: map[api.QueueID]*queueAccount{}}
	for name, parent := range map[string]string{"a": "", "b": "a", "c": "b", "d": "a", "x": "y", "y": "x"} {
		q := &scheduling.Queue{}
		q.Name, q.Spec.Parent, q.Spec.Capability = name, parent, resources{"cpu": "20"}.list()
		l.queues[api.QueueID(name)] = api.NewQueueInfo(q)
		account := l.account(api.QueueID(name))
		account.allocated.MilliCPU, account.elastic.MilliCPU, account.inqueue.MilliCPU = 3000, 1000, 500
	}
	l.account("gone").allocated.MilliCPU = 1000
	for name, queues := range map[string]float64{"a": 4, "b": 2, "c": 1, "d": 1, "x": 2, "y": 2} {
		r := l.ofSubtree(l.queues[api.QueueID(name)])
		require.InDelta(t, 20000, r.limit("cpu"), 0)
		require.InDelta(t, 2000*queues, r.used("cpu"), 0, name)
		require.InDelta(t, 500*queues, r.inqueue("cpu"), 0, name)
		require.Equal(t, "queue "+name, r.where("cpu"))
	}
}

// 16 GPUs and 64 CPUs, of which 4 and 8 are guaranteed to another queue, and 2 GPUs to this one.
func TestOfQueue(t *testing.T) {
	l := &Accounting{
		total:      api.NewResource(resources{"nvidia.com/gpu": "16", "cpu": "64"}.list()),
		guaranteed: api.NewResource(resources{"nvidia.com/gpu": "6", "cpu": "8"}.list()),
		accounts: map[api.QueueID]*queueAccount{"q": {
			allocated: api.NewResource(resources{"nvidia.com/gpu": "5"}.list()), elastic: api.NewResource(resources{"nvidia.com/gpu": "1"}.list()),
			inqueue: api.NewResource(resources{"nvidia.com/gpu": "3"}.list()),
		}},
	}
	for _, test := range []struct {
		name       string
		capability resources
		gpus, cpus float64
	}{
		{"no capability", nil, 12, 56},
		{"less than there is", resources{"nvidia.com/gpu": "10", "cpu": "7"}, 10, 7},
		{"more than there is", resources{"nvidia.com/gpu": "99", "cpu": "99"}, 12, 56},
		{"CPUs are not mentioned", resources{"nvidia.com/gpu": "10"}, 10, 56},
		{"GPUs are not mentioned", resources{"cpu": "7"}, 12, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := &scheduling.Queue{}
			q.Name = "q"
			q.Spec.Guarantee.Resource = resources{"nvidia.com/gpu": "2"}.list()
			q.Spec.Capability = test.capability.list()
			r := l.ofQueue(api.NewQueueInfo(q))
			require.InDelta(t, test.gpus*1000, r.limit("nvidia.com/gpu"), 0)
			require.InDelta(t, test.cpus*1000, r.limit("cpu"), 0)
			require.InDelta(t, test.gpus*1000-4000-3000, r.left("nvidia.com/gpu"), 0)
			require.Equal(t, "queue q", r.where("cpu"), "what others are guaranteed is not the cluster's")
		})
	}
}
