// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

func TestWritesOfAreAddedUpByVerbAndResource(t *testing.T) {
	metrics, err := live.ParseMetrics(strings.NewReader(`# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 7
apiserver_request_total{code="409",component="apiserver",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 2
apiserver_request_total{code="201",component="apiserver",resource="pods",scope="resource",subresource="",verb="POST",version="v1"} 5
apiserver_request_total{code="200",component="apiserver",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"} 3
apiserver_request_terminations_total{code="504",resource="pods",subresource="",verb="POST"} 1
`))
	require.NoError(t, err)
	require.Equal(t, map[string]int{"PATCH pods/status": 9, "POST pods": 5}, writesOf(metrics))
}

func TestLessIsWhatCameSince(t *testing.T) {
	before := map[string]int{"POST pods": 5, "PUT leases": 3}
	require.Equal(t, map[string]int{"POST pods": 2, "POST events": 1}, less(map[string]int{"POST pods": 7, "PUT leases": 3, "POST events": 1}, before))
}
