// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	gangPlugin    = "gang"
	networkPlugin = "network-topology-aware"
)

// checkPlugins checks which plugins are configured. Volcano ignores those that are not registered, with a line in its log.
func (r *Result) checkPlugins(tiers []conf.Tier) {
	seen := map[string]bool{}
	for i, tier := range tiers {
		for j := range tier.Plugins {
			name, path := tier.Plugins[j].Name, field.NewPath("tiers").Index(i).Child("plugins").Index(j)
			_, registered := framework.GetPluginBuilder(name)
			switch {
			case !registered:
				r.error(field.NotFound(path.Child("name"), name))
			case seen[name] && name == config.PluginName:
				r.error(field.Duplicate(path.Child("name"), name))
			case seen[name]:
				r.warn(path, "%s is here a second time: Volcano builds both and calls only this one, at both places", name)
			}
			seen[name] = true
		}
	}
	if !seen[config.PluginName] {
		r.error(errors.New("the plugin " + config.PluginName + " is missing: Paddle jobs are placed pod by pod"))
		return
	}
	if !seen[gangPlugin] {
		r.warn(field.NewPath("tiers"), "the plugin %s is missing: it holds the gangs of other jobs, and writes into PodGroups why a job waits", gangPlugin)
	}
	for i, tier := range tiers {
		for j := range tier.Plugins {
			if tier.Plugins[j].Name == config.PluginName {
				r.checkOurs(&tier.Plugins[j], field.NewPath("tiers").Index(i).Child("plugins").Index(j), seen[networkPlugin])
			}
		}
	}
}

// checkOurs checks the entry of our plugin.
func (r *Result) checkOurs(plugin *conf.PluginOption, path *field.Path, besideNetworkPlugin bool) {
	switches := reflect.ValueOf(plugin).Elem()
	for i := range switches.NumField() {
		if enabled, ok := switches.Field(i).Interface().(*bool); ok && enabled != nil && !*enabled {
			r.warn(path.Child(switches.Type().Field(i).Tag.Get("yaml")), "switched off, a part of what %s does is missing", config.PluginName)
		}
	}
	path = path.Child("arguments")
	arguments, errs := config.Decode(plugin.Arguments, path)
	for _, err := range errs {
		r.error(err)
	}
	r.checkWeights(&arguments, path)
	r.checkLabels(&arguments, path)
	if besideNetworkPlugin && len(arguments.TopologyLabels) > 0 {
		r.warn(path.Child("topology-labels"), "%s needs HyperNodes, and where there are any, labels are not used", networkPlugin)
	}
}

// checkWeights warns of weights with which a plan prefers distant nodes.
func (r *Result) checkWeights(a *config.Arguments, path *field.Path) {
	if len(a.TierWeights) > 0 && a.IntraNodeWeight > a.TierWeights[0] || len(a.TierWeights) == 0 && a.IntraNodeWeight > 1 {
		r.warn(path.Child("intra-node-weight"), "%v is more than the weight of a byte that leaves a node: plans prefer two nodes to two islands", a.IntraNodeWeight)
	}
	if !slices.IsSorted(a.TierWeights) {
		r.warn(path.Child("tier-weights"), "the weights fall from tier to tier: plans prefer distant nodes")
	}
}

// checkLabels warns of arguments that do not agree with the tiers of the labels.
func (r *Result) checkLabels(a *config.Arguments, path *field.Path) {
	if len(a.TopologyLabels) == 0 {
		return
	}
	tiers := len(a.TopologyLabels) + 1
	if n := len(a.TierWeights); n > tiers {
		r.warn(path.Child("tier-weights"), "%d weights for %d tiers, which are nodes and one for each label: the last apply only to HyperNodes", n, tiers)
	}
	if n := len(a.TierBandwidths); n > 0 && n != tiers {
		r.warn(path.Child("tier-bandwidths"), "%d bandwidths for %d tiers, which are nodes and one for each label: with too few, all uplinks count as equally wide", n, tiers)
	}
	if a.ColocationTier >= tiers && a.Colocation != placement.None {
		r.warn(path.Child("colocation-tier"), "there is no tier %d above the topology-labels", a.ColocationTier)
	}
}
