// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// amounts are those of a list.
func amounts(r resources) func(corev1.ResourceName) float64 { return api.NewResource(r.list()).Get }

func TestLackingWords(t *testing.T) {
	a := &applicant{asked: api.NewResource(eightGPUs.list()), gang: "2 servers and 8 workers"}
	r := room{
		limit: amounts(resources{"nvidia.com/gpu": "32", "cpu": "64", "memory": "256Gi"}),
		used:  amounts(resources{"nvidia.com/gpu": "20", "cpu": "40", "memory": "300Gi"}), where: inTheCluster,
		promised: amounts(resources{"nvidia.com/gpu": "6", "cpu": "500m"}),
	}
	require.Equal(t, []corev1.ResourceName{"nvidia.com/gpu", "memory"}, r.lacking(a.asked), "devices first")
	require.Equal(t, report.Report{
		Reason:  report.Overcommit,
		Message: "the cluster has room for 6 of the 8 GPUs that the job's minimum asks for (2 servers and 8 workers)",
		Missing: &report.Missing{Resources: []report.Resource{
			{Name: "nvidia.com/gpu", Requested: "8", Available: "6"}, {Name: "memory", Requested: "64Gi", Available: "0"},
		}},
		Suggestions: []report.Suggestion{{Kind: report.LowerRequest, Value: "6 of nvidia.com/gpu", Text: "request no more than 6 of nvidia.com/gpu"}},
	}, a.lacks(report.Overcommit, theCluster, r))

	// A plugin that refuses although there seems to be room knows better.
	r.used, r.promised = nothingPromised, nothingPromised
	v := a.lacks(report.QueueCapacity, "queue q", r)
	require.Equal(t, report.QueueCapacity, v.Reason)
	require.Equal(t, "queue q has no room now for the job's minimum (2 servers and 8 workers)", v.Message)
}

// What a quota does not limit is not told.
func TestRoomInANamespace(t *testing.T) {
	a := &applicant{queue: &api.QueueInfo{Name: "q"}, namespace: "ns", listed: eightGPUs.list(), asked: api.NewResource(eightGPUs.list()), gang: "1 worker"}
	v, exceeds := a.exceeds("q", &quota("q", "cpu", "20", "4").Status)
	require.True(t, exceeds)
	require.Equal(t, "resource quota q of namespace ns has room for 16 of the 18 CPUs that the job's minimum asks for (1 worker)", v.Message)
	require.Equal(t, []report.Resource{{Name: "cpu", Requested: "18", Available: "16"}}, v.Missing.Resources)
	_, exceeds = a.exceeds("q", &quota("q", "pods", "1", "2").Status)
	require.False(t, exceeds, "the job asks for none")
	a.listed = corev1.ResourceList{"requests.memory": resource.MustParse("2Gi")}
	v, exceeds = a.exceeds("q", &quota("q", "requests.memory", "1Gi", "2Gi").Status)
	require.True(t, exceeds)
	require.Equal(t, "resource quota q of namespace ns has room for none of the 2 GiB of memory that the job's minimum asks for (1 worker)", v.Message)
	require.Equal(t, []report.Resource{{Name: "requests.memory", Requested: "2Gi", Available: "0"}}, v.Missing.Resources)
	v = a.refusedBy(&conf.PluginOption{Name: pluginResourceQuota}, nil, nil)
	require.Equal(t, report.Report{
		Reason: report.ResourceQuota, Message: "the resource quota of namespace ns has no room for the job's minimum (1 worker)",
	}, v)
}

func TestOvercommitFactor(t *testing.T) {
	for _, test := range []struct {
		value any
		want  float64
	}{{2.5, 2.5}, {3, 3}, {0.5, 1.2}, {"2", 1.2}, {nil, 1.2}} {
		require.InDelta(t, test.want, overcommitFactor(framework.Arguments{argOvercommitFactor: test.value}), 0, "%v", test.value)
	}
}

