// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"

	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// Names under which the plugin also stands in a session's tiers. They are names of their own, because Volcano asks some
// functions (JobValid, victim queues) of every option that bears the name, whatever the option switches off.
const (
	// firstName stands alone in a tier before all others, for what the first answer decides.
	firstName = PluginName + "-first"
	// vetoName stands first in each other tier: which victims there are is decided by the first tier that finds any, so
	// that a veto must be repeated in each.
	vetoName = PluginName + "-veto"
)

// line is the tiers of one session.
type line struct {
	own   conf.PluginOption // what the administrator wrote for the plugin
	stock []conf.Tier       // the configured tiers without the plugin
}

// standFirst puts the plugin first in line in a session. Which answer counts is else a matter of where the administrator
// wrote the plugin: HyperNodeGradient asks one plugin only, JobStarving one tier, JobPipelined ends with the first tier
// that permits, Preemptable and Reclaimable with the first that finds a victim. What the administrator switched off stays
// off. The configuration's own tiers, which live on, are not touched.
func (p *plugin) standFirst(ssn *framework.Session) {
	configured := ssn.Tiers
	led := len(configured) > 0 && slices.ContainsFunc(configured[0].Plugins, named(firstName))
	if led { // the configuration names the plugin twice
		configured = configured[1:]
	}
	p.line = line{own: ownOption(configured), stock: stockTiers(configured)}
	if !led {
		ssn.Tiers = ledTiers(configured, p.line)
	}
	p.victims = newVictimSelector(ssn, p.arguments.taskRoles)
	p.victims.open()
	ssn.AddJobStarvingFns(firstName, p.starving)
	ssn.AddJobPipelinedFn(firstName, p.votePipelined)
	ssn.AddAllocatableFn(firstName, p.allocatableWhileCompleting)
	ssn.AddPrePredicateFn(firstName, p.prePredicateWhileCompleting)
}

// asStock runs ask in the session as it is without the plugin. It must not be called where Volcano asks plugins from
// several goroutines (predicates, scores, topology-aware preemption).
func (p *plugin) asStock(ask func()) {
	led := p.ssn.Tiers
	p.ssn.Tiers = p.line.stock
	defer func() { p.ssn.Tiers = led }()
	ask()
}

// ledTiers is the configured tiers, with the plugin first in line.
func ledTiers(configured []conf.Tier, l line) []conf.Tier {
	own := l.own
	led := []conf.Tier{{Plugins: []conf.PluginOption{{
		Name:                     firstName,
		EnabledAllocatable:       own.EnabledAllocatable,
		EnabledHyperNodeGradient: own.EnabledHyperNodeGradient,
		EnabledJobPipelined:      ptr.To(true), // what was evicted is followed up at the vote
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
		plugins := append([]conf.PluginOption{veto}, l.stock[i].Plugins...)
		if at := slices.IndexFunc(configured[i].Plugins, named(PluginName)); at >= 0 {
			plugins = slices.Insert(plugins, at+1, configured[i].Plugins[at])
		}
		led = append(led, conf.Tier{Plugins: plugins})
	}
	return led
}

// stockTiers is the configured tiers without the plugin.
func stockTiers(configured []conf.Tier) []conf.Tier {
	stock := make([]conf.Tier, len(configured))
	for i, tier := range configured {
		stock[i].Plugins = slices.DeleteFunc(slices.Clone(tier.Plugins), named(PluginName, vetoName))
	}
	return stock
}

// ownOption is what the administrator wrote for the plugin.
func ownOption(configured []conf.Tier) conf.PluginOption {
	for _, tier := range configured {
		if at := slices.IndexFunc(tier.Plugins, named(PluginName)); at >= 0 {
			return tier.Plugins[at]
		}
	}
	return conf.PluginOption{}
}

func named(names ...string) func(conf.PluginOption) bool {
	return func(option conf.PluginOption) bool { return slices.Contains(names, option.Name) }
}
