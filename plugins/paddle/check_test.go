// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed is what a report prints about a file called conf, without the line that sums up.
func printed(t *testing.T, text string) []string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, CheckConfig([]byte(text)).Print(&out, "conf"))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1]
}

// small is a configuration of two plugins with something in place of the words. Its lines: 1 actions, 3 gang, 5 ours.
func small(actions, ours, more string) string {
	return fmt.Sprintf("actions: %s\ntiers:\n- plugins:\n  - name: gang\n  - name: paddle\n%s%s", actions, ours, more)
}

const placed = `"enqueue, allocate, backfill"`

// withArguments is a configuration whose arguments begin in line 7.
func withArguments(lines ...string) string {
	return small(placed, "    arguments:\n      "+strings.Join(lines, "\n      ")+"\n", "")
}

func TestSoundConfigurations(t *testing.T) {
	shippedFile, err := os.ReadFile("../../deploy/v1/scheduler.yaml")
	require.NoError(t, err)
	sound := map[string]string{
		"deploy/v1/scheduler.yaml": string(shippedFile),
		"small":                    small(placed, "", ""),
		"one action in a list":     small("allocate", "", ""),
		"arguments": withArguments("server-tasks: keeper", "objective: busiest", "topology-labels: [rack, zone]",
			"tier-prices: [1, 4, 16]", "tier-bandwidths: [100Gbps, 200Gbps, 400Gbps]", "island-price: 1", "colocation: Required",
			"colocation-tier: 2"),
		"no arguments":   small(placed, "    arguments:\n    enableJobReady:\n    enableTaskOrder: yes\n", ""),
		"the rest of it": small(placed, "", "configurations:\n- name: allocate\n  arguments:\n    predicateErrorCacheEnable: true\nmetrics:\n  type: prometheus\n  interval: 30s\n"),
		"anchors and merges": small(placed, "    arguments: {<<: [&a {effort: 2}, &b {weight: 3}], effort: 4}\n",
			"configurations: &none []\n"),
		"comment after": small(placed, "", "# no more\n---\n"),
	}
	for name, text := range placements {
		sound[name] = text
	}
	delete(sound, "without gang")      // warned of
	delete(sound, "with every action") // in an order that is sound
	for name, text := range sound {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, printed(t, text))
			require.True(t, CheckConfig([]byte(text)).OK())
		})
	}
}

func TestShapeOfTheConfiguration(t *testing.T) {
	const noPlugin = "conf: error: the plugin paddle is not named: Paddle jobs are placed pod by pod"
	const noActions = `conf: error: there are no actions; Volcano's default is actions: "enqueue, allocate, backfill"`
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"empty":            {"", []string{noActions, noPlugin}},
		"a list":           {"- plugins", []string{"conf:1: error: it is no mapping of keys to values", noActions, noPlugin}},
		"a text":           {"allocate", []string{"conf:1: error: it is no mapping of keys to values", noActions, noPlugin}},
		"no YAML":          {"actions: allocate\ntiers: [\n", []string{"conf:2: error: this is not YAML: did not find expected node content"}},
		"unknown key":      {small(placed, "", "action: x\n"), []string{"conf:6: error: action: there is no such key; did you mean actions?"}},
		"very unknown key": {small(placed, "", "colour: x\n"), []string{"conf:6: error: colour: there is no such key; known are actions, tiers, configurations, metrics"}},
		"key twice":        {small(placed, "", "actions: allocate\n"), []string{"conf:6: error: actions: actions is here a second time; only this one counts"}},
		"no tiers":         {"actions: allocate", []string{noPlugin}},
		"tiers no list":    {"actions: allocate\ntiers: {a: b}", []string{"conf:2: error: tiers: it is no list", noPlugin}},
		"tier no mapping": {"actions: allocate\ntiers: [gang]",
			[]string{"conf:2: error: tiers[0]: it is no mapping of keys to values", "conf:2: error: tiers[0]: this tier has no plugins", noPlugin}},
		"tier without plugins": {small(placed, "", "- plugins:\n"), []string{"conf:6: error: tiers[1]: this tier has no plugins"}},
		"unknown key of a tier": {small(placed, "", "- plugin: []\n"),
			[]string{"conf:6: error: tiers[1].plugin: there is no such key; did you mean plugins?", "conf:6: error: tiers[1]: this tier has no plugins"}},
		"plugin no mapping": {small(placed, "  - priority\n", ""),
			[]string{"conf:6: error: tiers[0].plugins[2]: it is no mapping of keys to values", "conf:6: error: tiers[0].plugins[2]: this plugin has no name"}},
		"plugin without a name": {small(placed, "  - enableJobReady: true\n", ""), []string{"conf:6: error: tiers[0].plugins[2]: this plugin has no name"}},
		"unknown plugin":        {small(placed, "  - name: predicate\n", ""), []string{"conf:6: error: tiers[0].plugins[2].name: there is no plugin predicate; did you mean predicates?"}},
		"switch of odd spelling": {small(placed, "    enabledJobReady: true\n", ""),
			[]string{"conf:6: error: tiers[0].plugins[1].enabledJobReady: there is no such key; did you mean enableJobReady?"}},
		"switch of another type": {small(placed, "    enableJobReady: 'true'\n", ""),
			[]string{`conf:6: error: tiers[0].plugins[1].enableJobReady: "true" is neither true nor false`}},
		"arguments no mapping": {small(placed, "    arguments: [effort]\n", ""), []string{"conf:6: error: tiers[0].plugins[1].arguments: it is no mapping of keys to values"}},
		"arguments of a stock plugin twice": {small(placed, "  - name: binpack\n    arguments:\n      binpack.weight: 1\n      binpack.weight: 2\n", ""),
			[]string{"conf:9: error: tiers[0].plugins[2].arguments.binpack.weight: binpack.weight is here a second time; only this one counts"}},
		"configuration without a name": {small(placed, "", "configurations:\n- argument: {}\n"), []string{
			"conf:7: error: configurations[0].argument: there is no such key; did you mean arguments?",
			"conf:7: error: configurations[0]: it has no name; write the action's name"}},
		"what only Volcano sees": {small(placed, "", "metrics:\n  type: [a]\n"), []string{
			"conf: error: Volcano refuses the configuration: unmarshal errors: line 7: cannot unmarshal !!seq into string"}},
		"drf with a hierarchy beside proportion": {small(placed, "  - {name: drf, enableHierarchy: true}\n  - name: proportion\n", ""), []string{
			"conf: error: Volcano refuses the configuration: proportion and drf with hierarchy enabled conflicts"}},
		"second document": {small(placed, "", "---\nactions: allocate\n"), []string{"conf:7: error: here begins a second document; Volcano reads only the first"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, printed(t, test.text))
			require.False(t, CheckConfig([]byte(test.text)).OK())
		})
	}
}

