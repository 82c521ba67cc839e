// SPDX-License-Identifier: Apache-2.0

// Package lint checks a volcano-scheduler.conf: what Volcano's own loader and strict decoding say, the plugin's
// arguments, and settings that are valid and rarely meant. It needs no cluster.
package lint

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"volcano.sh/volcano/pkg/scheduler"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Result is what Check found.
type Result struct {
	Errors   []error
	Warnings []error
}

// Check checks a volcano-scheduler.conf, or each in the ConfigMaps of a manifest. It knows the actions and plugins that are
// registered with Volcano's framework. Lines of a ConfigMap count from the first of its text.
func Check(file []byte) Result {
	var r Result
	texts, err := config.Find(file)
	if err != nil {
		r.error(err)
	}
	for _, text := range texts {
		r.check(text)
	}
	return r
}

func (r *Result) check(text string) {
	parsed, ignored, err := config.Parse(text)
	if err != nil {
		r.error(err)
		return
	}
	for _, what := range ignored {
		r.error(errors.New(what))
	}
	if strings.Contains("\n"+strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "---")), "\n---") {
		r.error(errors.New("Volcano reads only the first document")) //nolint:staticcheck // a name begins it
	}
	if _, _, _, _, err := scheduler.UnmarshalSchedulerConf(text); err != nil {
		r.error(fmt.Errorf("Volcano rejects the configuration: %w", err)) //nolint:staticcheck // a name begins it
	}
	r.checkActions(parsed.Actions)
	r.checkPlugins(parsed.Tiers)
}

func (r *Result) error(err error) { r.Errors = append(r.Errors, err) }

func (r *Result) warn(path *field.Path, format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Errorf("%v: %w", path, fmt.Errorf(format, args...)))
}

// Print writes a line for each error and each warning, and one with their numbers. Each begins with the file's name.
func (r *Result) Print(to io.Writer, name string) error {
	var text strings.Builder
	for _, err := range r.Errors {
		fmt.Fprintf(&text, "%s: error: %v\n", name, err)
	}
	for _, err := range r.Warnings {
		fmt.Fprintf(&text, "%s: warning: %v\n", name, err)
	}
	fmt.Fprintf(&text, "%s: %d errors, %d warnings\n", name, len(r.Errors), len(r.Warnings))
	_, err := io.WriteString(to, text.String())
	return err
}

// checkActions is for what Volcano's loader accepts.
func (r *Result) checkActions(actions string) {
	path := field.NewPath("actions")
	all := strings.Split(actions, ",") // as Volcano does
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	allocate, preempt := slices.Index(all, "allocate"), slices.Index(all, "preempt")
	switch {
	case allocate < 0:
		r.error(field.Invalid(path, actions, "without allocate no job is placed"))
	case preempt >= 0 && preempt < allocate:
		r.warn(path, "preempt is before allocate: Volcano then reserves nodes for waiting gangs in each cycle and may bind none of them")
	}
}

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
				r.checkPaddle(&tier.Plugins[j], field.NewPath("tiers").Index(i).Child("plugins").Index(j), seen[networkPlugin])
			}
		}
	}
}

func (r *Result) checkPaddle(plugin *conf.PluginOption, path *field.Path, besideNetworkPlugin bool) {
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
