// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

func TestGangWords(t *testing.T) {
	job := jobInfo(10, nil, nil)
	for want, g := range map[string]gang{
		"2 servers and 8 workers": {{task: "ps", role: roleServer, min: 2}, {task: "a", role: roleWorker, min: 3}, {task: "b", role: roleWorker, min: 5}},
		"1 server, 1 heter worker, 1 worker and 1 other pod": {
			{task: "ps", role: roleServer, min: 1}, {task: "h", role: roleHeter, min: 1}, {task: "w", role: roleWorker, min: 1}, {task: "o", min: 1},
		},
		"1 worker": {{task: "ps", role: roleServer}, {task: "worker", role: roleWorker, min: 1}},
		"10 pods":  {},
	} {
		require.Equal(t, want, gangWords(job, g))
	}
}
