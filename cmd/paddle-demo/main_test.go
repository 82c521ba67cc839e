// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExitCode(t *testing.T) {
	occupied := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(occupied, "thesis.txt"), []byte("mine"), 0o600))
	for name, tc := range map[string]struct {
		args []string
		want int
	}{
		"help":                           {args: []string{"--help"}, want: 0},
		"unknown flag":                   {args: []string{"--keeps"}, want: 2},
		"argument":                       {args: []string{"resnet"}, want: 2},
		"folder that is not a sandbox's": {args: []string{"--state", occupied}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, run(tc.args))
		})
	}
	require.FileExists(t, filepath.Join(occupied, "thesis.txt"))
}
