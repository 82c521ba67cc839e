// SPDX-License-Identifier: Apache-2.0

// Package cases reads tables of cases from files.
package cases

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Read returns what a YAML file holds. A field that T does not have and a key that is there twice are errors.
func Read[T any](t *testing.T, file string) (content T) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &content), file)
	require.NotEmpty(t, content, file)
	return content
}
