// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	bench "github.com/paddle-volcano/paddle-volcano/test/bench/live"
)

func TestSchedulersThatTakeNoTurnsAreRefused(t *testing.T) {
	s := bench.Default()
	s.Schedulers = []string{bench.Paddle, bench.KubeScheduler}
	require.ErrorContains(t, run(t.Context(), s, "none", "none", "none"), `"kube-scheduler" takes no turns`)
}

func TestUntilReadsTheAuditLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	const created = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":"create","user":{"username":"admin"},` +
		`"objectRef":{"resource":"pods","namespace":"bench","name":"gang-0"},"responseStatus":{"code":201},` +
		`"requestReceivedTimestamp":"2026-01-01T00:00:00.000000Z","stageTimestamp":"2026-01-01T00:00:01.000000Z"}` + "\n"
	require.NoError(t, os.WriteFile(log, []byte(created), 0o600))
	reader, err := audit.Open(log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	p := &player{log: reader, patience: time.Millisecond}
	count := func() int { return p.history.Created }
	require.NoError(t, p.until(t.Context(), "created", 1, count))
	require.EqualError(t, p.until(t.Context(), "created", 2, count),
		"wait for pods to be created: nothing has happened for 1ms; 1 of 2 are")
}
