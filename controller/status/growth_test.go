// SPDX-License-Identifier: Apache-2.0

package status

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// What etcd and every watch have to carry must not depend on how many pods the job has.
func TestStatusDoesNotGrowWithTheGang(t *testing.T) {
	t.Parallel()
	gang := func(workers int, state view.State, volcano vcbatch.JobPhase) *v1.PaddleJobStatus {
		v := seen(volcano, pods(state, slices.Repeat([]view.State{state}, workers)...), func(v *view.View) {
			v.Job.Spec.Worker.Replicas = workers
			v.VolcanoJob.Spec.Tasks[1].Replicas = int32(workers)
			v.VolcanoJob.Spec.Tasks[1].MinAvailable = ptr.To(int32(workers))
		})
		plan := &policy.Plan{}
		for _, pod := range v.Pods {
			plan.Missing = append(plan.Missing, pod.Name)
		}
		return Next(v, plan, now)
	}
	for state, phase := range map[view.State]vcbatch.JobPhase{
		view.Unplaced: vcbatch.Pending, view.Starting: vcbatch.Running, view.Running: vcbatch.Running,
		view.Failed: vcbatch.Failed, view.Succeeded: vcbatch.Completed,
	} {
		size := func(workers int) int {
			text, err := json.Marshal(gang(workers, state, phase))
			require.NoError(t, err)
			return len(text)
		}
		require.Less(t, size(2000), size(20)+64, "%v: the digits of some numbers", state)
		status := gang(2000, state, phase)
		require.Len(t, status.Worker.Refs, 10)
		require.Equal(t, "job-worker-0", status.Worker.Refs[0].Name)
		require.Equal(t, "job-worker-9", status.Worker.Refs[9].Name)
		require.Len(t, status.PS.Refs, 1)
	}
}
