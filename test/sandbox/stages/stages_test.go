// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRunForText(t *testing.T) {
	t.Parallel()
	for run, want := range map[time.Duration]string{0: "forever", 5 * time.Second: "5s", 1500 * time.Microsecond: "2ms"} {
		require.Equal(t, want, runForText(run))
	}
}
