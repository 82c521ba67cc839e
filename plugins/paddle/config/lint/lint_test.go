// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

func TestMain(m *testing.M) {
	framework.RegisterPluginBuilder(config.PluginName, func(framework.Arguments) framework.Plugin { return nil })
	os.Exit(m.Run())
}

// printed returns the lines that are printed about a file called conf, without the last.
func printed(t *testing.T, text string) []string {
	t.Helper()
	var out strings.Builder
	r := Check([]byte(text))
	require.NoError(t, r.Print(&out, "conf"))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1]
}

// small returns a configuration of two plugins. Its lines: 1 actions, 3 gang, 5 paddle.
func small(actions, paddle, more string) string {
	return fmt.Sprintf("actions: %s\ntiers:\n- plugins:\n  - name: gang\n  - name: paddle\n%s%s", actions, paddle, more)
}

const usual = `"enqueue, allocate, backfill"`

// withArguments returns a configuration whose arguments begin in line 7.
func withArguments(lines ...string) string {
	return small(usual, "    arguments:\n      "+strings.Join(lines, "\n      ")+"\n", "")
}

func TestValidConfigurations(t *testing.T) {
	shipped, err := os.ReadFile("../../../../deploy/v1/scheduler.yaml")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"deploy/v1/scheduler.yaml": string(shipped),
		"small":                    small(usual, "", ""),
		"arguments": withArguments("server-tasks: keeper", "objective: max-link-load", "topology-labels: [rack, zone]",
			"tier-weights: [1, 4, 16]", "tier-bandwidths: [100Gbps, 200Gbps, 400Gbps]", "intra-node-weight: 1", "colocation: Required",
			"colocation-tier: 2"),
		"no arguments":        small(usual, "    arguments:\n    enableJobReady:\n    enableTaskOrder: yes\n", ""),
		"all keys":            small(usual, "", "configurations:\n- name: allocate\n  arguments:\n    predicateErrorCacheEnable: true\nmetrics:\n  type: prometheus\n  interval: 30s\n"),
		"anchors and merges":  small(usual, "    arguments: {<<: &a {search-budget: 2}, weight: 4}\n", "configurations: &none []\n"),
		"comment at the end":  small(usual, "", "# no more\n"),
		"actions with blanks": small("'reclaim , allocate , preempt '", "", ""),
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, printed(t, text)) })
	}
}

