// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each wrong argument is named with its place, whatever else is wrong.
func TestOurArgumentsAreChecked(t *testing.T) {
	wrong := []string{"objective: speed", "effort: [1]", "efort: 3", "weight: 1", "server-tasks: on"}
	want := []string{
		`conf:7: error: tiers[0].plugins[1].arguments.objective: "speed" is none of busiest, bytes`,
		"conf:8: error: tiers[0].plugins[1].arguments.effort: [1] is not a whole number from 1 to 1000",
		"conf:9: error: tiers[0].plugins[1].arguments.efort: there is no such argument; did you mean effort?",
	}
	// Only Volcano's own parser makes true of on; it is not heard where it refuses the configuration.
	heard := "conf:11: error: tiers[0].plugins[1].arguments.server-tasks: true is not a list of texts"
	require.Equal(t, append(want, heard), printed(t, withArguments(wrong...)))

	refused := append([]string{"conf:1: error: actions: there is no action alocate; did you mean allocate?"}, want...)
	text := small("alocate", "    arguments:\n      objective: speed\n      effort: [1]\n      efort: 3\n", "")
	require.Equal(t, refused, printed(t, text))
}

func TestOurPluginInItsStack(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"missing": {"actions: allocate\ntiers:\n- plugins:\n  - name: gang\n",
			[]string{"conf: error: the plugin paddle is not named: Paddle jobs are placed pod by pod"}},
		"twice, each with an error": {withArguments("effort: 0") + "- plugins:\n  - name: paddle\n    arguments: {weight: -1}\n", []string{
			"conf:7: error: tiers[0].plugins[1].arguments.effort: 0 is not a whole number from 1 to 1000",
			"conf:9: error: tiers[1].plugins[0]: paddle is named a second time, after tiers[0].plugins[1]; name it once",
			"conf:10: error: tiers[1].plugins[0].arguments.weight: -1 is not a number from 0 to 1000"}},
		"another plugin twice": {small(placed, "  - name: gang\n", ""), []string{
			"conf:6: warning: tiers[0].plugins[2]: gang is named a second time, after tiers[0].plugins[0]; Volcano builds both and asks only this one, at both places"}},
		"without gang": {"actions: allocate\ntiers:\n- plugins:\n  - name: paddle\n", []string{
			"conf: warning: the plugin gang is not named: it holds the gangs of other jobs, and writes into PodGroups why a job waits"}},
		"switched off": {small(placed, "    enableJobReady: false\n    enabledOverused: no\n    enablePredicate: true\n", ""), []string{
			"conf:6: warning: tiers[0].plugins[1].enableJobReady: switched off, a part of what paddle does is missing; leave its switches alone",
			"conf:7: warning: tiers[0].plugins[1].enabledOverused: switched off, a part of what paddle does is missing; leave its switches alone"}},
		"another plugin's switch is off": {small(placed, "  - name: drf\n    enablePreemptable: false\n", ""), nil},
		"an unknown switch is off": {small(placed, "    enableMagic: false\n", ""), []string{
			"conf:6: error: tiers[0].plugins[1].enableMagic: there is no such key; known are name, enableJobOrder,"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := printed(t, test.text)
			require.Len(t, found, len(test.want), "%v", found)
			for i, want := range test.want {
				require.Contains(t, found[i], want)
			}
		})
	}
}

func TestArgumentsThatDoNotAgree(t *testing.T) {
	const path = "tiers[0].plugins[1].arguments."
	for name, test := range map[string]struct {
		arguments []string
		want      []string
	}{
		"falling prices": {[]string{"tier-prices: [4, 1]"}, []string{"conf:7: warning: " + path + "tier-prices: prices fall from tier to tier: plans prefer what is far"}},
		"island dearer than node": {[]string{"tier-prices: [1, 4]", "island-price: 2"}, []string{
			"conf:8: warning: " + path + "island-price: 2 is more than 1, the price of a byte over a node's border: plans prefer two nodes to two islands"}},
		"island as dear as the default node": {[]string{"island-price: 1"}, nil},
		"island dearer than the default node": {[]string{"island-price: 1.5"}, []string{
			"conf:7: warning: " + path + "island-price: 1.5 is more than 1, the price of a byte over a node's border: plans prefer two nodes to two islands"}},
		"prices for tiers that labels do not make": {[]string{"topology-labels: rack", "tier-prices: [1, 4, 16]"}, []string{
			"conf:8: warning: " + path + "tier-prices: 3 prices for 2 tiers (nodes, and one for each label): the last count only where HyperNodes make more"}},
		"too few bandwidths": {[]string{"topology-labels: rack", "tier-bandwidths: 100Gbps"}, []string{
			"conf:8: warning: " + path + "tier-bandwidths: 1 bandwidth for 2 tiers (nodes, and one for each label): with too few, all uplinks count as equally wide"}},
		"a tier that labels do not make": {[]string{"topology-labels: rack", "colocation: Required", "colocation-tier: 2"}, []string{
			"conf:9: warning: " + path + "colocation-tier: there is no tier 2 above 1 label"}},
		"a tier that nobody asks for":    {[]string{"topology-labels: rack", "colocation: None", "colocation-tier: 2"}, nil},
		"tiers of HyperNodes, not known": {[]string{"tier-prices: [1, 4, 16]", "tier-bandwidths: 1Gbps", "colocation-tier: 5"}, nil},
		"no bandwidths, few prices":      {[]string{"topology-labels: [a, b]", "tier-prices: 1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := printed(t, withArguments(test.arguments...))
			require.ElementsMatch(t, test.want, found)
			require.True(t, CheckConfig([]byte(withArguments(test.arguments...))).OK(), "warnings alone are no error")
		})
	}
}

func TestBesideThePluginOfHyperNodes(t *testing.T) {
	const network = "  - name: network-topology-aware\n"
	before := "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n" + network + "- plugins:\n  - name: paddle\n    arguments: {topology-labels: rack}\n"
	require.Equal(t, []string{
		"conf:8: warning: tiers[1].plugins[0].arguments.topology-labels: network-topology-aware needs HyperNodes, and where there are any, topology-labels are not used",
	}, printed(t, before))
	require.Empty(t, printed(t, small(placed, network, "")))
}
