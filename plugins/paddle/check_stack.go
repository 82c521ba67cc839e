// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// stack checks which plugins there are, and ours.
func (c *check) stack(s *stack) {
	for i, p := range s.plugins {
		first := s.named(p.name)
		switch {
		case p.name == "" || first == i:
		case p.name == PluginName:
			c.errorAt(p.spot, "%s is named a second time, after %s; name it once", p.name, s.plugins[first].path)
		default:
			c.warnAt(p.spot, "%s is named a second time, after %s; Volcano builds both and asks only this one, at both places", p.name, s.plugins[first].path)
		}
	}
	ours := s.named(PluginName)
	if ours < 0 {
		c.errorAt(spot{}, "the plugin %s is not named: Paddle jobs are placed pod by pod", PluginName)
		return
	}
	if s.named(gangPlugin) < 0 {
		c.warnAt(spot{}, "the plugin %s is not named: it holds the gangs of other jobs, and writes into PodGroups why a job waits", gangPlugin)
	}
	for _, p := range s.plugins {
		if p.name == PluginName {
			s.arguments += len(p.arguments)
			c.ours(p, s)
		}
	}
}

// ours checks one entry of our plugin.
func (c *check) ours(p pluginSpot, s *stack) {
	for _, e := range p.fields {
		if on, ok := switched(e); ok && !on {
			c.warnAt(e.spot, "switched off, a part of what %s does is missing; leave its switches alone", PluginName)
		}
	}
	at, _ := lookup(p.fields, "arguments")
	var fields []entry
	if !empty(at.node) {
		fields = pairs(at, mergeDepth)
	}
	place := func(key string) spot {
		if found, ok := lookup(fields, key); ok {
			return found
		}
		return at
	}
	parsed := defaultArguments()
	for _, wrong := range readArguments(p.arguments, &parsed) {
		c.errorAt(place(wrong.key), "%v", wrong.err)
	}
	c.prices(parsed, place)
	c.labelled(parsed, place)
	c.besideNetworkPlugin(s, parsed, place)
}

// prices warns of prices that make a plan prefer what is far.
func (c *check) prices(a arguments, place func(string) spot) {
	node := 1.0 // the default
	if len(a.network.Prices) > 0 {
		node = a.network.Prices[0]
	}
	if a.network.IslandPrice > node {
		c.warnAt(place(argIslandPrice), "%v is more than %v, the price of a byte over a node's border: plans prefer two nodes to two islands", a.network.IslandPrice, node)
	}
	if !slices.IsSorted(a.network.Prices) {
		c.warnAt(place(argPrices), "prices fall from tier to tier: plans prefer what is far")
	}
}

// labelled warns of what does not agree with the tiers that labels make.
func (c *check) labelled(a arguments, place func(string) spot) {
	if len(a.network.Labels) == 0 {
		return
	}
	tiers := len(a.network.Labels) + 1
	if n := len(a.network.Prices); n > tiers {
		c.warnAt(place(argPrices), "%s for %d tiers (nodes, and one for each label): the last count only where HyperNodes make more", times(n, "price"), tiers)
	}
	if n := len(a.network.Bandwidths); n > 0 && n != tiers {
		c.warnAt(place(argBandwidths), "%s for %d tiers (nodes, and one for each label): with too few, all uplinks count as equally wide", times(n, "bandwidth"), tiers)
	}
	if a.colocationTier >= tiers && a.colocation != placement.None {
		c.warnAt(place(argColocationTier), "there is no tier %d above %s", a.colocationTier, times(len(a.network.Labels), "label"))
	}
}

// besideNetworkPlugin warns of labels that HyperNodes, which the other plugin needs, make useless.
func (c *check) besideNetworkPlugin(s *stack, a arguments, place func(string) spot) {
	if s.named(networkPlugin) >= 0 && len(a.network.Labels) > 0 {
		c.warnAt(place(argLabels), "%s needs HyperNodes, and where there are any, %s are not used", networkPlugin, argLabels)
	}
}
