// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// finalStatus gives a job the annotation that it would have after its end.
func finalStatus(phase string) change {
	return func(v *view.View) {
		v.Job.Annotations = map[string]string{keys.FinalStatus: phase + " " + render.SpecHash(v.Job)}
	}
}

func phase(is v1.Phase) change { return func(v *view.View) { v.Job.Status.Phase = is } }

func TestFinalStatusIsNoted(t *testing.T) {
	t.Parallel()
	zero := int32(0)
	for name, tc := range map[string]struct {
		with []change
		want string
	}{
		"completed":     {with: []change{phase(v1.Completed)}, want: "Completed"},
		"failed":        {with: []change{phase(v1.Failed)}, want: "Failed"},
		"noted":         {with: []change{phase(v1.Failed), finalStatus("Failed")}},
		"of another":    {with: []change{phase(v1.Failed), finalStatus("Completed")}, want: "Failed"},
		"running":       {with: []change{phase(v1.Running)}},
		"being deleted": {with: []change{phase(v1.Completed), func(v *view.View) { v.Job.DeletionTimestamp = &metav1.Time{} }}},
		"the spec was changed after the end": {with: []change{phase(v1.Completed), finalStatus("Completed"),
			editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 9 })}, want: "Completed"},
		"Kubeflow's": {with: []change{phase(v1.Completed), func(v *view.View) {
			v.Job.OwnerReferences = []metav1.OwnerReference{{UID: "theirs", Controller: new(bool)}}
			*v.Job.OwnerReferences[0].Controller = true
		}}},
		"its time is over": {with: []change{phase(v1.Completed), func(v *view.View) {
			v.Job.Spec.RunPolicy = &v1.RunPolicy{TTLSecondsAfterFinished: &zero}
			v.Job.Status.CompletionTime = &metav1.Time{Time: v.Now}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := submitted(tc.with...)
			got := ""
			for _, action := range Decide(v, config).Actions {
				if note, ok := action.(NoteFinalStatus); ok {
					got = note.Value
				}
			}
			if tc.want != "" {
				tc.want += " " + render.SpecHash(v.Job)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestFinishedJobThatIsRestoredDoesNotRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with []change
		want v1.Phase
	}{
		"completed": {with: []change{finalStatus("Completed")}, want: v1.Completed},
		"failed":    {with: []change{finalStatus("Failed")}, want: v1.Failed},
		"failed and suspended": {with: []change{editSpec(func(s *v1.PaddleJobSpec) {
			suspend := true
			s.RunPolicy = &v1.RunPolicy{Suspend: &suspend}
		}), finalStatus("Failed")}, want: v1.Failed},
		"no end":                {with: []change{finalStatus("Running")}},
		"nothing":               {with: []change{finalStatus("")}},
		"a copy that is edited": {with: []change{finalStatus("Completed"), editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 9 })}},
		"a status is there":     {with: []change{finalStatus("Completed"), phase(v1.Running)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := submitted(tc.with...)
			plan := Decide(v, config)
			require.Equal(t, tc.want, plan.RestoredPhase)
			if tc.want == "" {
				require.Contains(t, done(plan), "create Volcano Job job")
				return
			}
			require.Empty(t, plan.Actions)
			require.Contains(t, plan.RestoredMessage, keys.FinalStatus)
		})
	}
}
