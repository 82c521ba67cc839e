// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The lease is released after the last write of both.
func TestBothEndBeforeTheLease(t *testing.T) {
	t.Parallel()
	var ended atomic.Int32
	slow := make(chan struct{})
	run := runBoth(
		func(ctx context.Context) { <-ctx.Done(); ended.Add(1); close(slow) },
		func(ctx context.Context) { <-ctx.Done(); <-slow; ended.Add(1) },
	)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run(ctx)
	require.EqualValues(t, 2, ended.Load())
}

func TestKubeflowIsOffByDefault(t *testing.T) {
	require.False(t, NewOptions().Kubeflow)
	var out bytes.Buffer
	help := NewCommand()
	help.SetOut(&out)
	help.SetArgs([]string{"--help"})
	require.NoError(t, help.Execute())
	require.Contains(t, out.String(), "--kubeflow")
}
