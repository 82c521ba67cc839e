// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// FromExplanation returns the planner's explanation as a report. The amounts in it are those of the resources of a topology:
// CPU in thousandths, memory in bytes. label returns what users call a tier; nil takes its name.
func FromExplanation(e *placement.Diagnosis, label func(tier int) string) report.Report {
	e.SetUnits(unitFor)
	r := report.Report{Reason: reasonOf(e), Message: e.Why(label), Summary: e.Sentence(label), Missing: missingOf(e), Capacity: capacityOf(e)}
	for i, fits := range e.SuggestionTexts(label) {
		r.Suggestions = append(r.Suggestions, suggestionOf(&e.Suggestions[i], "it fits "+fits, label))
	}
	if len(r.Suggestions) == 0 && len(r.Missing.Resources) > 0 {
		short := r.Missing.Resources[0]
		r.Suggestions = append(r.Suggestions, report.Suggest(report.LowerRequest, short.Available+" of "+short.Name))
	}
	return r
}

// missingOf returns what an explanation says is missing.
func missingOf(e *placement.Diagnosis) *report.Missing {
	missing := &report.Missing{}
	for i := range e.Roles {
		if role := &e.Roles[i]; role.Missing > 0 {
			missing.Roles = append(missing.Roles, report.Role{Role: role.Name, Minimum: role.Minimum, Missing: role.Missing})
		}
	}
	if e.Plan != nil {
		return missing
	}
	for i := range e.Tiers[e.DecidingTier].Best[0].Blockers {
		for stop := &e.Tiers[e.DecidingTier].Best[0].Blockers[i]; stop != nil; stop = stop.Also {
			if stop.Resource == "" || stop.Resource == string(corev1.ResourcePods) || stop.Kind == placement.NoServerNearby {
				continue
			}
			available := stop.Free
			switch stop.Kind { //nolint:exhaustive // of the others all that is free counts
			case placement.Fragmented:
				available = stop.Most
			case placement.NoSingleNode:
				available = 0
			}
			short := report.Resource{
				Name: stop.Resource, Requested: quantityOf(stop.Resource, stop.Needed), Available: quantityOf(stop.Resource, available),
			}
			if !slices.ContainsFunc(missing.Resources, func(r report.Resource) bool { return r.Name == short.Name }) {
				missing.Resources = append(missing.Resources, short)
			}
		}
	}
	return missing
}

// capacityOf returns how much of a gang fits into the best domains of each tier.
func capacityOf(e *placement.Diagnosis) (capacity []report.Capacity) {
	for t := range e.Tiers {
		tier := report.Capacity{Tier: e.Tiers[t].Name}
		for b := range e.Tiers[t].Best {
			best := &e.Tiers[t].Best[b]
			domain := report.Domain{Name: best.Name}
			for r := range e.Roles {
				if needed := e.Roles[r].Minimum - e.Roles[r].Running; needed > 0 {
					domain.Roles = append(domain.Roles, report.Fits{Role: e.Roles[r].Name, Fits: best.Together[r], Needed: needed})
				}
			}
			tier.Domains = append(tier.Domains, domain)
		}
		capacity = append(capacity, tier)
	}
	return capacity
}

// suggestionOf returns a change with which a gang fits.
func suggestionOf(r *placement.Suggestion, text string, label func(tier int) string) report.Suggestion {
	s := report.Suggestion{Text: text}
	switch r.Change {
	case placement.HigherTier, placement.BothLimits:
		s.Kind = report.AllowTier
		if r.HighestTier > 0 && label != nil {
			s.Value = label(r.HighestTier)
		}
	case placement.PreferColocation:
		s.Kind = report.AllowColocationPreferred
	case placement.FewerMembers:
		s.Kind = report.FewerReplicas
		if len(r.Fewer) > 0 {
			s.Role, s.Value = r.Fewer[0].Name, strconv.Itoa(r.Fewer[0].Minimum)
		}
	case placement.MoreCapacity:
		s.Kind, s.Value = report.FreeResources, r.DomainName
	}
	return s
}

// quantityOf returns an amount of the planner as a quantity.
func quantityOf(name string, amount int64) string {
	return report.Quantity(corev1.ResourceName(name), volcanoAmount(name, max(0, amount)))
}

// unitFor returns the unit in which the planner's texts write a resource that is not counted in pieces.
func unitFor(resource string, largest int64) (placement.Unit, bool) {
	name := corev1.ResourceName(resource)
	if !report.Measured(name) {
		return placement.Unit{}, false
	}
	unit := report.UnitFor(name, volcanoAmount(resource, largest))
	return placement.Unit{One: unit.One, Many: unit.Many, Number: func(amount int64, up bool) string {
		return unit.Number(volcanoAmount(resource, amount), up)
	}}, true
}

// volcanoAmount converts an amount of the planner, which counts CPU in thousandths and storage in bytes, to Volcano's.
func volcanoAmount(resource string, amount int64) float64 {
	switch corev1.ResourceName(resource) {
	case corev1.ResourceCPU, corev1.ResourceMemory:
		return float64(amount)
	}
	return 1000 * float64(amount)
}

// reasonOf returns the limit that a change would lift, if the first suggestion is one, else what is in the way.
func reasonOf(e *placement.Diagnosis) report.Reason {
	switch e.BlockerKind() {
	case "":
		return report.AssignmentOutdated
	case placement.RunningApart:
		return report.TopologyConstraint
	case placement.NoServerNearby:
		return report.ColocationConstraint
	case placement.NotFound:
		return report.AssignmentNotFound
	}
	if len(e.Suggestions) > 0 {
		switch e.Suggestions[0].Change {
		case placement.HigherTier, placement.BothLimits:
			return report.TopologyConstraint
		case placement.PreferColocation:
			return report.ColocationConstraint
		}
	}
	if e.BlockerKind() == placement.NotEligible && e.DecidingTier < len(e.Tiers)-1 {
		return report.TopologyConstraint
	}
	return report.InsufficientResources
}
