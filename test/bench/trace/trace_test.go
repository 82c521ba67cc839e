// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// variable lets this test's program play one case instead of the tests, as Settings.Command does.
const variable = "TRACE_TEST_PLAYS_ONE"

func TestMain(m *testing.M) {
	if os.Getenv(variable) == "" {
		os.Exit(m.Run())
	}
	if err := One(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// slice is a benchmark of a few seconds.
func slice(t *testing.T) Settings {
	t.Helper()
	s := Default()
	s.Loads, s.Seeds, s.Schedulers = []float64{judgedLoad}, []uint64{1}, []string{stock, bytesFirst}
	s.Jobs, s.Hosts, s.Cap, s.Samples = 20, 16, 300, 5
	s.Folder = t.TempDir()
	return s
}

// played is what playAll saves last.
func played(t *testing.T, s *Settings, progress io.Writer) (runs []Run, err error) {
	t.Helper()
	_, err = s.playAll(t.Context(), progress, func(saved []Run) error {
		runs = saved
		return nil
	})
	return runs, err
}

func TestProcessesOfTheirOwnPlayTheSame(t *testing.T) {
	s := slice(t)
	here, err := played(t, &s, io.Discard)
	require.NoError(t, err)
	require.Len(t, here, 2)
	t.Setenv(variable, "1")
	s.Command, s.Workers = []string{os.Args[0]}, 2
	var progress bytes.Buffer
	elsewhere, err := played(t, &s, &progress)
	require.NoError(t, err)
	require.Equal(t, here, elsewhere)
	require.Contains(t, progress.String(), "2 of 2")
}

func TestACaseThatFailsEndsTheRun(t *testing.T) {
	s := slice(t)
	s.Hosts = 8
	_, err := played(t, &s, io.Discard)
	require.ErrorContains(t, err, "larger than the cluster")
	t.Setenv(variable, "1")
	s.Command = []string{os.Args[0]}
	_, err = played(t, &s, io.Discard)
	require.ErrorContains(t, err, "larger than the cluster")
	require.ErrorContains(t, err, "load 0.85, seed 1, stock")
}

func TestBenchWritesAndTells(t *testing.T) {
	s := slice(t)
	var out bytes.Buffer
	require.NoError(t, Bench(t.Context(), s, &out, io.Discard))
	require.Contains(t, out.String(), "longest run")
	text, err := os.ReadFile(filepath.Join(s.Folder, "trace.json"))
	require.NoError(t, err)
	var read struct {
		Cluster string
		Runs    []map[string]any
		Bars    []bars.Bar
	}
	require.NoError(t, json.Unmarshal(text, &read))
	require.Contains(t, read.Cluster, "15 hosts")
	require.Equal(t, "trace at 85 %: gang_jct_mean_s, stock by the plugin, lower bound of 1 seeds", read.Bars[0].Name)
	require.Len(t, read.Runs, 2)
	for _, key := range strings.Fields("load scheduler seed jct_mean_s gang_jct_p95_s gang_wait_p99_s gpu_use crossing_bytes") {
		require.Contains(t, read.Runs[0], key)
	}
}

// Whatever is done is written. The second time only the second seed is played, and the report is that of both.
func TestEarlierRunsAreKept(t *testing.T) {
	s := slice(t)
	s.Keep, s.Schedulers = true, []string{stock}
	first := s
	s.Seeds = []uint64{1, 2}
	var progress bytes.Buffer
	require.NoError(t, Bench(t.Context(), first, io.Discard, &progress), "there is nothing to keep yet")
	require.Contains(t, progress.String(), "1 runs, 0 of them are there")
	progress.Reset()
	require.NoError(t, Bench(t.Context(), s, io.Discard, &progress))
	require.Contains(t, progress.String(), "2 runs, 1 of them are there")
	require.NotContains(t, progress.String(), "seed 1")
	require.Contains(t, progress.String(), "seed 2")
	both, err := s.kept()
	require.NoError(t, err)
	require.Len(t, both, 2)
	written := read(t, &s)
	progress.Reset()
	require.NoError(t, Bench(t.Context(), s, io.Discard, &progress))
	require.Equal(t, written, read(t, &s), "nothing to play writes the same again")
	s.Jobs++
	require.ErrorContains(t, Bench(t.Context(), s, io.Discard, io.Discard), "Jobs:20")
}

// read returns the report's file.
func read(t *testing.T, s *Settings) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Folder, file))
	require.NoError(t, err)
	return string(text)
}

func TestARunThatIsStoppedLeavesWhatIsDone(t *testing.T) {
	s := slice(t)
	ctx, stop := context.WithCancel(t.Context())
	_, err := s.playAll(ctx, io.Discard, func(runs []Run) error {
		if len(runs) == 1 {
			stop()
		}
		return result.Write(s.Folder, file, newReport(s, runs))
	})
	require.ErrorIs(t, err, context.Canceled)
	written := read(t, &s)
	require.Contains(t, written, `"unplayed": 1`)
	require.Contains(t, written, "stock")
}

func TestWrongSettings(t *testing.T) {
	for _, spoil := range []func(*Settings){
		func(s *Settings) { s.Seeds = nil },
		func(s *Settings) { s.Schedulers = []string{"kube-scheduler"} },
		func(s *Settings) { s.Gbps[1] = 0 },
		func(s *Settings) { s.Loads = []float64{0} },
	} {
		s := slice(t)
		spoil(&s)
		require.Error(t, Bench(t.Context(), s, io.Discard, io.Discard))
	}
}

func TestOneDoesNotTakeWhatItCannotRead(t *testing.T) {
	require.Error(t, One(strings.NewReader("{"), io.Discard))
}
