// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCompleteOptions(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	o := Options{}
	require.NoError(t, o.complete())
	require.Equal(t, root, o.root)
	require.Equal(t, filepath.Join(here, DefaultStateDir), o.StateDir)
	require.Len(t, o.Topology.Nodes(), 16)
}

func TestBadOptions(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"topology":      {Options{Topology: &Topology{}}, "topology: shapes is empty"},
		"negative time": {Options{WorkerRunFor: -time.Second}, "worker run time is -1s"},
		"component":     {Options{Args: map[string][]string{"kube-proxy": nil}}, `arguments are given for "kube-proxy"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, test.options.complete(), test.want)
		})
	}
}

func TestOutsideAClone(t *testing.T) {
	t.Chdir(t.TempDir())
	require.ErrorContains(t, (&Options{}).complete(), "this is no clone of paddle-volcano")
}
