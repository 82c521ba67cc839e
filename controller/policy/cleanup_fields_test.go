// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// paddle-operator deleted one pod per reconcile.
func TestPodsAreCleanedAtOnce(t *testing.T) {
	t.Parallel()
	for phase, ended := range map[v1.Phase]vcbatch.JobPhase{v1.Completed: vcbatch.Completed, v1.Failed: vcbatch.Failed} {
		v := created(t, ended, noPodGroup, with("worker", view.Succeeded, view.Failed, view.Succeeded),
			statusOf(func(s *v1.PaddleJobStatus) { s.Phase = phase }), editSpec(func(s *v1.PaddleJobSpec) { s.CleanPodPolicy = v1.CleanAlways }))
		require.Equal(t, []string{"delete pod job-worker-0", "delete pod job-worker-1", "delete pod job-worker-2"}, done(Decide(v, config)), phase)
	}
}
