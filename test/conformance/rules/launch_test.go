// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
)

func TestLaunch(t *testing.T) {
	for name, test := range cases.Read[map[string]struct {
		Base, Env map[string]string
		Release   Release
		Words     []string
		Want      Launcher
		Error     string
	}](t, "testdata/launch.yaml") {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{}
			maps.Copy(env, test.Base)
			maps.Copy(env, test.Env)
			launcher, err := Launch(env, "10.0.0.1", cmp.Or(test.Release, Newest), test.Words...)
			if test.Error != "" {
				require.ErrorContains(t, err, test.Error)
				return
			}
			require.NoError(t, err)
			test.Want.Host, test.Want.Nodes = cmp.Or(test.Want.Host, "10.0.0.1"), cmp.Or(test.Want.Nodes, 1)
			require.Equal(t, test.Want, launcher)
		})
	}
}
