// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The plugin diagnoses a few jobs in each session, and the planned one is among them.
func TestReasonOfOneOfManyPendingJobs(t *testing.T) {
	s := cluster6()
	s.SchedulerConfiguration = strings.NewReplacer("  - name: overcommit\n", "", "  - name: proportion\n", "").Replace(s.SchedulerConfiguration)
	for i := range 30 {
		waits(s, ring(fmt.Sprintf("older-%d", i), 3, 4))
	}
	p := answer(t, &Question{Snapshot: s, Job: ring("j", 3, 4)})
	require.False(t, p.Fits)
	require.Contains(t, p.Why[0].Text, "1 of 3 workers does not fit: node ")
}
