// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// paddle-operator did nothing for a job whose PodGroup was neither Inqueue nor Running, Unknown among them.
func TestNoPhaseOfThePodGroupStopsAJob(t *testing.T) {
	t.Parallel()
	for _, phase := range []vcscheduling.PodGroupPhase{
		"", vcscheduling.PodGroupPending, vcscheduling.PodGroupInqueue, vcscheduling.PodGroupRunning, vcscheduling.PodGroupUnknown, vcscheduling.PodGroupCompleted,
	} {
		in := func(v *view.View) { v.PodGroup.Status.Phase = phase }
		starts := created(t, vcbatch.Running, with("ps", view.Starting), with("worker", view.Starting, view.Starting), in)
		require.Equal(t, gist{does: []string{"create environment"}}, gistOf(Decide(starts, config)), phase)
		lost := created(t, vcbatch.Restarting, append(running, environmentOf, in)...)
		require.Equal(t, gist{does: []string{"delete ConfigMap job"}}, gistOf(Decide(lost, config)), phase)
	}
}
