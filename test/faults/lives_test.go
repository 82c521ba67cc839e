// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// someLives are those of a name, or all that there are where everything is to be tried.
func someLives(names ...string) (some []*life) {
	for _, l := range lives {
		if thorough || slices.Contains(names, l.name) {
			some = append(some, l)
		}
	}
	return some
}

// lives have each way of the controller to write at least once.
var lives = []*life{
	// The controller itself starts it again: environment withdrawn, pods deleted, Volcano told to resume.
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
	// A pod is evicted, and Volcano starts the gang again; pods are told their ports. Its workers stay.
	{
		name: "hosts",
		// Volcano may make another pod in the place of the evicted one before it starts the gang again.
		twice: []string{"EnvironmentReady", "Running"},
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
			leave := d.squat(3)
			d.succeed()
			d.awaitCompleted(3)
			leave()
			d.awaitPods(0)
		},
	},
	// It is edited before it begins, suspended, resumed, and forgotten.
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
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{sandbox.AnnotationRunFor: "forever"}},
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
