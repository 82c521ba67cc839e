// SPDX-License-Identifier: Apache-2.0

package session

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRunMeasuresJudgesAndWrites(t *testing.T) {
	s := Default()
	s.Folder, s.Only, s.Sessions, s.Before = t.TempDir(), []string{"churn"}, 50, 20
	require.NoError(t, Run(s, io.Discard))
	text, err := os.ReadFile(filepath.Join(s.Folder, "session.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"slice": true`)
	var file map[string]any
	require.NoError(t, json.Unmarshal(text, &file))
	require.Contains(t, file, "churn")
	require.NotContains(t, file, "speed")
	require.Contains(t, file["seconds"], "churn")
	require.NotEmpty(t, file["bars"])
}

func TestAFailureNamesItsPart(t *testing.T) {
	s := Default()
	s.Only, s.Largest = []string{"speed"}, 1
	require.ErrorContains(t, Run(s, io.Discard), "measure speed: ")
}
