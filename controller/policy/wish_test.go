// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// wanted gives a view a PodGroup of the user's own.
func wanted(minMember int32, queue, priority string) change {
	return func(v *view.View) {
		v.Wanted = &vcscheduling.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "own-uid"},
			Spec:       vcscheduling.PodGroupSpec{MinMember: minMember, Queue: queue, PriorityClassName: priority},
		}
	}
}

func TestUsersPodGroupIsAWish(t *testing.T) {
	t.Parallel()
	events := func(plan Plan) []Event {
		create, ok := plan.Actions[0].(CreateVolcanoJob)
		require.True(t, ok)
		return create.Events
	}
	plan := Decide(submitted(wanted(2, "default", "high")), config)
	job := volcanoJobOf(t, plan)
	require.EqualValues(t, 2, job.Spec.MinAvailable)
	require.Equal(t, "high", job.Spec.PriorityClassName)
	require.Equal(t, "own-uid", job.Annotations[keys.OwnPodGroup])
	require.Len(t, events(plan), 2)
	require.Equal(t, ReasonPodGroupNotNeeded, events(plan)[1].Reason)

	plan = Decide(submitted(), config)
	require.NotContains(t, volcanoJobOf(t, plan).Annotations, keys.OwnPodGroup)
	require.Len(t, events(plan), 1)
}

// inQueue is a Volcano Job that was created while the namespace named a queue.
func inQueue(name string) change {
	return func(v *view.View) { v.VolcanoJob.Spec.Queue, v.PodGroup.Spec.Queue = name, name }
}

func TestUsersPodGroupThatComesSecond(t *testing.T) {
	t.Parallel()
	placed := []change{with("ps", view.Starting), with("worker", view.Starting, view.Starting)}
	noted := func(v *view.View) {
		v.VolcanoJob.Annotations[keys.OwnPodGroup] = "own-uid"
		v.PodGroup.Annotations[keys.OwnPodGroup] = "own-uid"
	}
	note := func(reason string) gist { return gist{does: []string{"note PodGroup own-uid: " + reason}} }
	replaced := gist{does: []string{"delete Volcano Job job"}, waiting: ReasonReplacing}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"asks for what is":         {phase: vcbatch.Pending, with: []change{wanted(3, "default", "")}, want: note(ReasonPodGroupNotNeeded)},
		"asks for nothing":         {phase: vcbatch.Pending, with: []change{wanted(0, "", "")}, want: note(ReasonPodGroupNotNeeded)},
		"a smaller gang":           {phase: vcbatch.Pending, with: []change{wanted(2, "default", "")}, want: replaced},
		"in the namespace's queue": {phase: vcbatch.Pending, with: []change{wanted(3, "default", ""), inQueue("team")}, want: note(ReasonPodGroupNotNeeded)},
		"another queue":            {phase: vcbatch.Pending, with: []change{wanted(3, "other", "")}, want: replaced},
		"a priority":               {phase: vcbatch.Pending, with: []change{wanted(3, "default", "high")}, want: replaced},
		"more than all":            {phase: vcbatch.Pending, with: []change{wanted(9, "default", "")}, want: note(ReasonPodGroupNotApplied)},
		"too late":                 {phase: vcbatch.Running, with: append(running, environmentOf, wanted(2, "default", "")), want: note(ReasonPodGroupNotApplied)},
		"late, the same":           {phase: vcbatch.Running, with: append(running, environmentOf, wanted(3, "default", "")), want: note(ReasonPodGroupNotNeeded)},
		"noted":                    {phase: vcbatch.Pending, with: append(placed, noted, environmentOf, wanted(2, "other", "high"))},
		"the job is ending":        {phase: vcbatch.Completing, with: []change{noPodGroup, wanted(2, "default", "")}},
		"the spec says otherwise": {phase: vcbatch.Running, with: append(running, environmentOf, wanted(2, "default", ""),
			editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 3 })), want: gist{unapplied: ReasonSpecChangeNotApplied}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := gistOf(Decide(created(t, tc.phase, tc.with...), config))
			got.missing = nil // addresses are another matter
			require.Equal(t, tc.want, got)
		})
	}
}
