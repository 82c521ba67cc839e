// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// An elastic job of 2 to 8 workers runs under a Volcano Job of 6, of which some are there.
func TestWorkersThatAreRefused(t *testing.T) {
	t.Parallel()
	running := func(n int) change {
		states := make([]view.State, n)
		for i := range states {
			states[i] = view.Running
		}
		return with(render.RoleWorker, states...)
	}
	short := func(refused string) change {
		return func(v *view.View) { v.ShortSince, v.Refused = v.Now.Add(-time.Minute), refused }
	}
	held := func(workers int32) change {
		return func(v *view.View) { v.Held = &view.Held{Workers: workers, Refused: "no", Left: 3 * time.Minute} }
	}
	for name, tc := range map[string]struct {
		with []change
		// workers is what the Volcano Job is scaled to, 0 if it is left; held what it is kept at from then on.
		workers, held int32
		says          string
		lookAgain     time.Duration
	}{
		"all are there":                    {with: []change{wantsWorkers(6), running(6)}},
		"late, and nobody knows why":       {with: []change{wantsWorkers(6), running(4), short("")}, lookAgain: unwatched},
		"refused":                          {with: []change{wantsWorkers(6), running(4), short("no")}, workers: 4, held: 4, says: "is 6, and the API server lets the job have 4 workers", lookAgain: unwatched},
		"refused below the least":          {with: []change{wantsWorkers(6), running(1), short("no")}, lookAgain: unwatched},
		"the user wants no more by now":    {with: []change{wantsWorkers(3), running(4), short("no")}, workers: 3, lookAgain: unwatched},
		"kept below what it was":           {with: []change{wantsWorkers(6), running(4), held(4)}, workers: 4, says: "4 workers", lookAgain: 3 * time.Minute},
		"kept, and the user wants more":    {with: []change{wantsWorkers(8), running(6), held(6)}, says: "is 8, and the API server lets the job have 6 workers", lookAgain: 3 * time.Minute},
		"kept, and the user wants fewer":   {with: []change{wantsWorkers(2), running(6), held(6)}, workers: 2},
		"kept, and one more is lost":       {with: []change{wantsWorkers(8), running(5), held(6), short("")}, says: "6 workers", lookAgain: unwatched},
		"kept, and one more is refused":    {with: []change{wantsWorkers(8), running(5), held(6), short("no")}, workers: 5, held: 5, says: "5 workers", lookAgain: unwatched},
		"not kept any more":                {with: []change{wantsWorkers(8), running(6)}, workers: 8},
		"training has succeeded meanwhile": {with: []change{wantsWorkers(6), with(render.RoleWorker, view.Succeeded, view.Succeeded), short("no")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := submitted(wantsWorkers(6))
			v.VolcanoJob = volcanoJobOf(t, Decide(v, config)).DeepCopy()
			v.VolcanoJob.UID, v.VolcanoJob.Status.State.Phase = "vc-uid", vcbatch.Running
			for _, c := range tc.with {
				c(v)
			}
			plan := Plan{}
			plan.scale(v, config)
			var workers, kept int32
			for _, a := range plan.Actions {
				s, ok := a.(ScaleVolcanoJob)
				require.True(t, ok, "%T", a)
				workers = s.Job.Spec.Tasks[0].Replicas
				require.EqualValues(t, 2, s.Job.Spec.MinAvailable)
				if s.Held != nil {
					kept = s.Held.Workers
					require.Equal(t, view.Held{Workers: kept, Refused: "no", Left: heldFor}, *s.Held)
				}
			}
			require.Equal(t, []int32{tc.workers, tc.held}, []int32{workers, kept})
			require.Equal(t, tc.lookAgain, plan.LookAgain)
			if tc.says == "" {
				require.Nil(t, plan.Unapplied)
				return
			}
			require.Equal(t, ReasonPodsRefused, plan.Unapplied.Reason)
			require.Contains(t, plan.Unapplied.Message, tc.says)
			require.Contains(t, plan.Unapplied.Message, ": no")
		})
	}
}
