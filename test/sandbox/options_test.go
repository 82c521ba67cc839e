// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/ports"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
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
		"topology":      {Options{Topology: &topology.Topology{}}, "topology: shapes is empty"},
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

func TestRealOptions(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(archive, nil, 0o600))
	o := Options{Real: &Real{Images: []string{archive}}}
	require.NoError(t, o.complete())
	for _, n := range o.simulatedNodes() {
		require.Equal(t, kwokNodeValue, n.Annotations[kwokNode])
		require.True(t, slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == topology.TaintSimulated }), n.Name)
	}
	own := Options{Topology: topology.Uniform(2), Real: &Real{}}
	require.NoError(t, own.complete())
	require.Empty(t, own.simulatedNodes()[0].Spec.Taints, "a cluster of one's own is left as it is")
	missing := Options{Real: &Real{Images: []string{"/nowhere.tar"}}}
	require.ErrorIs(t, missing.complete(), os.ErrNotExist)

	plain := Options{}
	require.NoError(t, plain.complete())
	require.Empty(t, plain.simulatedNodes()[0].Annotations)
	require.NotContains(t, plain.programs(), programKubelet)
	require.Contains(t, own.programs(), programBarrier)
}

func TestBarrierImage(t *testing.T) {
	t.Parallel()
	require.Empty(t, barrierImage([]string{"--leader-elect=true"}))
	require.Equal(t, "b:2", barrierImage([]string{"--barrier-image=a:1", "--workers=3", "--barrier-image=b:2"}))
	require.Empty(t, barrierImage([]string{"--barrier-image=a:1", "--barrier-image="}))
}

func TestBoxPortsRunOut(t *testing.T) {
	t.Parallel()
	st := &starter{Sandbox: &Sandbox{ports: &ports.Set{}}, options: &Options{Real: &Real{}}}
	t.Cleanup(func() { require.NoError(t, st.ports.Release()) })
	first, err := st.takePorts(boxPorts - 1)
	require.NoError(t, err)
	last, err := st.takePorts(1)
	require.NoError(t, err)
	require.Equal(t, st.real.ports, slices.Concat(first, last), "all lead into the box")
	_, err = st.takePorts(1)
	require.ErrorContains(t, err, "no more than 12 ports")
}

func TestDearLooksAreFew(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0: pollEvery, time.Millisecond: pollEvery, 25 * time.Millisecond: pollEvery, time.Second: 4 * time.Second, time.Minute: pollMost,
	} {
		require.Equal(t, want, pause(took), "%s", took)
	}
}