func TestErrors(t *testing.T) {
	const noPlugin = "conf: error: the plugin paddle is missing: Paddle jobs are placed pod by pod"
	const noAllocate = `conf: error: actions: Invalid value: %q: without allocate no job is placed`
	rejected := func(why string) string { return "conf: error: Volcano rejects the configuration: " + why }
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"empty":       {"", []string{"conf: error: the file holds neither a volcano-scheduler.conf nor a ConfigMap with one"}},
		"a list":      {"- plugins", []string{"conf: error: parse volcano-scheduler.conf: yaml: unmarshal errors:", "  line 1: cannot unmarshal !!seq into conf.SchedulerConfiguration"}},
		"no YAML":     {"actions: allocate\ntiers: [\n", []string{"conf: error: parse volcano-scheduler.conf: yaml: line 2: did not find expected node content"}},
		"unknown key": {small(usual, "", "action: x\n"), []string{"conf: error: line 6: field action not found in type conf.SchedulerConfiguration"}},
		"unknown switch": {small(usual, "    enabledJobReady: true\n", ""),
			[]string{"conf: error: line 6: field enabledJobReady not found in type conf.PluginOption"}},
		"switch of another type": {small(usual, "    enableJobReady: 'true'\n", ""),
			[]string{"conf: error: parse volcano-scheduler.conf: yaml: unmarshal errors:", "  line 6: cannot unmarshal !!str `true` into bool"}},
		"key twice":       {small(usual, "", "actions: allocate\n"), []string{"conf: error: line 6: field actions already set in type conf.SchedulerConfiguration"}},
		"second document": {small(usual, "", "---\nactions: allocate\n"), []string{"conf: error: Volcano reads only the first document"}},
		"no tiers":        {"actions: allocate", []string{noPlugin}},
		"no paddle":       {"actions: allocate\ntiers:\n- plugins:\n  - name: gang\n", []string{noPlugin}},
		"unknown action":  {small("alocate", "", ""), []string{rejected("failed to find Action alocate"), fmt.Sprintf(noAllocate, "alocate")}},
		"no actions":      {small("''", "", ""), []string{rejected("failed to find Action "), fmt.Sprintf(noAllocate, "")}},
		"no allocate":     {small("backfill", "", ""), []string{fmt.Sprintf(noAllocate, "backfill")}},
		"unknown plugin":  {small(usual, "  - name: predicate\n", ""), []string{`conf: error: tiers[0].plugins[2].name: Not found: "predicate"`}},
		"no name":         {small(usual, "  - enableJobReady: true\n", ""), []string{`conf: error: tiers[0].plugins[2].name: Not found: ""`}},
		"drf with a hierarchy beside proportion": {small(usual, "  - {name: drf, enableHierarchy: true}\n  - name: proportion\n", ""),
			[]string{rejected("proportion and drf with hierarchy enabled conflicts")}},
		"paddle twice, each with an error": {withArguments("search-budget: 0") + "- plugins:\n  - name: paddle\n    arguments: {weight: -1}\n", []string{
			`conf: error: tiers[1].plugins[0].name: Duplicate value: "paddle"`,
			"conf: error: tiers[0].plugins[1].arguments.search-budget: Invalid value: 0: must be between 1 and 1000, inclusive",
			"conf: error: tiers[1].plugins[0].arguments.weight: Invalid value: -1: must be between 0 and 1000, inclusive"}},
		"an argument twice": {withArguments("weight: 1", "weight: 2"), []string{`conf: error: line 8: key "weight" already set in map`}},
		"an unknown argument in a ConfigMap": {"kind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n    " + strings.ReplaceAll(withArguments("effort: 1"), "\n", "\n    "),
			[]string{`conf: error: tiers[0].plugins[1].arguments.effort: Unsupported value: "effort": supported values: "accelerators", "colocation", "colocation-tier", "heter-tasks", ` +
				`"intra-node-weight", "objective", "parallel-group-size", "parameter-size", "planning-seconds", "restart-tolerance-percent", "search-budget", "server-tasks", ` +
				`"tier-bandwidths", "tier-weights", "topology-labels", "weight", "worker-tasks"`}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, printed(t, test.text))
			require.NotEmpty(t, Check([]byte(test.text)).Errors)
		})
	}
}

func TestPrintCounts(t *testing.T) {
	for text, want := range map[string]string{
		small(usual, "", ""):                                         "conf: 0 errors, 0 warnings\n",
		withArguments("tier-weights: [2, 1]"):                        "conf: 0 errors, 1 warnings\n",
		withArguments("search-budget: 0", "tier-weights: [2, 1]"):    "conf: 1 errors, 1 warnings\n",
		withArguments("search-budget: 0", "weight: -1", "effort: 1"): "conf: 3 errors, 0 warnings\n",
	} {
		var out strings.Builder
		r := Check([]byte(text))
		require.NoError(t, r.Print(&out, "conf"))
		require.Equal(t, want, out.String()[strings.LastIndex(strings.TrimSpace(out.String()), "\n")+1:])
	}
	full := errors.New("disk full")
	require.ErrorIs(t, (&Result{}).Print(failing{full}, "conf"), full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		small(usual, "", ""), withArguments("search-budget: 0"), "", "---\n---\n", "a: &a [*a]", "&a {<<: *a}", "tiers: &t [plugins: *t]", "? [a]\n: b",
		"actions: &a allocate\ntiers: [plugins: [*a, {name: *a, arguments: *a}]]", "kind: ConfigMap\ndata: {volcano-scheduler.conf: {}}",
		"kind: List\nitems: [1, {kind: ConfigMap, data: {volcano-scheduler.conf: 'actions: ['}}]", "actions: !!binary aaaa", "tiers: [plugins: [{name: paddle, arguments: {weight: !!int x}}]]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := Check([]byte(text))
		for _, err := range append(r.Errors, r.Warnings...) {
			require.NotEmpty(t, err.Error())
		}
	})
}
