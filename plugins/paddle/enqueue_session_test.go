// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// wishing is a PodGroup with an annotation that says what must be free before it is let in.
func wishing(group *scheduling.PodGroup, amounts string) *scheduling.PodGroup {
	group.Annotations = map[string]string{paddlejob.MinResourcesAnnotation: amounts}
	return group
}

// What a job asks for beyond its minimum, 8 GPUs, 18 CPUs and 64 GiB: n1 has 16 GPUs, 128 CPUs and 512 GiB.
func TestMinResourcesOfTheUser(t *testing.T) {
	job := func(amounts string) *scheduling.PodGroup {
		return wishing(asks(podGroup("job", 10, twoEight), eightGPUs), amounts)
	}
	const letIn = "queue default has let the job in; its pods are not created yet: 2 servers and 8 workers"
	letInByQ := "queue q" + letIn[len("queue default"):]
	inqueue := func(group *scheduling.PodGroup) *scheduling.PodGroup {
		group.Status.Phase = scheduling.PodGroupInqueue
		return group
	}
	before := func() *scheduling.PodGroup {
		return inqueue(wishing(asks(podGroup("before", 4, nil), resources{"nvidia.com/gpu": "5"}), "nvidia.com/gpu=12"))
	}
	notOurs := before()
	notOurs.Labels = nil
	first := wishing(asks(podGroup("first", 10, nil), eightGPUs), "nvidia.com/gpu=12")
	last := job("nvidia.com/gpu=12")
	last.CreationTimestamp = metav1.Unix(1, 0)
	closed := gpuQueue("q", "10")
	closed.Status.State = scheduling.QueueStateClosed
	root, team, child, sibling, other := queue("root", nil), gpuQueue("team", "14"), gpuQueue("q", "64"), gpuQueue("sibling", "64"), queue("other", nil)
	team.Spec.Parent, other.Spec.Parent = "root", "root"
	child.Spec.Parent, sibling.Spec.Parent = "team", "team"
	beside := inqueue(asks(podGroup("beside", 1, nil), resources{"nvidia.com/gpu": "3"}))
	beside.Spec.Queue = "sibling"
	elsewhere := inqueue(asks(podGroup("elsewhere", 1, nil), resources{"nvidia.com/gpu": "4"}))
	elsewhere.Spec.Queue = "other"
	grandchild := queue("grandchild", nil)
	grandchild.Spec.Parent = "q"
	hierarchical := "capacity\n    enableHierarchy: true"
	off := configuration(actionsAll, tier(1, "", withPaddle+"    enableJobEnqueued: false\n"), tier(2, "", ""))

	for _, test := range []struct {
		name          string
		configuration string
		objects       []any
		reason        report.Reason
		text          string
	}{
		{
			"the cluster is full: 16 GPUs count as 19.2, and 8 are used", shipped, append(runningPods(8), job("nvidia.com/gpu=12")),
			report.Overcommit, "the cluster has room for 11 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"there is just enough", shipped, append(runningPods(7), job("nvidia.com/gpu=12,cpu=100,memory=500Gi")), report.WaitingForPods, letIn,
		}, {
			"the queue has a quota", shipped, append(inQ(job("nvidia.com/gpu=12")), gpuQueue("q", "10")),
			report.QueueCapacity, "queue q has room for 10 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"capacity instead of proportion", voters("capacity"), append(inQ(job("nvidia.com/gpu=12")), gpuQueue("q", "10")),
			report.QueueCapacity, "queue q has room for 10 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"a queue above has a quota, of which another queue below it has a part", voters(hierarchical),
			append(inQ(job("nvidia.com/gpu=12")), root, team, child, sibling, beside),
			report.ParentQueueCapacity, "queue team has room for 11 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"what a queue elsewhere has does not count", voters(hierarchical),
			append(inQ(job("nvidia.com/gpu=12")), root, team, child, other, elsewhere), report.WaitingForPods, letInByQ,
		}, {
			"a queue of queues", voters(hierarchical), append(inQ(job("nvidia.com/gpu=15")), root, team, child, grandchild),
			report.QueueNotLeaf, "queue q is divided into other queues, and lets jobs into these only",
		}, {
			"the minimum asks for none of it", shipped, []any{job("example.com/nic=1")},
			report.Overcommit, "the cluster has room for none of the 1 example.com/nic that the job's minResources ask for (its minimum of 2 servers and 8 workers takes none)",
		}, {
			"nobody counts the cluster as larger than it is", voters("proportion"), append(runningPods(5), job("nvidia.com/gpu=12")),
			report.InsufficientResources, "the cluster has room for 11 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"overcommit does not vote", voters("overcommit\n    enableJobEnqueued: false"), append(runningPods(5), job("nvidia.com/gpu=12")),
			report.InsufficientResources, "the cluster has room for 11 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"proportion knows of no queue above", voters("proportion\n    enableHierarchy: true"),
			append(inQ(job("nvidia.com/gpu=12")), root, team, child, sibling, beside), report.WaitingForPods, letInByQ,
		}, {
			"less than the minimum is no wish", shipped, append(runningPods(12), job("nvidia.com/gpu=4")),
			report.Overcommit, "the cluster has room for 7 of the 8 GPUs that the job's minimum asks for (2 servers and 8 workers)",
		}, {
			"what is short is the minimum's, and the wish is about another resource", shipped, append(runningPods(12), job("nvidia.com/gpu=4,cpu=100")),
			report.Overcommit, "the cluster has room for 7 of the 8 GPUs that the job's minimum asks for (2 servers and 8 workers)",
		}, {
			"what others wish for is kept for them until they run", shipped, append(inQ(job("nvidia.com/gpu=12"), before()), gpuQueue("q", "20")),
			report.Overcommit, "the cluster has room for 7 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"jobs without a wish are asked for their minimum, as ever", shipped, []any{before(), asks(podGroup("job", 10, twoEight), eightGPUs)},
			report.WaitingForPods, letIn,
		}, {
			"the wishes of jobs that are not Paddle's count for nothing", shipped, append(inQ(job("nvidia.com/gpu=11"), notOurs), gpuQueue("q", "16")),
			report.WaitingForPods, letInByQ,
		}, {
			"the room went to the job before, a moment ago", voters("overcommit\n    arguments:\n      overcommit-factor: 1.3"), []any{last, first},
			report.Overcommit, "the cluster has room for 8 of the 12 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"the queue is closed", shipped, append(inQ(job("nvidia.com/gpu=12")), closed),
			report.QueueClosed, "queue q is closed: it lets no job in until it is opened again",
		}, {
			"nobody asks whether the queue is closed", voters("overcommit"), append(inQ(job("nvidia.com/gpu=20")), closed),
			report.Overcommit, "the cluster has room for 19 of the 20 GPUs that the job's minResources ask for (its minimum of 2 servers and 8 workers takes 8)",
		}, {
			"an annotation that cannot be read", shipped, append(runningPods(8), job("nvidia.com/gpu=twelve")), report.WaitingForPods, letIn,
		}, {
			"the administrator has switched the plugin's vote off", off, append(runningPods(8), job("nvidia.com/gpu=12")), report.WaitingForPods, letIn,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, test.configuration, node("n1", resources{"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}))
			c.add(test.objects...)
			for range 3 { // the same words each time
				c.session()
				condition := c.condition("job")
				require.Equal(t, string(test.reason), condition.Reason, condition.Message)
				require.Equal(t, test.text, verdictIn(condition).text)
			}
		})
	}
}

func TestReportOfMinResources(t *testing.T) {
	c := newCluster(t, shipped, node("n1", resources{"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}))
	c.add(append(runningPods(8), wishing(asks(podGroup("job", 10, twoEight), eightGPUs), "nvidia.com/gpu=12"))...)
	c.session()
	require.Equal(t, []report.Resource{{Name: "nvidia.com/gpu", Requested: "12", Available: "11"}}, c.report().Missing.Resources)
}

// Whoever is not Paddle's is let in by Volcano's plugins alone, whatever it bears; and a job that was refused for its wish
// takes nobody's place in their books.
func TestAWishIsNobodyElsesConcern(t *testing.T) {
	for _, order := range [][]string{{"proportion", "overcommit"}, {"overcommit", "proportion"}, {"capacity", "overcommit"}} {
		refused := wishing(asks(podGroup("refused", 10, nil), eightGPUs), "nvidia.com/gpu=30")
		other := wishing(asks(podGroup("other", 10, nil), eightGPUs), "nvidia.com/gpu=30")
		other.Labels, other.CreationTimestamp = nil, metav1.Unix(1, 0)
		c := newCluster(t, voters(order...), node("n1", resources{"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}))
		c.add(append(inQ(refused, other), gpuQueue("q", "12"))...)
		c.session()
		require.Equal(t, "Pending", c.phase("refused"), "%v", order)
		require.Equal(t, "Inqueue", c.phase("other"), "%v", order)
	}
}

// As soon as there is room the job is let in, wherever the plugin stands.
func TestAWishThatIsMet(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		group := wishing(asks(podGroup("job", 4, twoTwo), resources{"cpu": "2"}), "cpu=5")
		c := newCluster(t, configuration, append(inQ(group),
			queue("q", resources{"cpu": "4"}), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
			node("n1", resources{"cpu": "8", "memory": "8Gi"}))...)
		for range 3 {
			c.session()
			require.Empty(t, c.bound())
			require.Equal(t, string(report.QueueCapacity), c.condition("job").Reason)
		}
		raised := queue("q", resources{"cpu": "5"})
		raised.ResourceVersion = "2"
		c.cache.UpdateQueueV1beta1(queue("q", resources{"cpu": "4"}), raised)
		c.sessions(1, allFour...)
		require.Equal(t, corev1.ConditionTrue, c.condition("job").Status)
	})
}

// A job has no pods yet when it is told what cannot be read.
func TestAWrongWishIsAnEvent(t *testing.T) {
	c := newCluster(t, shipped, node("n1", resources{"cpu": "8", "memory": "8Gi"}),
		wishing(asks(podGroup("job", 10, twoEight), resources{"cpu": "1"}), "cpu"))
	events := c.listen()
	c.session()
	c.session()
	require.Equal(t, []string{`Warning InvalidAnnotation annotation batch.paddlepaddle.org/min-resources is "cpu": invalid quantity "cpu"; ` +
		`write amounts such as cpu=4,memory=8Gi; the default holds`}, events())
}
