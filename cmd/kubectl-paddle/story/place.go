// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// place tells where the gang is and what a step of its training sends.
func (s *Story) place(o *Objects) {
	r := o.report(corev1.ConditionTrue)
	if r == nil {
		return
	}
	s.say(AboutPlace, r.Message, r.Details()...)
	if r.Placement != nil {
		for _, sentence := range r.Placement.Sentences() {
			s.say(AboutPlace, sentence)
		}
	}
}

// leftWaiting tells of pods beyond the minimum that have no nodes.
func (s *Story) leftWaiting(o *Objects) {
	if r := o.report(corev1.ConditionTrue); r != nil {
		s.say(AboutPods, r.Surplus)
	}
}

// Spread reports whether a gang that runs is in several domains of a tier and sends something between them, so that another
// place might be faster.
func Spread(o *Objects) bool {
	p := Placement(o.PodGroup)
	return p != nil && len(spread(p)) > 0
}

// spread are the tiers above the nodes of which a gang uses several domains.
func spread(p *report.Placement) (tiers []report.Tier) {
	for i, tier := range p.Tiers {
		if i > 0 && tier.Count > 1 && tier.Crossing > 0 {
			tiers = append(tiers, tier)
		}
	}
	return tiers
}

// spread tells that a gang would send less over slower links if it had the cluster for itself. It says nothing where that
// is not known.
func (s *Story) spread(o *Objects) {
	p := Placement(o.PodGroup)
	if p == nil || o.Ideal == nil {
		return
	}
	for _, tier := range spread(p) {
		if !p.Better(o.Ideal, tier.Name) {
			continue
		}
		where := fmt.Sprintf("its pods are in %d %s", tier.Count, tier.Domain(2))
		if wish := wishFor(o.Job, tier.Name); wish != "" {
			s.say(AboutPlace, "it is slower than it could be: "+wish+" could not be met, and "+where)
			continue
		}
		s.say(AboutPlace, fmt.Sprintf("its place is not the fastest: %s, and each step of training sends %s between them; on an empty cluster it would send %s",
			where, p.Amount(tier.Crossing), o.Ideal.Traffic()))
	}
}

// wishFor is the job's wish to be within one domain of a tier, empty if it has none.
func wishFor(job *v1.PaddleJob, tier string) string {
	policy := job.Spec.SchedulingPolicy
	if policy == nil || policy.NetworkTopology == nil || policy.NetworkTopology.Mode != v1.TopologySoft {
		return ""
	}
	t := policy.NetworkTopology
	switch {
	case t.HighestTierName != "" && tier == t.HighestTierName:
		return "the wish to be in one " + t.HighestTierName + " (networkTopology soft)"
	case t.HighestTierAllowed != nil && strings.TrimSpace(strings.TrimPrefix(tier, "tier")) == strconv.Itoa(*t.HighestTierAllowed):
		return "the wish to be in one domain of " + tier + " (networkTopology soft)"
	}
	return ""
}
