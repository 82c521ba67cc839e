// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// someScenarios returns those of the names, or all if everything is tested.
func someScenarios(names ...string) (some []*scenario) {
	for _, l := range scenarios {
		if thorough || slices.Contains(names, l.name) {
			some = append(some, l)
		}
	}
	return some
}

// scenarios have each way of the controller to write at least once.
var scenarios = []*scenario{
	// The controller itself starts it again: environment withdrawn, pods deleted, Volcano asked to resume.
	{
		name: "retried",
		job: v1.PaddleJobSpec{
			PS: role(1), Worker: role(2), CleanPodPolicy: v1.CleanAlways,
			RunPolicy: &v1.RunPolicy{BackoffLimit: ptr.To(int32(3))},
		},
		drive: func(d *driver) {
			d.awaitRunning("1/1", "2/2", 0, 0)
			d.awaitEnvironment()
			d.fail("worker-1")
			d.awaitRunning("1/1", "2/2", 1, 1)
			d.awaitEnvironment()
			d.succeed()
			d.awaitCompleted(2)
			d.awaitPods(0)
		},
	},
	// A pod is evicted, and Volcano starts the gang again; the controller announces the pods' ports. Its workers stay.
	{
		name: "hosts",
		// Volcano may make another pod in the place of the evicted one before it starts the gang again.
		twice: []string{"Running"},
		job:   v1.PaddleJobSpec{Intranet: v1.Host, PS: role(1), Worker: role(1), CleanPodPolicy: v1.CleanNever},
		drive: func(d *driver) {
			d.awaitRunning("1/1", "1/1", 0, 0)
			d.awaitEnvironment()
			d.evict("worker-0")
			d.awaitRunning("1/1", "1/1", 1, 0)
			d.awaitEnvironment()
			d.succeed()
			d.awaitCompleted(1)
			d.awaitPods(1)
		},
	},
	// Workers come and go, one fails and returns alone, and the fourth never finds a node.
	{
		name: "elastic",
		job: v1.PaddleJobSpec{
			Elastic: ptr.To[int32](1), ElasticPolicy: &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}, Worker: onePerNode(elastic(2, 1, 4)),
		},
		drive: func(d *driver) {
			d.awaitRunning("", "2/2", 0, 0)
			d.scale(3)
			d.awaitRunning("", "3/3", 0, 0)
			d.fail("worker-1")
			d.awaitRunning("", "3/3", 0, 1)
			d.scale(1)
			d.awaitRunning("", "1/1", 0, 1)
			d.scale(3)
			d.awaitRunning("", "3/3", 0, 1)
			d.scale(4) // one more than there are nodes
			d.awaitRunning("", "3/4", 0, 1)
			leave := d.occupy(3)
			d.succeed()
			d.awaitCompleted(3)
			leave()
			d.awaitPods(0)
		},
	},
	// It is edited before it begins, suspended, resumed, and deleted by its TTL.
	{
		name: "changed", expires: true,
		job: v1.PaddleJobSpec{Intranet: v1.Service, Worker: nowhere(role(2)), RunPolicy: &v1.RunPolicy{}},
		drive: func(d *driver) {
			d.awaitCreated()
			d.edit(func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.NodeSelector = nil })
			d.awaitRunning("", "2/2", 0, 0)
			d.edit(func(job *v1.PaddleJob) { job.Spec.RunPolicy.Suspend = ptr.To(true) })
			d.awaitSuspended()
			d.edit(func(job *v1.PaddleJob) { job.Spec.RunPolicy.Suspend = nil })
			d.awaitRunning("", "2/2", 0, 0)
			d.succeed()
			d.awaitCompleted(2)
			d.awaitPods(0)
		},
	},
}

func role(replicas int) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{stages.AnnotationRunFor: "forever"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}},
	}}
}

func elastic(replicas int, least, most int32) *v1.ResourceSpec {
	r := role(replicas)
	r.Requests, r.Limits = &least, &most
	return r
}

// onePerNode lets at most one worker onto each of three nodes.
func onePerNode(r *v1.ResourceSpec) *v1.ResourceSpec {
	r.Template.Labels = onePerNodeLabels()
	r.Template.Spec.Affinity = &corev1.Affinity{
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: r.Template.Labels}, TopologyKey: corev1.LabelHostname,
		}}},
		NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: fewNodes(),
			}}}},
		}},
	}
	return r
}

