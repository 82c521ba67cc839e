// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestMinimum(t *testing.T) {
	job := &api.JobInfo{MinAvailable: 10}
	for want, roles := range map[string][]Role{
		"2 servers and 8 workers":                            {{"ps", "server", 2}, {"a", "worker", 3}, {"b", "worker", 5}},
		"1 server, 1 heter worker, 1 worker and 1 other pod": {{"ps", "server", 1}, {"h", "heter worker", 1}, {"w", "worker", 1}, {"o", "other pod", 1}},
		"1 worker": {{"ps", "server", 0}, {"worker", "worker", 1}},
		"10 pods":  {},
	} {
		g := Gang{Job: job, Roles: roles}
		require.Equal(t, want, g.Minimum())
	}
}
