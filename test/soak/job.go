// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

const namespace = "soak"

// job is what is known of a job without looking at it.
type job struct {
	name string
	kind string
	made *v1.PaddleJob
	// outcome is how it ends without an operation on it.
	outcome outcome
	// hurt says that a pod of it was killed or made to fail, so that it may fail too.
	hurt bool
	// orphaned says that its Volcano Job was deleted by hand, so that a job that had just ended has none.
	orphaned bool
	// suspended says that it is to be; a job whose end was certain by then ends.
	suspended bool
	// deleted says that it is to be gone.
	deleted bool
}

// outcome is how a job ends.
type outcome int

const (
	completes outcome = iota
	fails
	stalls
	// vanishes is that of jobs that are deleted soon after their end (TTL).
	vanishes
)

// kinds of jobs, of which all are as likely.
var kinds = []struct {
	name    string
	outcome outcome
	make    func(*rand.Rand, *v1.PaddleJobSpec)
}{
	{"ps", completes, func(r *rand.Rand, spec *v1.PaddleJobSpec) { spec.PS = role(1+r.IntN(2), "forever") }},
	{"collective", completes, func(*rand.Rand, *v1.PaddleJobSpec) {}},
	{"service", completes, func(_ *rand.Rand, spec *v1.PaddleJobSpec) { spec.Intranet = v1.Service }},
	{"host", completes, func(_ *rand.Rand, spec *v1.PaddleJobSpec) { spec.Intranet, spec.PS = v1.Host, role(1, "forever") }},
	{"elastic", completes, beElastic},
	{"elastic", completes, beElastic},
	// Once in the life of each of its Volcano Jobs, of which it has a new one whenever it is suspended or loses one. It has a server
	// that runs on: Volcano fails a Job of which all pods have failed, and the next one would fail again until the limit is reached.
	{"fails once", completes, func(_ *rand.Rand, spec *v1.PaddleJobSpec) {
		spec.PS = role(1, "forever")
		fail(spec, ptr.To("0"))
		spec.RunPolicy.BackoffLimit = ptr.To(int32(9))
	}},
	{"restarts alone", completes, func(_ *rand.Rand, spec *v1.PaddleJobSpec) {
		spec.PS = role(1, "forever")
		spec.RunPolicy.RestartScope, spec.RunPolicy.BackoffLimit = v1.RestartPod, ptr.To(int32(9))
	}},
	{"fails", fails, func(_ *rand.Rand, spec *v1.PaddleJobSpec) {
		fail(spec, nil)
		spec.RunPolicy.PermanentExitCodes = []int32{3}
	}},
	{"too late", fails, func(_ *rand.Rand, spec *v1.PaddleJobSpec) {
		spec.Worker.Template.Annotations[stages.AnnotationRunFor] = "forever"
		spec.RunPolicy.ActiveDeadlineSeconds = ptr.To(int64(3))
	}},
	{"forgotten", vanishes, func(_ *rand.Rand, spec *v1.PaddleJobSpec) { spec.RunPolicy.TTLSecondsAfterFinished = ptr.To(int32(1)) }},
	{"stalls", stalls, func(_ *rand.Rand, spec *v1.PaddleJobSpec) {
		spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "nowhere"}
	}},
	{"suspended", completes, func(_ *rand.Rand, spec *v1.PaddleJobSpec) { spec.RunPolicy.Suspend = ptr.To(true) }},
}

const mostWorkers = 4

func beElastic(r *rand.Rand, spec *v1.PaddleJobSpec) {
	spec.Elastic, spec.ElasticPolicy = ptr.To[int32](1), &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}
	spec.Worker.Replicas = 1 + r.Int32N(mostWorkers)
	spec.Worker.Requests, spec.Worker.Limits = ptr.To[int32](1), ptr.To[int32](mostWorkers)
}

func fail(spec *v1.PaddleJobSpec, attempt *string) {
	spec.Worker.Template.Annotations[stages.AnnotationExitCode] = "3"
	if attempt != nil {
		spec.Worker.Template.Annotations[stages.AnnotationFailAttempt] = *attempt
	}
}

var cleaning = []v1.CleanPodPolicy{"", v1.CleanAlways, v1.CleanNever, v1.CleanOnFailure, v1.CleanOnCompletion}

// draw creates a job by chance.
func draw(r *rand.Rand, name string) *job {
	kind := kinds[r.IntN(len(kinds))]
	made := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	made.Spec.CleanPodPolicy = cleaning[r.IntN(len(cleaning))]
	made.Spec.RunPolicy = &v1.RunPolicy{}
	made.Spec.Worker = role(2+r.IntN(2), (time.Duration(2+r.IntN(10)) * time.Second).String())
	kind.make(r, &made.Spec)
	return &job{
		name: name, kind: kind.name, made: made, outcome: kind.outcome,
		suspended: ptr.Deref(made.Spec.RunPolicy.Suspend, false),
	}
}

func role(replicas int, runFor string) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{stages.AnnotationRunFor: runFor}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "paddle", Image: "paddle", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}},
		}}},
	}}
}

func (j *job) elastic() bool { return j.made.Spec.Elastic != nil }

func (j *job) String() string { return fmt.Sprintf("%s (%s)", j.name, j.kind) }
