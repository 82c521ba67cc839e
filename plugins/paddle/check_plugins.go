// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// knownPlugins are Volcano's and ours, to name what may be meant; framework.GetPluginBuilder knows which ones there are.
var knownPlugins = []string{
	"binpack", "capacity", "cdp", "conformance", "deviceshare", "drf", "extender", "gang", networkPlugin, "nodegroup",
	"nodeorder", "numaaware", "overcommit", PluginName, "pdb", "predicates", "priority", "proportion", "rescheduling",
	"resource-strategy-fit", "resourcequota", "sla", "task-topology", "tdm", "usage",
}

const (
	gangPlugin    = "gang"
	networkPlugin = "network-topology-aware"
)

// stack is all plugins of a configuration, in the order in which Volcano asks them.
type stack struct {
	plugins   []pluginSpot
	tiers     int
	arguments int // of ours
}

// pluginSpot is one plugin, and where it stands.
type pluginSpot struct {
	spot
	name      string
	fields    []entry
	arguments framework.Arguments // as Volcano reads them
}

// named is the first plugin of a name: its place in the order, below 0 for none.
func (s stack) named(name string) int {
	return slices.IndexFunc(s.plugins, func(p pluginSpot) bool { return p.name == name })
}

// tiers checks the shape of the tiers and of their plugins. read is what Volcano's parser made of them, nil if it refused
// the configuration.
func (c *check) tiers(entries []entry, read []conf.Tier) (s stack) {
	at, _ := lookup(entries, "tiers")
	tiers := c.list(at)
	for i, tier := range tiers {
		fields := c.mapping(tier, yamlKeys(conf.Tier{})...)
		plugins, ok := lookup(fields, "plugins")
		if !ok || empty(plugins.node) {
			c.errorAt(tier, "this tier has no plugins")
		}
		for j, one := range c.list(plugins) {
			p := pluginSpot{spot: one, fields: c.mapping(one, yamlKeys(conf.PluginOption{})...)}
			p.name = c.pluginName(p)
			c.switches(p)
			if at, ok := lookup(p.fields, "arguments"); ok {
				c.mapping(at)
				p.arguments = argumentsAt(at.node)
			}
			if i < len(read) && j < len(read[i].Plugins) { // the two parsers may differ in odd merges
				p.arguments = read[i].Plugins[j].Arguments
			}
			s.plugins = append(s.plugins, p)
		}
	}
	s.tiers = len(tiers)
	return s
}

// argumentsAt reads arguments where Volcano's parser has given up for another reason.
func argumentsAt(node *yaml.Node) framework.Arguments {
	var arguments framework.Arguments
	if node.Decode(&arguments) != nil {
		return nil // not a mapping, which has been said
	}
	return arguments
}

func (c *check) pluginName(p pluginSpot) string {
	at, ok := lookup(p.fields, "name")
	if !ok || at.node.Kind != yaml.ScalarNode || at.node.Value == "" {
		c.errorAt(p.spot, "this plugin has no name")
		return ""
	}
	if _, known := framework.GetPluginBuilder(at.node.Value); !known {
		c.unknown(at, "there is no plugin "+at.node.Value, at.node.Value, knownPlugins)
	}
	return at.node.Value
}

// switches checks the values of the switches that every plugin has.
func (c *check) switches(p pluginSpot) {
	for _, e := range p.fields {
		if _, ok := switched(e); !ok && isSwitch(e) {
			c.errorAt(e.spot, "%s is neither true nor false", shown(e.node.Value))
		}
	}
}

// switched tells whether a switch is on, and false where the entry is no switch, or neither on nor off.
func switched(e entry) (on, ok bool) {
	return on, isSwitch(e) && e.node.Decode(&on) == nil
}

// isSwitch tells whether an entry is a switch that is not left empty, which means its default.
func isSwitch(e entry) bool {
	const prefix = "enable"
	return len(e.key) > len(prefix) && strings.EqualFold(e.key[:len(prefix)], prefix) && !empty(e.node) &&
		slices.Contains(yamlKeys(conf.PluginOption{}), e.key)
}
