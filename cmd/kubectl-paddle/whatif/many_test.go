// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// However many jobs wait, the one that is asked about is told why, at once: the plugin explains a few jobs in each session.
func TestAJobAmongManyThatWaitIsToldWhy(t *testing.T) {
	s := cluster6()
	s.SchedulerConfiguration = strings.NewReplacer("  - name: overcommit\n", "", "  - name: proportion\n", "").Replace(s.SchedulerConfiguration)
	for i := range 30 {
		waits(s, ring(fmt.Sprintf("older-%d", i), 3, 4))
	}
	p := answer(t, &Question{Snapshot: s, Job: ring("j", 3, 4)})
	require.False(t, p.Fits)
	require.Contains(t, p.Why[0].Text, "1 of 3 workers has no room: the cluster has 4 GPUs left, but no node has")
}
