// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*Settings){
		`kubernetes is "1.35": want 1.34 or 1.37`:                               func(s *Settings) { s.Kubernetes = "1.35" },
		`unknown peer "kai": want some of paddle, volcano, kube-scheduler-1.37`: func(s *Settings) { s.Kubernetes, s.Schedulers = "1.37", []string{"kai"} },
		"rounds and nodes must each be 1 or more":                               func(s *Settings) { s.Rounds = 0 },
		"cases at least one":                                                    func(s *Settings) { s.Cases = nil },
		`gangs "20": want a number of gangs`:                                    func(s *Settings) { s.Cases = []string{"20"} },
		`gangs "187x20": the racks of 500 nodes hold 186 gangs of 20`:           func(s *Settings) { s.Cases = []string{"187x20"} },
		`gangs "1x129": the racks of 500 nodes hold 0 gangs of 129`:             func(s *Settings) { s.Cases = []string{"1x129"} },
		`they leave 124 GPUs of 32 nodes, and a gang that no rack holds needs`:  func(s *Settings) { s.Nodes, s.Cases = 32, []string{"131x1"} },
	} {
		s := Default()
		_, err := s.complete()
		require.NoError(t, err)
		spoil(&s)
		_, err = s.complete()
		require.ErrorContains(t, err, want)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	s := Default()
	flags := pflag.NewFlagSet("peers", pflag.ContinueOnError)
	s.Flags(flags)
	require.NoError(t, flags.Parse([]string{"--kubernetes=1.37", "--cases=3x4,2x2", "--nodes=64", "--rounds=1"}))
	cases, err := s.complete()
	require.NoError(t, err)
	require.Equal(t, []Case{{64, 3, 4}, {64, 2, 2}}, cases)
	require.Equal(t, "64 nodes, 3x4", cases[0].String())
	require.Equal(t, []string{paddle, stock, kubeScheduler137}, s.Schedulers)
	require.Equal(t, "peers-1.37.json", s.File())
}

func TestRotated(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c"}
	require.Equal(t, names, rotated(names, 0))
	require.Equal(t, []string{"b", "c", "a"}, rotated(names, 1))
	require.Equal(t, names, rotated(names, 3))
}
