// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// An elastic job of 2 to 8 workers runs under a Volcano Job of 6, of which some are there.
func TestWorkersThatAreRefused(t *testing.T) {
	t.Parallel()
	running := func(n int) change {
		states := make([]observed.PodState, n)
		for i := range states {
			states[i] = observed.Running
		}
		return with(builder.RoleWorker, states...)
	}
	short := func(refused string) change {
		return func(obs *observed.State) {
			obs.WorkersMissingSince, obs.PodCreateError = obs.Now.Add(-time.Minute), refused
		}
	}
	workerCap := func(workers int32) change {
		return func(obs *observed.State) {
			obs.WorkerCap = &observed.WorkerCap{Workers: workers, PodCreateError: "no", Until: obs.Now.Add(3 * time.Minute)}
		}
	}
	for name, tc := range map[string]struct {
		with []change
		// workers is what the Volcano Job is scaled to, 0 if it is left; held what it is kept at from then on.
		workers, workerCap int32
		says               string
		requeueAfter       time.Duration
	}{
		"all are there":                    {with: []change{wantsWorkers(6), running(6)}},
		"late, reason not known":           {with: []change{wantsWorkers(6), running(4), short("")}, requeueAfter: pollInterval},
		"refused":                          {with: []change{wantsWorkers(6), running(4), short("no")}, workers: 4, workerCap: 4, says: "is 6, and the API server lets the job have 4 workers", requeueAfter: pollInterval},
		"refused below the least":          {with: []change{wantsWorkers(6), running(1), short("no")}, requeueAfter: pollInterval},
		"the user wants no more by now":    {with: []change{wantsWorkers(3), running(4), short("no")}, workers: 3, requeueAfter: pollInterval},
		"kept below what it was":           {with: []change{wantsWorkers(6), running(4), workerCap(4)}, workers: 4, says: "4 workers", requeueAfter: 3 * time.Minute},
		"kept, and the user wants more":    {with: []change{wantsWorkers(8), running(6), workerCap(6)}, says: "is 8, and the API server lets the job have 6 workers", requeueAfter: 3 * time.Minute},
		"kept, and the user wants fewer":   {with: []change{wantsWorkers(2), running(6), workerCap(6)}, workers: 2},
		"kept, and one more is lost":       {with: []change{wantsWorkers(8), running(5), workerCap(6), short("")}, says: "6 workers", requeueAfter: pollInterval},
		"kept, and one more is refused":    {with: []change{wantsWorkers(8), running(5), workerCap(6), short("no")}, workers: 5, workerCap: 5, says: "5 workers", requeueAfter: pollInterval},
		"not kept any more":                {with: []change{wantsWorkers(8), running(6)}, workers: 8},
		"training has succeeded meanwhile": {with: []change{wantsWorkers(6), with(builder.RoleWorker, observed.Succeeded, observed.Succeeded), short("no")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := submitted(wantsWorkers(6))
			obs.VolcanoJob = volcanoJobOf(t, Decide(obs, config)).DeepCopy()
			obs.VolcanoJob.UID, obs.VolcanoJob.Status.State.Phase = "vc-uid", vcbatch.Running
			for _, c := range tc.with {
				c(obs)
			}
			plan := Plan{}
			plan.scale(obs, config)
			var workers, kept int32
			for _, a := range plan.Actions {
				s, ok := a.(ScaleVolcanoJob)
				require.True(t, ok, "%T", a)
				workers = s.Job.Spec.Tasks[0].Replicas
				require.EqualValues(t, 2, s.Job.Spec.MinAvailable)
				if s.WorkerCap != nil {
					kept = s.WorkerCap.Workers
					require.Equal(t, observed.WorkerCap{Workers: kept, PodCreateError: "no", Until: obs.Now.Add(workerCapPeriod)}, *s.WorkerCap)
				}
			}
			require.Equal(t, []int32{tc.workers, tc.workerCap}, []int32{workers, kept})
			require.Equal(t, tc.requeueAfter, plan.RequeueAfter)
			if tc.says == "" {
				require.Nil(t, plan.SpecNotSynced)
				return
			}
			require.Equal(t, ReasonPodsRefused, plan.SpecNotSynced.Reason)
			require.Contains(t, plan.SpecNotSynced.Message, tc.says)
			require.Contains(t, plan.SpecNotSynced.Message, ": no")
		})
	}
}

// Programs that are stopped exit with a code of failure, which is none of the job's.
func TestElasticWorkersThatAreDeletedHaveNotFailed(t *testing.T) {
	t.Parallel()
	states := func(obs *observed.State) {
		with(builder.RoleWorker, observed.Running, observed.Terminating, observed.Running, observed.Starting)(obs)
		delete(obs.Pods[1].Annotations, v1.OutOfSyncAnnotation)
	}
	reported := func(obs *observed.State) {
		obs.Pods[1].Annotations[v1.OutOfSyncAnnotation] = "true"
	}
	annotated := func(obs *observed.State) (lines []string) {
		for _, line := range done(Decide(obs, config)) {
			if strings.HasPrefix(line, "annotate ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	require.Equal(t, []string{"annotate job-worker-1: " + v1.OutOfSyncAnnotation}, annotated(createdFrom(t, config, elastic, states)))
	require.Empty(t, annotated(createdFrom(t, config, elastic, states, reported)), "once")
	require.Empty(t, annotated(createdFrom(t, config, asSubmitted, states)), "where the others cannot go on it is a failure")
}
