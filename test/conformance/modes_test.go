// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
)

// trap is a change of the variables of a gang that trains, and the problem that is reported for it.
type trap struct {
	Gang string
	// All are variables of every pod, Pods those of some, by their index.
	All     map[string]string
	Without []string
	Pods    map[int]map[string]string
	Want    string
}

func TestTrapsOfVariables(t *testing.T) {
	for name, test := range cases.Read[map[string]trap](t, "testdata/traps.yaml") {
		t.Run(name, func(t *testing.T) {
			gang := gangOf(t, test.Gang)
			require.NoError(t, gang.Check(), "before")
			for _, variable := range test.Without {
				gang.unset(variable)
			}
			for variable, value := range test.All {
				gang.set(variable, value)
			}
			for index, variables := range test.Pods {
				maps.Copy(gang.Pods[index].Env, variables)
			}
			require.ErrorContains(t, gang.Check(), test.Want)
		})
	}
}
