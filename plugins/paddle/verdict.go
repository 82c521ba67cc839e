// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// verdict is why a job waits, or where it runs.
type verdict struct {
	reason report.Reason
	// text is one sentence: for the conditions of the PodGroup and its pods, and for events.
	text string
	// details are more lines of the condition's message.
	details string
	// data is the rest of the report; nil where there is none.
	data *report.Report
}

// report is the verdict as it is written to the PodGroup.
func (v verdict) report() report.Report {
	var r report.Report
	if v.data != nil {
		r = *v.data
	}
	r.Reason = v.reason
	if r.Message == "" {
		r.Message = v.text
	}
	return r
}

// reported is a report as a verdict.
func reported(r report.Report) verdict {
	r.Message = r.Sentence()
	return verdict{reason: r.Reason, text: r.Message, data: &r}
}

// Error makes a verdict an error, so that whoever refuses a task can say why: refused finds it again.
func (v verdict) Error() string { return v.text }

// verdicts are what a session has found out about its jobs.
type verdicts map[api.JobID]verdict

// judge says why a job waits. The last verdict of a session counts; of a job that is placed after all, none does, but
// for the pods that it has beyond its minimums.
func (p *plugin) judge(job api.JobID, v verdict) { p.reasons.verdicts[job] = v }

// refused judges a job by the error for which its pods get no node.
func (p *plugin) refused(job *api.JobInfo, err error) {
	v := verdictOf(err)
	p.judge(job.UID, v)
	job.JobFitErrors = waitsFor(job, p.gangs[job.UID], v.reason)
}

// verdictOf is the verdict that an error holds, or one in the error's own words.
func verdictOf(err error) verdict {
	var v verdict
	switch {
	case errors.As(err, &v):
		return v
	case errors.Is(err, errLimit):
		return verdict{reason: report.UnknownTier, text: err.Error()}
	case errors.Is(err, errNoNodes):
		return reported(report.Report{Reason: report.NoReadyNodes})
	case errors.Is(err, placement.ErrNoFit), errors.Is(err, errHopeless):
		return verdict{reason: report.InsufficientResources, text: err.Error()}
	}
	return verdict{reason: report.NoPlan, text: err.Error()}
}

// fromExplanation is the planner's explanation as a verdict. The amounts in it are those of the resources of a topology:
// CPU in thousandths, memory in bytes. Label is the number by which users call a tier; nil takes its name.
func fromExplanation(e *placement.Explanation, label func(tier int) string) verdict {
	e.SetUnits(unitFor)
	r := &report.Report{Message: e.Why(label), Missing: missingOf(e), Capacity: capacityOf(e)}
	for i, fits := range e.Fits(label) {
		r.Suggestions = append(r.Suggestions, suggestionOf(&e.Relaxations[i], "it fits "+fits, label))
	}
	if len(r.Suggestions) == 0 && len(r.Missing.Resources) > 0 {
		short := r.Missing.Resources[0]
		r.Suggestions = append(r.Suggestions, report.Suggest(report.LowerRequest, short.Available+" of "+short.Name))
	}
	return verdict{reason: reasonOf(e), text: e.Sentence(label), data: r}
}

// missingOf is what an explanation says that is missing.
func missingOf(e *placement.Explanation) *report.Missing {
	missing := &report.Missing{}
	for i := range e.Roles {
		if role := &e.Roles[i]; role.Missing > 0 {
			missing.Roles = append(missing.Roles, report.Role{Role: role.Name, Minimum: role.Minimum, Missing: role.Missing})
		}
	}
	if e.Plan != nil {
		return missing
	}
	for i := range e.Tiers[e.Decisive].Best[0].Stops {
		for stop := &e.Tiers[e.Decisive].Best[0].Stops[i]; stop != nil; stop = stop.Also {
			if stop.Resource == "" || stop.Resource == string(corev1.ResourcePods) || stop.Cause == placement.NoServer {
				continue
			}
			available := stop.Free
			switch stop.Cause { //nolint:exhaustive // of the others all that is free counts
			case placement.Scattered:
				available = stop.Most
			case placement.NotTogether:
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

// capacityOf is how much of a gang fits into the best domains of each tier.
func capacityOf(e *placement.Explanation) (capacity []report.Capacity) {
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

// suggestionOf is a change with which a gang fits.
func suggestionOf(r *placement.Relaxation, text string, label func(tier int) string) report.Suggestion {
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
	case placement.MoreFree:
		s.Kind, s.Value = report.FreeResources, r.DomainName
	}
	return s
}

// quantityOf is an amount of the planner as a quantity.
func quantityOf(name string, amount int64) string {
	return report.Quantity(corev1.ResourceName(name), volcanoAmount(name, max(0, amount)))
}

// unitFor is the unit in which the planner's texts write a resource that is not counted in pieces.
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

// volcanoAmount is an amount of the planner, which counts CPU in thousandths and storage in bytes, as Volcano has it.
func volcanoAmount(resource string, amount int64) float64 {
	switch corev1.ResourceName(resource) {
	case corev1.ResourceCPU, corev1.ResourceMemory:
		return float64(amount)
	}
	return 1000 * float64(amount)
}

// reasonOf an explanation is what helps first, if that is a limit that may be lifted, else what is in the way.
func reasonOf(e *placement.Explanation) report.Reason {
	switch e.Cause() {
	case "":
		return report.PlanStale
	case placement.RunningApart:
		return report.TopologyConstraint
	case placement.NoServer:
		return report.ColocationConstraint
	case placement.NotFound:
		return report.NoPlan
	}
	if len(e.Relaxations) > 0 {
		switch e.Relaxations[0].Change {
		case placement.HigherTier, placement.BothLimits:
			return report.TopologyConstraint
		case placement.PreferColocation:
			return report.ColocationConstraint
		}
	}
	if e.Cause() == placement.NotEligible && e.Decisive < len(e.Tiers)-1 {
		return report.TopologyConstraint
	}
	return report.InsufficientResources
}
