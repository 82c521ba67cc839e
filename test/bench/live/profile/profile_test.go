// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const traces = `File: paddle-scheduler
Type: cpu
Duration: 10s, Total samples = 4.00s (40%)
-----------+-------------------------------------------------------
        2s   runtime.mallocgc
             runtime.newobject
             github.com/paddle-volcano/paddle-volcano/plugins/paddle.(*course).plan
             volcano.sh/volcano/pkg/scheduler/actions/allocate.(*Action).Execute
-----------+-------------------------------------------------------
     500ms   encoding/json.Marshal (inline)
             volcano.sh/volcano/pkg/scheduler/cache.(*DefaultBinder).Bind
-----------+-------------------------------------------------------
     500ms   k8s.io/klog/v2.Infof
             volcano.sh/volcano/pkg/scheduler/cache.(*SchedulerCache).AddPod
             k8s.io/client-go/tools/cache.(*processorListener).run
-----------+-------------------------------------------------------
        1s   runtime.scanobject
             runtime.gcBgMarkWorker
-----------+-------------------------------------------------------
`

func TestSharesGoToTheInnermostOwner(t *testing.T) {
	t.Parallel()
	list, err := shares(traces)
	require.NoError(t, err)
	require.Equal(t, []Share{
		{"plugins/paddle", 2, 50}, {"garbage collection", 1, 25}, {"volcano binding", 0.5, 12.5}, {"volcano cache", 0.5, 12.5},
	}, list)
	_, err = shares("--------\nsoon main.main\n")
	require.Error(t, err)
}

func TestFollowUntilTold(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/profile", func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
			w.WriteHeader(http.StatusServiceUnavailable) // not yet
		default:
			r.URL.RawQuery = "seconds=1"
			pprof.Profile(w, r)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	stop := make(chan struct{})
	close(stop)
	prefix := filepath.Join(t.TempDir(), "profiles", "one")
	files, err := Follow(t.Context(), strings.TrimPrefix(server.URL, "http://"), prefix, stop)
	require.NoError(t, err)
	if len(files) == 0 { // told to stop while it was refused
		return
	}
	require.Equal(t, []string{prefix + "-00.pprof"}, files)
	_, err = Shares(t.Context(), files)
	require.NoError(t, err)
}
