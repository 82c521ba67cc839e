// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// asks makes a PodGroup that of a Paddle job, which requests resources before it has any pods.
func asks(group *scheduling.PodGroup, requested resources) *scheduling.PodGroup {
	group.Labels = map[string]string{paddlejob.JobNameLabel: group.Name}
	group.Spec.MinResources = ptr.To(requested.list())
	return group
}

var (
	eightGPUs = resources{"nvidia.com/gpu": "8", "cpu": "18", "memory": "64Gi"}
	twoEight  = map[string]int32{"ps": 2, "worker": 8}
)

// voters is a configuration whose second tier holds these plugins, one a line.
func voters(plugins ...string) string {
	const line = "\n  - name: "
	return configuration(actionsAll, tier(1, "", withPaddle), "- plugins:"+line+"predicates"+line+strings.Join(plugins, line)+"\n")
}

// gpuQueue is a queue of so many GPUs and plenty of everything else.
func gpuQueue(name, gpus string) *scheduling.Queue {
	return queue(name, resources{"cpu": "1000", "memory": "1000Gi", "nvidia.com/gpu": gpus})
}

// inQ puts PodGroups into the queue q.
func inQ(groups ...*scheduling.PodGroup) []any {
	var objects []any
	for _, group := range groups {
		group.Spec.Queue = "q"
		objects = append(objects, group)
	}
	return objects
}

// runningPods is a job that runs on n1 and is none of Paddle's, with one GPU for each pod.
func runningPods(n int) []any {
	group := podGroup("old", int32(n), nil)
	group.Status.Phase = scheduling.PodGroupRunning
	running := plainPods("old", "task", n, resources{"nvidia.com/gpu": "1", "cpu": "1"})
	for _, pod := range running {
		pod.Spec.NodeName = "n1"
		pod.Status.Phase = corev1.PodRunning
	}
	return []any{group, running}
}

// picky refuses every job.
type picky struct{}

func (picky) Name() string                      { return "picky" }
func (picky) OnSessionClose(*framework.Session) {}
func (picky) OnSessionOpen(ssn *framework.Session) {
	ssn.AddJobEnqueueableFn("picky", func(any) int { return util.Reject })
}