func onePerNodeLabels() map[string]string { return map[string]string{"one": "per-node"} }

func fewNodes() []string { return []string{"rack-0-node-0", "rack-0-node-1", "rack-0-node-2"} }

// nowhere lets no pod be placed.
func nowhere(r *v1.ResourceSpec) *v1.ResourceSpec {
	r.Template.Spec.NodeSelector = map[string]string{"none.has": "this"}
	return r
}

// scenario is a job, and the steps that the test takes until the job has ended. Each step waits for observed state and never for
// time, so that a fault does not change the steps.
type scenario struct {
	name  string
	job   v1.PaddleJobSpec
	drive func(*driver)
	// expires says that the controller deletes the job at the end.
	expires bool
	// twice are milestones that may be reached more often than in the undisturbed scenario.
	twice []string

	once sync.Once
	calm *past
}

// past is the result of a scenario.
type past struct {
	objects  map[string]string
	reported map[string]int
	// writes are those of the controller, as method and resource.
	writes []string
}

// undisturbed returns the past of a scenario without faults; it runs once.
func (l *scenario) undisturbed(t *testing.T) *past {
	t.Helper()
	l.once.Do(func() {
		space := cluster.NamespaceNamed(t, "undisturbed-"+l.name)
		c := startController(t, space, space)
		d := &driver{t: t, namespace: space}
		calm := &past{}
		l.run(d, func() { calm.objects, calm.reported = d.settled(), d.reported() })
		calm.writes = c.written()
		require.Positive(t, calm.reported["Created"], "events: %v", calm.reported)
		require.Positive(t, calm.reported["Running"], "events: %v", calm.reported)
		t.Logf("undisturbed, the scenario %q has %d writes: %v; events %v", l.name, len(calm.writes), calm.writes, calm.reported)
		l.calm = calm
	})
	require.NotNil(t, l.calm, "the undisturbed scenario %q failed", l.name)
	return l.calm
}

// milestones are the reasons of events about what happened. The other events are about what a job waits for, and there may be more
// of them where something breaks.
var milestones = []string{"Created", "Running", "Restarting", "Completed", "Failed"}

// runLike runs the scenario, and compares it with the undisturbed one: the same objects, and no milestone more often. Where
// events are required, none is reported less often.
func (l *scenario) runLike(d *driver, calm *past) {
	d.t.Helper()
	l.run(d, func() {
		d.awaitObjects("the objects of an undisturbed scenario", calm.objects)
		if d.events {
			d.wait("every milestone to be reported", func(context.Context) error {
				reported := d.reported()
				for _, reason := range milestones {
					want := calm.reported[reason]
					if slices.Contains(l.twice, reason) {
						want = min(want, 1) // the undisturbed scenario may be the one in which it is reported twice
					}
					if reported[reason] < want {
						return fmt.Errorf("%s is reported %d times, and %d times at least are expected", reason, reported[reason], want)
					}
				}
				return nil
			})
		}
		reported := d.reported()
		for _, reason := range milestones {
			if !slices.Contains(l.twice, reason) {
				require.LessOrEqual(d.t, reported[reason], calm.reported[reason], "events %s; all: %v", reason, reported)
			}
		}
	})
}

// run runs a scenario in a namespace to its end, and calls judge. Then the job is deleted, and no object may be left.
func (l *scenario) run(d *driver, judge func()) {
	d.t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(d.namespace)
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: jobName}, Spec: *l.job.DeepCopy()}
	d.do("the job to be created", func(ctx context.Context) error {
		_, err := jobs.Create(ctx, job, metav1.CreateOptions{})
		return butFor(err, apierrors.IsAlreadyExists)
	})
	l.drive(d)
	judge()
	if l.expires {
		d.edit(func(job *v1.PaddleJob) { job.Spec.RunPolicy.TTLSecondsAfterFinished = ptr.To(int32(0)) })
	} else {
		d.do("the job to be deleted", func(ctx context.Context) error {
			return butFor(jobs.Delete(ctx, jobName, metav1.DeleteOptions{}), apierrors.IsNotFound)
		})
	}
	d.awaitObjects("nothing to be left", nil)
}
