// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/opponents"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/play"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Names of the schedulers that are compared. Those of Volcano are set-ups; tuned.go has them.
const (
	stock        = "stock"
	bytesFirst   = "paddle-bytes"
	busiestFirst = "paddle-busiest"

	kueuePreferred = "kueue-tas"
	kueueRequired  = "kueue-tas-required"
	kaiPreferred   = "kai-topology"
	kaiRequired    = "kai-topology-required"
	cruxLike       = "crux-like"

	// The references: a search with full knowledge, and a bound that no scheduler can pass.
	oracle = "oracle"
	alone  = "alone"
)

// byDefault is the plugin with its default objective.
const byDefault = bytesFirst

// trials of the oracle for a job.
const trials = 1000

// Schedulers are all that are compared: opponents, references, and the plugin.
func Schedulers() []string {
	return slices.Concat(volcanos(), slices.Sorted(maps.Keys(rules())), []string{oracle, alone, bytesFirst, busiestFirst})
}

// rules are the opponents that are no set-ups of Volcano.
func rules() map[string]opponents.Rule {
	return map[string]opponents.Rule{
		kueuePreferred: opponents.Kueue(false), kueueRequired: opponents.Kueue(true),
		kaiPreferred: opponents.KAI(false), kaiRequired: opponents.KAI(true),
		cruxLike: opponents.Crux,
	}
}

// contender plays the jobs of a run.
type contender func(at *site.Site, drawn *workload.Drawn, seed uint64, samples int) (*play.Result, error)

// setup of a name, also of those that are played only if asked for.
func (s *Settings) setup(name string) (contender, error) {
	if rule, ok := s.rule(name); ok {
		return func(at *site.Site, drawn *workload.Drawn, seed uint64, samples int) (*play.Result, error) {
			return play.Rule(at, rule, drawn, seed, samples)
		}, nil
	}
	if name == alone {
		return func(at *site.Site, drawn *workload.Drawn, _ uint64, _ int) (*play.Result, error) {
			return play.Alone(at, s.Gbps, drawn), nil
		}, nil
	}
	if setup, ok := s.setups()[name]; ok {
		return func(at *site.Site, drawn *workload.Drawn, seed uint64, samples int) (*play.Result, error) {
			return play.Play(at, setup, drawn, seed, samples)
		}, nil
	}
	return nil, fmt.Errorf("unknown scheduler %q: want some of %v, or of %v", name, Schedulers(), slices.Sorted(maps.Keys(s.setups())))
}

// rule of a name.
func (s *Settings) rule(name string) (opponents.Rule, bool) {
	all := rules()
	all[oracle] = opponents.Oracle(trials, opponents.Kueue(false), opponents.KAI(false), opponents.Crux)
	rule, ok := all[name]
	return rule, ok
}

// paddle returns the set-up of the plugin with the bandwidths of the links, as its documentation asks.
func (s *Settings) paddle(objective string) cluster.Setup {
	widths := make([]string, len(s.Gbps))
	for tier, gbps := range s.Gbps {
		widths[tier] = fmt.Sprintf("%gGbps", gbps)
	}
	return cluster.Paddle(map[string]string{"objective": objective, "tier-bandwidths": strings.Join(widths, ",")})
}

// isPaddle reports whether a name is one of the plugin's.
func isPaddle(name string) bool { return strings.HasPrefix(name, "paddle-") }

// isReference reports whether a name is of a reference that no cluster can run.
func isReference(name string) bool { return name == oracle || name == alone }
