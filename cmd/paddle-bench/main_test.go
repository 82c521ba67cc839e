// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExitCodes(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"help", []string{"--help"}, 0},
		{"no subcommand", nil, 2},
		{"unknown subcommand", []string{"scheduling"}, 2},
		{"unknown flag", []string{"placement", "--fast"}, 2},
		{"unknown part", []string{"placement", "--only", "optimum"}, 2},
		{"a slice", []string{"placement", "--only", "optimality,baselines", "--instances", "5", "--clusters", "2", "--out", folder}, 0},
		{"a stray argument", []string{"session", "fast"}, 2},
		{"help on sessions", []string{"session", "--help"}, 0},
		{"unknown flag of sessions", []string{"session", "--tenfold"}, 2},
		{"unknown part of sessions", []string{"session", "--only", "baselines"}, 2},
		{"a slice of sessions", []string{"session", "--only", "churn", "--sessions", "50", "--before", "20", "--out", folder}, 0},
		{"a folder that is a file", []string{"placement", "--only", "optimality", "--instances", "1", "--out", "main.go"}, 1},
		{"help on traces", []string{"trace", "--help"}, 0},
		{"an unknown scheduler", []string{"trace", "--schedulers", "none"}, 1},
		{"a slice of a trace", []string{"trace", "--workers", "0", "--hosts", "16", "--jobs", "20", "--cap", "5m", "--loads", "0.5", "--seeds", "1", "--schedulers", "stock,paddle-bytes", "--out", folder}, 0},
		{"help on the gate", []string{"gate", "--help"}, 0},
		{"unknown part of the gate", []string{"gate", "--only", "trace"}, 2},
		{"keep a part", []string{"gate", "--only", "placement", "--keep", "5"}, 1},
		{"help on live", []string{"live", "--help"}, 0},
		{"an unknown form", []string{"live", "--quick", "--forms", "job"}, 1},
		{"help on peers", []string{"peers", "--help"}, 0},
		{"an unknown peer", []string{"peers", "--peers", "none"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, run(c.args)) })
	}
	require.FileExists(t, filepath.Join(folder, "placement.json"))
	require.FileExists(t, filepath.Join(folder, "session.json"))
	require.FileExists(t, filepath.Join(folder, "trace.json"))
}