// What a user reads of a job that was refused before it has pods: n1 has 16 GPUs, 128 CPUs and 512 GiB, and the job needs 8
// GPUs, 18 CPUs and 64 GiB.
func TestWhyJobIsNotAdmitted(t *testing.T) {
	framework.RegisterPluginBuilder("picky", func(framework.Arguments) framework.Plugin { return picky{} })
	job := func() *scheduling.PodGroup { return asks(podGroup("job", 10, twoEight), eightGPUs) }
	closed, closing, odd := gpuQueue("q", "64"), gpuQueue("q", "64"), gpuQueue("q", "64")
	closed.Status.State, closing.Status.State, odd.Status.State = scheduling.QueueStateClosed, scheduling.QueueStateClosing, ""
	promised := asks(podGroup("before", 4, nil), resources{"nvidia.com/gpu": "5"})
	promised.Status.Phase = scheduling.PodGroupInqueue
	first := asks(podGroup("first", 10, nil), eightGPUs)
	last := job()
	last.CreationTimestamp = metav1.Unix(1, 0)
	elastic := asks(podGroup("elastic", 4, nil), resources{"nvidia.com/gpu": "4"})
	elastic.Status.Phase = scheduling.PodGroupRunning
	six := plainPods("elastic", "task", 6, resources{"nvidia.com/gpu": "1"})
	for _, pod := range six {
		pod.Spec.NodeName, pod.Status.Phase = "n1", corev1.PodRunning
	}
	root, team, child := queue("root", nil), gpuQueue("team", "4"), gpuQueue("q", "64")
	child.Spec.Parent = "team"
	grandchild := queue("grandchild", nil)
	grandchild.Spec.Parent = "q"
	team.Spec.Parent = "root"
	hierarchical := "capacity\n    enableHierarchy: true"

	for _, test := range []struct {
		name          string
		configuration string
		objects       []any
		reason        report.Reason
		text          string
	}{
		{
			"the cluster is full: 16 GPUs count as 19.2, and 12 are used", shipped, append(runningPods(12), job()),
			report.Overcommit, "the cluster has capacity for 7 of the 8 GPUs that the job needs",
		}, {
			"overcommit with a factor of its own", voters("overcommit\n    arguments:\n      overcommit-factor: 1.0"),
			append(runningPods(12), job()),
			report.Overcommit, "the cluster has capacity for 4 of the 8 GPUs that the job needs",
		}, {
			"a job without minimums", shipped, append(runningPods(16), asks(podGroup("job", 1, nil), eightGPUs)),
			report.Overcommit, "the cluster has capacity for 3 of the 8 GPUs that the job needs",
		}, {
			"the queue has a quota", shipped, append(inQ(job()), gpuQueue("q", "6")),
			report.QueueCapacity, "queue q has capacity for 6 of the 8 GPUs that the job needs",
		}, {
			"the queue's quota is promised to others", shipped, append(inQ(job(), promised), gpuQueue("q", "12")),
			report.QueueCapacity, "queue q has capacity for 7 of the 8 GPUs that the job needs",
		}, {
			"the queue's quota went to the job before, a moment ago", shipped, append(inQ(last, first), gpuQueue("q", "13")),
			report.QueueCapacity, "queue q has capacity for 5 of the 8 GPUs that the job needs",
		}, {
			"what others have beyond their minimum counts as free", shipped, append(inQ(job(), elastic), six, gpuQueue("q", "10")),
			report.QueueCapacity, "queue q has capacity for 6 of the 8 GPUs that the job needs",
		}, {
			"the queue has no GPUs at all", shipped, append(inQ(job()), gpuQueue("q", "0")),
			report.QueueCapacity, "queue q has capacity for none of the 8 GPUs that the job needs",
		}, {
			"the queue has too little memory", voters("proportion"),
			append(inQ(job()), queue("q", resources{"cpu": "64", "memory": "65000Mi"})),
			report.QueueCapacity, "queue q has capacity for 63.4 of the 64 GiB of memory that the job needs",
		}, {
			"capacity instead of proportion", voters("overcommit", "capacity"), append(inQ(job()), gpuQueue("q", "6")),
			report.QueueCapacity, "queue q has capacity for 6 of the 8 GPUs that the job needs",
		}, {
			"a queue above has a quota", voters(hierarchical), append(inQ(job()), root, team, child),
			report.ParentQueueCapacity, "queue team has capacity for 4 of the 8 GPUs that the job needs",
		}, {
			"a queue of queues", voters(hierarchical), append(inQ(job()), root, team, child, grandchild),
			report.QueueNotLeaf, "queue q has child queues, and only these admit jobs",
		}, {
			"the queue is closed", shipped, append(inQ(job()), closed),
			report.QueueClosed, "queue q is not open: it admits no job and starts no pods",
		}, {
			"the queue is closed and the cluster full", shipped, append(append(runningPods(16), closed), inQ(job())...),
			report.QueueClosed, "queue q is not open: it admits no job and starts no pods",
		}, {
			"the queue is being closed", voters("capacity"), append(inQ(job()), closing),
			report.QueueClosed, "queue q is not open: it admits no job and starts no pods",
		}, {
			"the queue is not open yet", shipped, append(inQ(job()), odd),
			report.QueueClosed, "queue q is not open: it admits no job and starts no pods",
		}, {
			"no plugin checks whether the queue is closed", voters("overcommit"), append(append(runningPods(16), closed), inQ(job())...),
			report.Overcommit, "the cluster has capacity for 3 of the 8 GPUs that the job needs",
		}, {
			"the namespace has a quota", voters("resourcequota"), []any{job(), quota("gpus", "cpu", "20", "16")},
			report.ResourceQuota, "resource quota gpus of namespace ns has capacity for 4 of the 18 CPUs that the job needs",
		}, {
			"a plugin of which nothing is known", voters("picky"), []any{job()},
			report.RefusedByPlugin, "a plugin of the scheduler rejects the job",
		}, {
			"the first that is known to refuse counts", voters("picky", "proportion", "overcommit"), append(append(runningPods(12), inQ(job())...), gpuQueue("q", "6")),
			report.QueueCapacity, "queue q has capacity for 6 of the 8 GPUs that the job needs",
		}, {
			"it is admitted", shipped, []any{job()},
			report.WaitingForPods, "2 of 2 servers and 8 of 8 workers do not exist yet: no pod of the gang is started before",
		}, {
			"the action enqueue does not run", configuration("backfill", tier(1, "", withPaddle), tier(2, "", "")), []any{job()},
			report.WaitingToBeEnqueued, "queue default has not admitted the job yet; nothing rejects it",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, test.configuration, node("n1", resources{"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}))
			for _, object := range test.objects {
				if quota, ok := object.(*corev1.ResourceQuota); ok {
					c.cache.AddResourceQuota(quota)
				} else {
					c.add(object)
				}
			}
			for range 3 { // the same words each time
				c.session()
				condition := c.condition("job")
				require.Equal(t, string(test.reason), condition.Reason)
				require.Equal(t, corev1.ConditionFalse, condition.Status)
				require.Equal(t, test.text, firstLine(condition))
			}
		})
	}
}

// quota is a ResourceQuota of the namespace.
func quota(name string, resourceName corev1.ResourceName, hard, used string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Status: corev1.ResourceQuotaStatus{
			Hard: corev1.ResourceList{resourceName: resource.MustParse(hard)},
			Used: corev1.ResourceList{resourceName: resource.MustParse(used)},
		},
	}
}

