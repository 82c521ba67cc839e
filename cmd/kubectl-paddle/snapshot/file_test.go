// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/deploy"
)

func TestReadConfiguration(t *testing.T) {
	shipped, err := deploy.Files.ReadFile("v1/scheduler.yaml")
	require.NoError(t, err)
	const plain = "actions: \"allocate\"\ntiers: []\n"
	for name, test := range map[string]struct{ text, want string }{
		"the file itself":     {plain, plain},
		"the shipped one":     {string(shipped), "- name: paddle\n"},
		"another release's":   {"kind: ConfigMap\napiVersion: v1\ndata:\n  x: z\n  my-scheduler.conf: |\n    actions: \"enqueue\"\n", "actions: \"enqueue\"\n"},
		"after other objects": {"kind: Service\n---\n\n---\nkind: ConfigMap\ndata: {volcano-scheduler.conf: \"actions: a\"}\n", "actions: a"},
		"none":                {"kind: ConfigMap\ndata: {a: b}\n---\n[1, 2]\n", ""},
		"nothing":             {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := ReadConfiguration([]byte(test.text))
			if test.want == "" {
				require.ErrorContains(t, err, "holds neither")
				return
			}
			require.NoError(t, err)
			require.Contains(t, text, test.want)
			require.NotContains(t, text, "kind:")
		})
	}
}
