// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// configMap is a manifest whose configuration begins in line 5.
func configMap(configuration string) string {
	return "apiVersion: v1\nkind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n    " +
		strings.ReplaceAll(strings.TrimSpace(configuration), "\n", "\n    ") + "\n"
}

const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n---\n"

func TestManifests(t *testing.T) {
	wrong := withArguments("effort: 0") // in line 7
	const text = "tiers[0].plugins[1].arguments.effort: 0 is not a whole number from 1 to 1000"
	for name, test := range map[string]struct {
		file string
		want []string
	}{
		"sound":                   {configMap(small(placed, "", "")), nil},
		"the lines of the file":   {configMap(wrong), []string{"conf:11: error: " + text}},
		"after another object":    {account + configMap(wrong), []string{"conf:15: error: " + text}},
		"after an empty document": {"---\n# nothing\n---\n" + configMap(wrong), []string{"conf:14: error: " + text}},
		"in a list": {"kind: List\nitems:\n- kind: Pod\n- kind: ConfigMap\n  data:\n    volcano-scheduler.conf: |\n" + indented(wrong, 6),
			[]string{"conf:13: error: " + text}},
		"as kubectl writes odd text": {"kind: ConfigMap\ndata:\n  volcano-scheduler.conf: \"" + strings.ReplaceAll(strings.ReplaceAll(wrong, `"`, `\"`), "\n", `\n`) + "\"\n",
			[]string{"conf: error: " + text}},
		"two of them":          {configMap(wrong) + "---\n" + configMap(wrong), []string{"conf:11: error: " + text, "conf:23: error: " + text}},
		"no YAML inside":       {configMap("actions: allocate\ntiers: ["), []string{"conf:6: error: this is not YAML: did not find expected node content"}},
		"two documents inside": {configMap(small(placed, "", "---\na: b")), []string{"conf:11: error: here begins a second document; Volcano reads only the first"}},
		"a mapping inside":     {"kind: ConfigMap\ndata:\n  volcano-scheduler.conf:\n    actions: allocate\n", []string{"conf:3: error: data.volcano-scheduler.conf: it is not a text; write | after volcano-scheduler.conf:"}},
		"another key":          {"kind: ConfigMap\ndata:\n  scheduler.conf: |\n    actions: allocate\n", []string{"conf: error: no ConfigMap in this manifest has the key volcano-scheduler.conf"}},
		"no data":              {"kind: ConfigMap\n", []string{"conf: error: no ConfigMap in this manifest has the key volcano-scheduler.conf"}},
		"a Secret":             {"kind: Secret\ndata:\n  volcano-scheduler.conf: YQ==\n", []string{"conf: error: no ConfigMap in this manifest has the key volcano-scheduler.conf"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := printed(t, test.file)
			if test.want == nil {
				require.Empty(t, found)
				return
			}
			require.Equal(t, test.want, found)
		})
	}
}

func indented(text string, spaces int) string {
	indent := strings.Repeat(" ", spaces)
	return indent + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent) + "\n"
}
