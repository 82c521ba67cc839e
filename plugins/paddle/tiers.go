// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"

	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// Names of the plugin's other entries in a session's tiers. PluginName cannot be used for them: Volcano calls some functions
// (JobValid, victim queues) for every entry of a name, whether or not it is enabled there.
const (
	firstName = PluginName + "-first" // alone in a tier before all others
	vetoName  = PluginName + "-veto"  // first in each other tier
)

type tierSet struct {
	configured conf.PluginOption // the plugin's entry in volcano-scheduler.conf
	stock      []conf.Tier       // the configured tiers without the plugin
}

// wrapTiers adds firstName and vetoName to a session's tiers. Without them the plugin's place in volcano-scheduler.conf would
// decide which of its answers count: HyperNodeGradient calls one plugin, JobStarving one tier, JobPipelined ends with the
// first tier that permits, Preemptable and Reclaimable with the first that finds a victim. Only what is enabled for the plugin
// is enabled in the new entries. The configured tiers, which all sessions share, are not changed.
func (p *plugin) wrapTiers(ssn *framework.Session) {
	configured := ssn.Tiers
	wrapped := len(configured) > 0 && slices.ContainsFunc(configured[0].Plugins, named(firstName))
	if wrapped { // the configuration names the plugin twice
		configured = configured[1:]
	}
	p.tiers = tierSet{configured: configuredOption(configured), stock: stockTiers(configured)}
	if !wrapped {
		ssn.Tiers = wrappedTiers(configured, p.tiers)
	}
}

// withStockTiers runs call in the session as it is without the plugin. It must not be called where Volcano calls plugins from
// several goroutines (predicates, scores, topology-aware preemption).
func (p *plugin) withStockTiers(call func()) {
	wrapped := p.ssn.Tiers
	p.ssn.Tiers = p.tiers.stock
	defer func() { p.ssn.Tiers = wrapped }()
	call()
}

// wrappedTiers returns the configured tiers with firstName and vetoName.
func wrappedTiers(configured []conf.Tier, set tierSet) []conf.Tier {
	own := set.configured
	wrapped := []conf.Tier{{Plugins: []conf.PluginOption{{
		Name:                     firstName,
		EnabledAllocatable:       own.EnabledAllocatable,
		EnabledHyperNodeGradient: own.EnabledHyperNodeGradient,
		EnabledJobPipelined:      ptr.To(true), // the rest of an evicted gang is evicted at this vote
		EnabledJobStarving:       own.EnabledJobStarving,
		EnabledPredicate:         own.EnabledPredicate,
		EnabledPreemptable:       own.EnabledPreemptable,
		EnabledReclaimable:       own.EnabledReclaimable,
		EnabledTaskOrder:         own.EnabledTaskOrder,
	}}}}
	veto := conf.PluginOption{
		Name: vetoName, EnabledPreemptable: own.EnabledPreemptable, EnabledReclaimable: own.EnabledReclaimable,
	}
	for i := range configured {
		plugins := append([]conf.PluginOption{veto}, set.stock[i].Plugins...)
		if at := slices.IndexFunc(configured[i].Plugins, named(PluginName)); at >= 0 {
			plugins = slices.Insert(plugins, at+1, configured[i].Plugins[at])
		}
		wrapped = append(wrapped, conf.Tier{Plugins: plugins})
	}
	return wrapped
}

func stockTiers(configured []conf.Tier) []conf.Tier {
	stock := make([]conf.Tier, len(configured))
	for i, tier := range configured {
		stock[i].Plugins = slices.DeleteFunc(slices.Clone(tier.Plugins), named(PluginName, vetoName))
	}
	return stock
}

func configuredOption(configured []conf.Tier) conf.PluginOption {
	for _, tier := range configured {
		if at := slices.IndexFunc(tier.Plugins, named(PluginName)); at >= 0 {
			return tier.Plugins[at]
		}
	}
	return conf.PluginOption{}
}

// named returns a function that reports whether an entry has one of some names.
func named(names ...string) func(conf.PluginOption) bool {
	return func(option conf.PluginOption) bool { return slices.Contains(names, option.Name) }
}
