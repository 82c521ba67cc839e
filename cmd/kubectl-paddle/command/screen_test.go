// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFramed(t *testing.T) {
	t.Parallel()
	plain := func(trouble string, width, height int) string {
		text := framed("one line\ntwo\nthree\nfour\n", trouble, width, height)
		require.True(t, strings.HasPrefix(text, home) && strings.HasSuffix(text, clearScreen))
		return strings.NewReplacer(home, "", clearScreen, "", clearLine, "").Replace(text)
	}
	require.Equal(t, "one line\r\ntwo\r\nthree\r\nfour\r\n", plain("", 80, 24))
	require.Equal(t, "one\r\ntwo\r\nthr\r\nfou\r\n", plain("", 3, 24))
	require.Equal(t, "one line\r\ntwo\r\n... and 2 more: kubectl paddle list\r\n", plain("", 80, 4))
	require.Equal(t, "Not up to date: no server\r\none line\r\ntwo\r\nthree\r\nfour\r\n", plain("no server", 80, 24))
}
