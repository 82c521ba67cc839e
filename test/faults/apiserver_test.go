// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// The API server is killed and started again twice in one life; other lives go on meanwhile, but that none of their gangs is
// just being restarted: where Volcano deletes the pods of a failed gang and cannot write that down any more, it makes new
// ones and never counts the restart. Not parallel: nothing else may need the API server.
func TestAPIServerIsRestarted(t *testing.T) { //nolint:tparallel // its lives are parallel among themselves only
	for _, l := range lives {
		l.undisturbed(t)
	}
	var calm sync.RWMutex
	for i, l := range lives {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			space := cluster.Namespace(t)
			startController(t, space, space)
			d := &driver{t: t, namespace: space}
			if i == 0 {
				steps := 0
				d.step = func() {
					if steps++; steps == 2 || steps == 4 {
						calm.Lock()
						defer calm.Unlock()
						restartAPIServer(t)
					}
				}
			} else {
				d.calm = calm.RLocker()
			}
			l.liveLike(d, l.undisturbed(t))
		})
	}
}

func restartAPIServer(t *testing.T) {
	t.Helper()
	require.NoError(t, cluster.Kill(sandbox.APIServer, syscall.SIGKILL))
	require.NoError(t, cluster.StartComponent(sandbox.APIServer))
	cluster.Await(t, "the API server to answer", func(ctx context.Context) error {
		return cluster.Kube.Discovery().RESTClient().Verb(http.MethodGet).AbsPath("/readyz").Do(ctx).Error()
	})
}
