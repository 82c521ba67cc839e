// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// The API server is killed and started again twice in one life; other lives go on meanwhile. Not parallel: nothing else may
// need it.
func TestAPIServerIsRestarted(t *testing.T) { //nolint:tparallel // its lives are parallel among themselves only
	for _, l := range lives {
		l.undisturbed(t)
	}
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
						restartAPIServer(t)
					}
				}
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
