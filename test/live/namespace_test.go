// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamespaceName(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]string{
		"TestJobs":                      "testjobs",
		"TestJobs/of two, and_three#01": "testjobs-of-two-and-three-01",
		"TestJobs/the last)":            "testjobs-the-last",
		"TestTheNameOfATestThatSaysALotOfWhatItTests/and_a_name_of_its_case": "enameofatestthatsaysalotofwhatittests-and-a-name-of-its-case",
	} {
		require.Equal(t, want, namespaceName(test))
	}
}
