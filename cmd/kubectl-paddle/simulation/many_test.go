// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
)

// The plugin diagnoses a few jobs in each session, and the planned one is among them.
func TestReasonOfOneOfManyPendingJobs(t *testing.T) {
	s := cluster6()
	s.SchedulerConfiguration = strings.NewReplacer("  - name: overcommit\n", "", "  - name: proportion\n", "").Replace(s.SchedulerConfiguration)
	for i := range 30 {
		waits(s, ring(fmt.Sprintf("older-%d", i), 3, 4))
	}
	p := answer(t, &plan.Question{Snapshot: s, Job: ring("j", 3, 4)})
	require.False(t, p.Fits)
	require.Contains(t, p.Why[0].Text, "1 of 3 workers does not fit: node ")
}