// Volcano's own event says that a job has no pods; the plugin sends none about what every job passes through.
func TestNoEventOfAJobWithoutPods(t *testing.T) {
	c := newCluster(t, shipped, asks(podGroup("job", 10, twoEight), resources{"cpu": "1"}), node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	events := c.listen()
	volcano := record.NewFakeRecorder(10000)
	c.cache.Recorder = volcano
	for range 100 {
		c.session()
	}
	require.Contains(t, <-volcano.Events, "the gang waits (WaitingForPods)")
	require.Empty(t, events())
}

// A job of paddle-operator's has its pods before it is admitted: gang writes the reason to the PodGroup.
func TestWhyJobWithPodsIsNotAdmitted(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		c := newCluster(t, configuration, append(inQ(asks(podGroup("job", 4, twoTwo), resources{"cpu": "2"})),
			queue("q", resources{"cpu": "1"}), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
			node("n1", resources{"cpu": "8", "memory": "8Gi"}))...)
		const why = "queue q has capacity for 1 of the 2 CPUs that the job needs"
		for range 3 {
			c.session()
			require.Contains(t, c.podMessage("job-ps-0"), "the gang waits (QueueCapacity)")
			require.Equal(t, string(report.QueueCapacity), c.condition("job").Reason)
			require.Equal(t, why, firstLine(c.condition("job")))
		}
		// The quota is raised: nothing of the refusal is left.
		raised := queue("q", resources{"cpu": "2"})
		raised.ResourceVersion = "2"
		c.cache.UpdateQueueV1beta1(queue("q", resources{"cpu": "1"}), raised)
		c.sessions(1, allFour...)
		require.Equal(t, corev1.ConditionTrue, c.condition("job").Status)
	})
}

// The plugin changes no vote.
func TestNoVoteIsChanged(t *testing.T) {
	var jobs []string
	objects := func() []any {
		jobs = nil
		objects := []any{queue("q", resources{"cpu": "10"}), node("n1", resources{"cpu": "24", "memory": "64Gi"}),
			podGroup("with-pods", 1, nil), plainPods("with-pods", "task", 1, oneCPU)}
		for i, cpu := range []string{"4", "7", "1", "5", "9", "2", "30", "1"} {
			group := podGroup("job-"+cpu+"-"+string(rune('a'+i)), 1, nil)
			group.CreationTimestamp = metav1.Unix(int64(i), 0)
			group.Spec.MinResources = ptr.To(resources{"cpu": cpu}.list())
			if i%2 == 0 {
				group.Spec.Queue = "q"
			}
			if i%3 == 0 {
				group.Labels = map[string]string{paddlejob.JobNameLabel: group.Name}
			}
			jobs = append(jobs, group.Name)
			objects = append(objects, group)
		}
		return objects
	}
	phases := func(configuration string) map[string]string {
		c := newCluster(t, configuration, objects()...)
		c.session()
		found := map[string]string{}
		for _, job := range jobs {
			found[job] = c.phase(job)
		}
		return found
	}
	for _, voters := range [][]string{{"overcommit", "proportion"}, {"proportion", "overcommit"}, {"capacity", "overcommit"}} {
		plugins := func(first string) string {
			return configuration(actionsAll, tier(1, "", first), "- plugins:\n  - name: "+voters[0]+"\n  - name: predicates\n", "- plugins:\n  - name: "+
				voters[1]+"\n")
		}
		stock := phases(plugins(""))
		require.Contains(t, stock, jobs[0])
		require.NotEqual(t, stock["job-30-g"], stock[jobs[2]], "some are refused and some are not")
		require.Equal(t, stock, phases(plugins(withPaddle)))
	}
}