func TestActions(t *testing.T) {
	for actions, want := range map[string]string{
		"''":                             `error: actions: there are no actions; Volcano's default is actions: "enqueue, allocate, backfill"`,
		"[allocate]":                     `error: actions: actions are one text with commas: actions: "enqueue, allocate, backfill"`,
		"enqueue, alocate":               "error: actions: there is no action alocate; did you mean allocate?",
		"allocate, run":                  "error: actions: there is no action run; known are enqueue, allocate, backfill, preempt, reclaim, shuffle",
		"allocate,":                      "error: actions: a comma too many: Volcano refuses an empty action",
		"enqueue, backfill":              "error: actions: without allocate no job is placed",
		"allocate, allocate":             "warning: actions: allocate is named twice and runs twice in each cycle",
		"enqueue, preempt, allocate":     "warning: actions: preempt stands before allocate: Volcano then reserves nodes for waiting gangs in each cycle and may bind none of them; name it after allocate",
		"enqueue, allocate, preempt":     "",
		"reclaim , allocate , backfill ": "",
	} {
		t.Run(actions, func(t *testing.T) {
			found := printed(t, small(actions, "", ""))
			if want == "" {
				require.Empty(t, found)
				return
			}
			require.Equal(t, []string{"conf:1: " + want}, found)
			require.Equal(t, strings.HasPrefix(want, "warning"), CheckConfig([]byte(small(actions, "", ""))).OK())
		})
	}
}

func TestPrintSumsUp(t *testing.T) {
	for text, want := range map[string]string{
		small(placed, "", ""):                                "conf: ok, 0 warnings: 3 actions, 2 plugins in 1 tier, 0 arguments of paddle\n",
		withArguments("effort: 2"):                           "conf: ok, 0 warnings: 3 actions, 2 plugins in 1 tier, 1 argument of paddle\n",
		withArguments("tier-prices: [2, 1]"):                 "conf: ok, 1 warning: 3 actions, 2 plugins in 1 tier, 1 argument of paddle\n",
		withArguments("effort: 0", "tier-prices: [2, 1]"):    "conf: 1 error, 1 warning\n",
		withArguments("effort: 0", "weight: -1", "efort: 1"): "conf: 3 errors, 0 warnings\n",
	} {
		var out strings.Builder
		require.NoError(t, CheckConfig([]byte(text)).Print(&out, "conf"))
		require.Equal(t, want, out.String()[strings.LastIndex(strings.TrimSpace(out.String()), "\n")+1:])
	}
	full := errors.New("disk full")
	require.ErrorIs(t, CheckConfig(nil).Print(failing{full}, "conf"), full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzCheckConfig(f *testing.F) {
	for _, text := range []string{
		small(placed, "", ""), withArguments("effort: 0"), "", "---\n---\n", "a: &a [*a]", "&a {<<: *a}", "tiers: &t [plugins: *t]", "? [a]\n: b",
		"actions: &a allocate\ntiers: [plugins: [*a, {name: *a, arguments: *a}]]", "kind: ConfigMap\ndata: {volcano-scheduler.conf: {}}",
		"kind: List\nitems: [1, {kind: ConfigMap, data: {volcano-scheduler.conf: 'actions: ['}}]", "actions: !!binary aaaa", "tiers: [plugins: [{name: paddle, arguments: {effort: !!int x}}]]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		report := CheckConfig([]byte(text))
		for _, finding := range report.Findings {
			require.NotEmpty(t, finding.Text)
		}
	})
}
