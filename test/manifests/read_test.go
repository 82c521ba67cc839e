// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

func TestRead(t *testing.T) {
	files := fstest.MapFS{
		"two.yaml":  {Data: []byte("# a comment\n---\n# another\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n")},
		"one.yaml":  {Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: c}\n")},
		"none.yaml": {Data: []byte("apiVersion: v1\nkind: Namespace\n")},
		"bad.yaml":  {Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\na: b: c\n")},
		"kind.yaml": {Data: []byte("metadata: {name: a}\n")},
	}
	tests := []struct {
		name  string
		files []string
		want  []string
		fault string
	}{
		{name: "in the order of the files and of their documents", files: []string{"two.yaml", "one.yaml"}, want: []string{"a", "b", "c"}},
		{name: "no name", files: []string{"none.yaml"}, fault: "manifest none.yaml: document 1, a Namespace, has no metadata.name"},
		{name: "no kind", files: []string{"kind.yaml"}, fault: "manifest kind.yaml: read document 1: "},
		{name: "broken YAML", files: []string{"bad.yaml"}, fault: "manifest bad.yaml: read document 2: "},
		{name: "no file", files: []string{"two.yaml", "absent.yaml"}, fault: "read manifest: open absent.yaml"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			objects, err := manifests.Read(files, tc.files...)
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				return
			}
			require.NoError(t, err)
			var names []string
			for _, object := range objects {
				names = append(names, object.GetName())
			}
			require.Equal(t, tc.want, names)
		})
	}
}
