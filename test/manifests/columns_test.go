// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// What kubectl get pdj shows is rendered by the API server.
func TestColumnsOfKubectlGet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file   string
		during []any
		ended  []any
	}{
		{
			file:   "wide_and_deep_volcano.yaml",
			during: []any{"wide-ande-deep-volcano", "Running", "PS", "2/2", "2/2", "default"},
			ended:  []any{"wide-ande-deep-volcano", "Completed", "PS", "0/2", "0/2", "default"},
		},
		{
			file:   "simple.yaml",
			during: []any{"simple", "Running", "Collective", nil, "2/2", "default"},
			ended:  []any{"simple", "Completed", "Collective", nil, "0/2", "default"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.file, func(t *testing.T) {
			t.Parallel()
			namespace := shared.Namespace(t)
			objects, err := manifests.Read(deploy.Files, "examples/"+tc.file)
			require.NoError(t, err)
			_, err = shared.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects...)
			require.NoError(t, err)
			e := &example{job: objects[0].GetName()}

			e.awaitPhase(t, namespace, paddlev1.Running)
			requireRow(t, namespace, tc.during)
			e.awaitPhase(t, namespace, paddlev1.Completed)
			requireRow(t, namespace, tc.ended)
		})
	}
}

// requireRow compares the only row, all but its last cell, the age.
func requireRow(t *testing.T, namespace string, want []any) {
	t.Helper()
	data, err := shared.Paddle.BatchV1().RESTClient().Get().Namespace(namespace).Resource("paddlejobs").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	require.NoError(t, err)
	table := &metav1.Table{}
	require.NoError(t, json.Unmarshal(data, table))
	type column struct {
		Name string
		Wide bool
	}
	var columns []column
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, column{c.Name, c.Priority > 0})
	}
	require.Equal(t, []column{
		{Name: "Name"}, {Name: "STATUS"}, {Name: "MODE"}, {Name: "PS"}, {Name: "WORKER"}, {Name: "QUEUE", Wide: true}, {Name: "AGE"},
	}, columns)
	require.Len(t, table.Rows, 1)
	cells := table.Rows[0].Cells
	require.Equal(t, want, cells[:len(cells)-1])
	require.Regexp(t, `^\d+[smh]`, cells[len(cells)-1])
}
