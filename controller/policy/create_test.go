// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with []change
		want gist
	}{
		"a new job": {want: gist{does: []string{"create Volcano Job job"}}},
		"names before pods": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service })},
			want: gist{does: []string{"create environment", "create Volcano Job job"}},
		},
		"names that an earlier sync wrote": {
			with: []change{
				editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service }),
				func(v *view.View) {
					v.Environment = render.ConfigMap(v.Job, render.ServiceAddresses(v.Job), "", config)
				},
			},
			want: gist{does: []string{"create Volcano Job job"}},
		},
		"paddle-operator's finalizer": {
			with: []change{func(v *view.View) { v.Job.Finalizers = []string{"other", keys.OperatorFinalizer} }},
			want: gist{does: []string{"release finalizer", "create Volcano Job job"}},
		},
		"somebody's finalizer": {
			with: []change{func(v *view.View) { v.Job.Finalizers = []string{"other"} }},
			want: gist{does: []string{"create Volcano Job job"}},
		},
		"being deleted": {
			with: []change{func(v *view.View) {
				v.Job.DeletionTimestamp, v.Job.Finalizers = &metav1.Time{}, []string{keys.OperatorFinalizer}
			}},
			want: gist{does: []string{"release finalizer"}},
		},
		"a spec that cannot run": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 0 })},
			want: gist{stalled: render.ReasonInvalidReplicas},
		},
		"an unknown queue": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "q"} })},
			want: gist{stalled: ReasonQueueNotFound},
		},
		"a queue that has not opened yet": {
			with: []change{func(v *view.View) {
				v.Queue = func(string) *vcscheduling.Queue { return &vcscheduling.Queue{} }
			}},
			want: gist{stalled: ReasonQueueNotOpen},
		},
		"a known priority class": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: "high"} })},
			want: gist{does: []string{"create Volcano Job job"}},
		},
		"an unknown priority class of the job": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: "low"} })},
			want: gist{stalled: ReasonPriorityClassNotFound},
		},
		"an unknown priority class of a template": {
			with: []change{editSpec(func(s *v1.PaddleJobSpec) { s.PS.Template.Spec.PriorityClassName = "low" })},
			want: gist{stalled: ReasonPriorityClassNotFound},
		},
		"somebody else's ConfigMap": {
			with: []change{func(v *view.View) { v.Occupied = []view.Occupant{{Kind: "ConfigMap", Name: "job"}} }},
			want: gist{stalled: ReasonNameTaken, lookAgain: unwatched},
		},
		"an earlier job's ConfigMap": {
			with: []change{func(v *view.View) { v.Occupied = []view.Occupant{{Kind: "ConfigMap", Name: "job", Leaving: true}} }},
			want: gist{waiting: ReasonPredecessor, lookAgain: unwatched},
		},
		"both": {
			with: []change{func(v *view.View) {
				v.Occupied = []view.Occupant{{Kind: "ConfigMap", Name: "job", Leaving: true}, {Kind: "Service", Name: "job"}}
			}},
			want: gist{stalled: ReasonNameTaken, lookAgain: unwatched},
		},
		"an earlier job's pods": {
			with: []change{func(v *view.View) { v.Predecessors = []*corev1.Pod{podOf("ps", 0, view.Leaving, nil)} }},
			want: gist{waiting: ReasonPredecessor},
		},
		"Volcano still forgets": {
			with: []change{func(v *view.View) { v.Forgetting = 3 * time.Second }},
			want: gist{waiting: ReasonPredecessor, lookAgain: 3 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(submitted(tc.with...), config)))
		})
	}
}

func TestCreatedVolcanoJob(t *testing.T) {
	t.Parallel()
	job := volcanoJobOf(t, Decide(submitted(), config))
	require.Equal(t, []string{metav1.FinalizerDeleteDependents}, job.Finalizers, "pods go before their Job")
	require.Equal(t, "PodIP", job.Annotations[keys.Intranet])
	require.NotContains(t, job.Annotations, keys.EarlierRestarts)

	job = volcanoJobOf(t, Decide(submitted(func(v *view.View) { v.Job.Status.Restarts = 2 }), config))
	require.Equal(t, "2", job.Annotations[keys.EarlierRestarts])
}
