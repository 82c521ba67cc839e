// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	mean, err := StartPace(t.Context()).Mean()
	require.NoError(t, err)
	require.Positive(t, mean)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	longer, err := sample(make([]byte, 16*work))
	require.NoError(t, err)
	require.Greater(t, longer.Seconds()*1000, mean, "sixteen times the work")
}
