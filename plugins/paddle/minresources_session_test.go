// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// requiring is a PodGroup with an annotation that says what must be free before it is admitted.
func requiring(group *scheduling.PodGroup, amounts string) *scheduling.PodGroup {
	group.Annotations = map[string]string{paddlejob.MinResourcesAnnotation: amounts}
	return group
}

// What a job requests beyond its minimum, 8 GPUs, 18 CPUs and 64 GiB: n1 has 16 GPUs, 128 CPUs and 512 GiB.
func TestMinResourcesOfTheUser(t *testing.T) {
	job := func(amounts string) *scheduling.PodGroup {
		return requiring(asks(podGroup("job", 10, twoEight), eightGPUs), amounts)
	}
	const admitted = "2 of 2 servers and 8 of 8 workers do not exist yet: no pod of the gang is started before"
	inqueue := func(group *scheduling.PodGroup) *scheduling.PodGroup {
		group.Status.Phase = scheduling.PodGroupInqueue
		return group
	}
	before := func() *scheduling.PodGroup {
		return inqueue(requiring(asks(podGroup("before", 4, nil), resources{"nvidia.com/gpu": "5"}), "nvidia.com/gpu=12"))
	}
	notPaddle := before()
	notPaddle.Labels = nil
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
			report.Overcommit, "the cluster has capacity for 11 of the 12 GPUs that the job needs",
		}, {
			"there is just enough", shipped, append(runningPods(7), job("nvidia.com/gpu=12,cpu=100,memory=500Gi")), report.WaitingForPods, admitted,
		}, {
			"the queue has a quota", shipped, append(inQ(job("nvidia.com/gpu=12")), gpuQueue("q", "10")),
			report.QueueCapacity, "queue q has capacity for 10 of the 12 GPUs that the job needs",
		}, {
			"capacity instead of proportion", voters("capacity"), append(inQ(job("nvidia.com/gpu=12")), gpuQueue("q", "10")),
			report.QueueCapacity, "queue q has capacity for 10 of the 12 GPUs that the job needs",
		}, {
			"a queue above has a quota, of which another queue below it has a part", voters(hierarchical),
			append(inQ(job("nvidia.com/gpu=12")), root, team, child, sibling, beside),
			report.ParentQueueCapacity, "queue team has capacity for 11 of the 12 GPUs that the job needs",
		}, {
			"what a queue elsewhere has does not count", voters(hierarchical),
			append(inQ(job("nvidia.com/gpu=12")), root, team, child, other, elsewhere), report.WaitingForPods, admitted,
		}, {
			"a queue of queues", voters(hierarchical), append(inQ(job("nvidia.com/gpu=15")), root, team, child, grandchild),
			report.QueueNotLeaf, "queue q has child queues, and only these admit jobs",
		}, {
			"the minimum requests none of it", shipped, []any{job("example.com/nic=1")},
			report.Overcommit, "the cluster has capacity for none of the 1 example.com/nic that the job needs",
		}, {
			"proportion limits no queue without a capability", voters("proportion"), append(runningPods(5), job("nvidia.com/gpu=12")),
			report.WaitingForPods, admitted,
		}, {
			"no plugin votes that counts resources", voters("overcommit\n    enableJobEnqueued: false"), append(runningPods(5), job("nvidia.com/gpu=12")),
			report.WaitingForPods, admitted,
		}, {
			"proportion knows of no queue above", voters("proportion\n    enableHierarchy: true"),
			append(inQ(job("nvidia.com/gpu=12")), root, team, child, sibling, beside), report.WaitingForPods, admitted,
		}, {
			"less than the minimum", shipped, append(runningPods(12), job("nvidia.com/gpu=4")),
			report.Overcommit, "the cluster has capacity for 7 of the 8 GPUs that the job needs",
		}, {
			"the minimum lacks GPUs, and the annotation is about CPUs", shipped, append(runningPods(12), job("nvidia.com/gpu=4,cpu=100")),
			report.Overcommit, "the cluster has capacity for 7 of the 8 GPUs that the job needs",
		}, {
			"jobs without the annotation request their minimum", shipped, []any{before(), asks(podGroup("job", 10, twoEight), eightGPUs)},
			report.WaitingForPods, admitted,
		}, {
			"the annotation of jobs that are not Paddle's has no effect", shipped, append(inQ(job("nvidia.com/gpu=11"), notPaddle), gpuQueue("q", "16")),
			report.WaitingForPods, admitted,
		}, {
			"the queue is closed", shipped, append(inQ(job("nvidia.com/gpu=12")), closed),
			report.QueueClosed, "queue q is not open: it admits no job and starts no pods",
		}, {
			"no plugin checks whether the queue is closed", voters("overcommit"), append(inQ(job("nvidia.com/gpu=20")), closed),
			report.Overcommit, "the cluster has capacity for 16 of the 20 GPUs that the job needs",
		}, {
			"an annotation that cannot be read", shipped, append(runningPods(8), job("nvidia.com/gpu=twelve")), report.WaitingForPods, admitted,
		}, {
			"the administrator has switched the plugin off for enqueue", off, append(runningPods(8), job("nvidia.com/gpu=12")), report.WaitingForPods, admitted,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, test.configuration, node("n1", resources{"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}))
			c.add(test.objects...)
			for range 3 { // the same words each time
				c.session()
				condition := c.condition("job")
				require.Equal(t, string(test.reason), condition.Reason, condition.Message)
				require.Equal(t, test.text, firstLine(condition))
			}
		})
	}
}

