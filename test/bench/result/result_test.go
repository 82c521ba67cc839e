// SPDX-License-Identifier: Apache-2.0

package result

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	for _, text := range []string{"{\n  \"Go\": \"first\"\n}\n", "{\n  \"Go\": \"second\"\n}\n"} {
		require.NoError(t, Write(folder, "x.json", struct{ Go string }{text[11 : len(text)-4]}))
		written, err := os.ReadFile(filepath.Join(folder, "x.json"))
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing unfinished is left")
	require.ErrorContains(t, Write(filepath.Join(folder, "x.json"), "y.json", nil), "write the report")
	require.ErrorContains(t, Write(folder, "y.json", func() {}), "write the report")
}