// A job that was let in is promised its minimum; one that runs, what it still lacks of it.
func TestPromises(t *testing.T) {
	job := jobInfo(2, nil, nil)
	for _, pod := range plainPods("job", "worker", 3, oneCPU) {
		job.AddTaskInfo(api.NewTaskInfo(pod).Clone())
	}
	list := resources{"cpu": "4"}.list()
	job.PodGroup.Spec.MinResources = &list
	promised := func(phase scheduling.PodGroupPhase) float64 {
		job.PodGroup.Status.Phase = phase
		return promisedTo(job, (*api.JobInfo).GetMinResources).MilliCPU
	}
	require.InDelta(t, 0, promised(scheduling.PodGroupPending), 0)
	require.InDelta(t, 4000, promised(scheduling.PodGroupInqueue), 0)
	require.InDelta(t, 0, promised(scheduling.PodGroupRunning), 0, "fewer pods run than it needs: it is not counted as running")
	for _, task := range job.Tasks {
		require.NoError(t, job.UpdateTaskStatus(task, api.Running))
	}
	require.InDelta(t, 1000, promised(scheduling.PodGroupRunning), 0)
	job.PodGroup.Spec.MinResources = nil
	require.InDelta(t, 0, promised(scheduling.PodGroupInqueue), 0)
}

// Votes on what is no job are none of ours.
func TestVotesOnOthers(t *testing.T) {
	r := &refusals{applicants: map[api.JobID]*applicant{}}
	require.Zero(t, r.before(nil, "not a job"))
	require.Zero(t, r.before(nil, jobInfo(2, nil, nil)))
	r.letIn("not a job")
	r.letIn(jobInfo(2, nil, nil))
	require.Nil(t, r.ledger)
}

// A queue's room is used by all that are below it, and parents in a circle end somewhere.
func TestRoomOfABranch(t *testing.T) {
	l := &ledger{total: api.NewResource(resources{"cpu": "64"}.list()), queues: map[api.QueueID]*api.QueueInfo{}, accounts: map[api.QueueID]*queueAccount{}}
	for name, parent := range map[string]string{"a": "", "b": "a", "c": "b", "d": "a", "x": "y", "y": "x"} {
		q := &scheduling.Queue{}
		q.Name, q.Spec.Parent, q.Spec.Capability = name, parent, resources{"cpu": "20"}.list()
		l.queues[api.QueueID(name)] = api.NewQueueInfo(q)
		account := l.account(api.QueueID(name))
		account.allocated.MilliCPU, account.elastic.MilliCPU, account.promised.MilliCPU = 3000, 1000, 500
	}
	l.account("gone").allocated.MilliCPU = 1000
	for name, queues := range map[string]float64{"a": 4, "b": 2, "c": 1, "d": 1, "x": 2, "y": 2} {
		r := l.ofBranch(l.queues[api.QueueID(name)])
		require.InDelta(t, 20000, r.limit("cpu"), 0)
		require.InDelta(t, 2000*queues, r.used("cpu"), 0, name)
		require.InDelta(t, 500*queues, r.promised("cpu"), 0, name)
		require.Equal(t, "queue "+name, r.where("cpu"))
	}
}

// 16 GPUs and 64 CPUs, of which 4 and 8 are guaranteed to another queue, and 2 GPUs to this one.
func TestRoomOfAQueue(t *testing.T) {
	l := &ledger{
		total:      api.NewResource(resources{"nvidia.com/gpu": "16", "cpu": "64"}.list()),
		guaranteed: api.NewResource(resources{"nvidia.com/gpu": "6", "cpu": "8"}.list()),
		accounts: map[api.QueueID]*queueAccount{"q": {
			allocated: api.NewResource(resources{"nvidia.com/gpu": "5"}.list()), elastic: api.NewResource(resources{"nvidia.com/gpu": "1"}.list()),
			promised: api.NewResource(resources{"nvidia.com/gpu": "3"}.list()),
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