// minResources are those of a PodGroup as the last session left it.
func (c *cluster) minResources(group string) *corev1.ResourceList {
	c.cache.Lock()
	defer c.cache.Unlock()
	return c.cache.Jobs[api.JobID(namespace+"/"+group)].PodGroup.Spec.MinResources
}

func TestReportOfMinResources(t *testing.T) {
	c := newCluster(t, shipped, node("n1", resources{"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}))
	c.add(append(runningPods(8), requiring(asks(podGroup("job", 10, twoEight), eightGPUs), "nvidia.com/gpu=12"))...)
	c.session()
	require.Equal(t, []report.Resource{{Name: "nvidia.com/gpu", Requested: "12", Available: "11"}}, c.report().Missing.Resources)
}

// Jobs that are not Paddle's are admitted by their own minResources, and a job that was rejected reserves nothing.
func TestMinResourcesDoNotAffectOtherJobs(t *testing.T) {
	for _, order := range [][]string{{"proportion", "overcommit"}, {"overcommit", "proportion"}, {"capacity", "overcommit"}} {
		refused := requiring(asks(podGroup("refused", 10, nil), eightGPUs), "nvidia.com/gpu=30")
		other := requiring(asks(podGroup("other", 10, nil), eightGPUs), "nvidia.com/gpu=30")
		other.Labels, other.CreationTimestamp = nil, metav1.Unix(1, 0)
		c := newCluster(t, voters(order...), node("n1", resources{"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}))
		c.add(append(inQ(refused, other), gpuQueue("q", "12"))...)
		c.session()
		require.Equal(t, "Pending", c.phase("refused"), "%v", order)
		require.Equal(t, "Inqueue", c.phase("other"), "%v", order)
	}
}

// The job is admitted as soon as its minResources are free, wherever the plugin stands in the configuration. The PodGroup
// that the session writes is unchanged.
func TestAJobIsAdmittedWhenItsMinResourcesAreFree(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		group := requiring(asks(podGroup("job", 4, twoTwo), resources{"cpu": "2"}), "cpu=5")
		c := newCluster(t, configuration, append(inQ(group),
			queue("q", resources{"cpu": "4"}), pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU),
			node("n1", resources{"cpu": "8", "memory": "8Gi"}))...)
		for range 3 {
			c.session()
			require.Empty(t, c.bound())
			require.Equal(t, group.Spec.MinResources, c.minResources("job"))
			require.Equal(t, string(report.QueueCapacity), c.condition("job").Reason)
		}
		raised := queue("q", resources{"cpu": "5"})
		raised.ResourceVersion = "2"
		c.cache.UpdateQueueV1beta1(queue("q", resources{"cpu": "4"}), raised)
		c.sessions(1, allFour...)
		require.Equal(t, corev1.ConditionTrue, c.condition("job").Status)
	})
}

// Volcano's plugins read minResources when nodes are ordered, too.
func TestMinResourcesAreNotRaisedWhilePodsArePlaced(t *testing.T) {
	var seen []float64
	probing(func(ssn *framework.Session) {
		ssn.AddPrePredicateFn("probe", func(*api.TaskInfo) error {
			seen = append(seen, ssn.Jobs["ns/job"].GetMinResources().MilliCPU)
			return nil
		})
	})
	c := newCluster(t, configuration(actionsAll, tier(1, "", withPaddle), tier(2, "", withProbe)),
		requiring(asks(podGroup("job", 4, twoTwo), resources{"cpu": "2"}), "cpu=5"),
		pods("job", "ps", 2, nothing), pods("job", "worker", 2, oneCPU), node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	c.sessions(1, allFour...)
	require.NotEmpty(t, seen)
	for _, cpu := range seen {
		require.InDelta(t, 2000, cpu, 0)
	}
}

// A job has no pods yet when there is an event about its annotation.
func TestInvalidMinResourcesAreAnEvent(t *testing.T) {
	c := newCluster(t, shipped, node("n1", resources{"cpu": "8", "memory": "8Gi"}),
		requiring(asks(podGroup("job", 10, twoEight), resources{"cpu": "1"}), "cpu"))
	events := c.listen()
	c.session()
	c.session()
	require.Equal(t, []string{`Warning InvalidAnnotation annotation batch.paddlepaddle.org/min-resources is "cpu": invalid quantity "cpu"; ` +
		`write amounts such as cpu=4,memory=8Gi; the default holds`}, events())
}
