// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWarnings(t *testing.T) {
	const plugin = "conf: warning: tiers[0].plugins[1]."
	const path = plugin + "arguments."
	const heavyNode = "is more than the weight of a byte that leaves a node: plans prefer two nodes to two islands"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"preempt before allocate": {small("'enqueue, preempt, allocate'", "", ""), []string{
			"conf: warning: actions: preempt is before allocate: Volcano then reserves nodes for waiting gangs in each cycle and may bind none of them"}},
		"a plugin twice": {small(usual, "  - name: gang\n", ""), []string{
			"conf: warning: tiers[0].plugins[2]: gang is here a second time: Volcano builds both and calls only this one, at both places"}},
		"without gang": {"actions: allocate\ntiers:\n- plugins:\n  - name: paddle\n", []string{
			"conf: warning: tiers: the plugin gang is missing: it holds the gangs of other jobs, and writes into PodGroups why a job waits"}},
		"switched off": {small(usual, "    enableJobReady: false\n    enabledOverused: no\n    enablePredicate: true\n", ""), []string{
			plugin + "enableJobReady: switched off, a part of what paddle does is missing",
			plugin + "enabledOverused: switched off, a part of what paddle does is missing"}},
		"another plugin's switch is off": {small(usual, "  - name: drf\n    enablePreemptable: false\n", ""), nil},
		"weights that fall": {withArguments("tier-weights: [4, 1]"), []string{
			path + "tier-weights: the weights fall from tier to tier: plans prefer distant nodes"}},
		"more within a node than above": {withArguments("tier-weights: [1, 4]", "intra-node-weight: 2"), []string{path + "intra-node-weight: 2 " + heavyNode}},
		"as much as above by default":   {withArguments("intra-node-weight: 1"), nil},
		"more than above by default":    {withArguments("intra-node-weight: 1.5"), []string{path + "intra-node-weight: 1.5 " + heavyNode}},
		"weights for tiers that labels do not make": {withArguments("topology-labels: rack", "tier-weights: [1, 4, 16]"), []string{
			path + "tier-weights: 3 weights for 2 tiers, which are nodes and one for each label: the last apply only to HyperNodes"}},
		"too few bandwidths": {withArguments("topology-labels: rack", "tier-bandwidths: 100Gbps"), []string{
			path + "tier-bandwidths: 1 bandwidths for 2 tiers, which are nodes and one for each label: with too few, all uplinks count as equally wide"}},
		"a tier that labels do not make": {withArguments("topology-labels: rack", "colocation: Required", "colocation-tier: 2"), []string{
			path + "colocation-tier: there is no tier 2 above the topology-labels"}},
		"a tier without colocation":      {withArguments("topology-labels: rack", "colocation: None", "colocation-tier: 2"), nil},
		"tiers of HyperNodes, not known": {withArguments("tier-weights: [1, 4, 16]", "tier-bandwidths: 1Gbps", "colocation-tier: 5"), nil},
		"no bandwidths, few weights":     {withArguments("topology-labels: [a, b]", "tier-weights: 1"), nil},
		"labels beside the plugin of HyperNodes": {withArguments("topology-labels: rack") + "  - name: network-topology-aware\n", []string{
			path + "topology-labels: network-topology-aware needs HyperNodes, and where there are any, labels are not used"}},
		"no labels beside it": {small(usual, "  - name: network-topology-aware\n", ""), nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := printed(t, test.text)
			if test.want == nil {
				require.Empty(t, found)
				return
			}
			require.Equal(t, test.want, found)
			require.Empty(t, Check([]byte(test.text)).Errors)
		})
	}
}
