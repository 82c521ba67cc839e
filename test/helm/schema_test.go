// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// properties is what a part of the schema allows.
type properties struct {
	Properties map[string]properties
}

// Every value that the schema allows has a default where administrators read what it means. (The other way round Helm checks.)
func TestEachValueOfTheSchemaIsInValues(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(chart + "/values.schema.json")
	require.NoError(t, err)
	var schema properties
	require.NoError(t, json.Unmarshal(data, &schema))
	delete(schema.Properties, "global") // Helm's own
	data, err = os.ReadFile(chart + "/values.yaml")
	require.NoError(t, err)
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal(data, &values))
	requireDefaults(t, "", schema, values)
}

func requireDefaults(t *testing.T, where string, schema properties, values map[string]any) {
	t.Helper()
	for name, inner := range schema.Properties {
		require.Contains(t, values, name, where)
		if below, isMap := values[name].(map[string]any); isMap {
			requireDefaults(t, where+name+".", inner, below)
		}
	}
}
