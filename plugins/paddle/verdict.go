// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// class is what kind of reason keeps a job waiting. The set is closed: classes are reasons of conditions and events and
// labels of metrics.
type class string

// Before the job is let in: it has no pods yet, unless somebody else makes them.
const (
	classWaitingToBeEnqueued class = "WaitingToBeEnqueued" // nobody has refused it so far
	classQueueClosed         class = "QueueClosed"
	classQueueQuota          class = "QueueQuota"     // the queue's capability
	classNamespaceQuota      class = "NamespaceQuota" // a ResourceQuota
	classOvercommit          class = "Overcommit"     // the cluster has taken in what it may
	classRefused             class = "Refused"        // another plugin refuses it
)

// After that: the pods wait for what is not a matter of room.
const (
	classWaitingForPods   class = "WaitingForPods"  // no pod exists yet
	classNotEnoughPods    class = "NotEnoughPods"   // some do
	classSchedulingGates  class = "SchedulingGates" // hold pods back
	classQueueShare       class = "QueueShare"      // the queue has had its share of the cluster for now
	classUnknownTier      class = "UnknownTier"     // a limit names a tier that there is not
	classTopologyNotReady class = "TopologyNotReady"
)

// At last: the pods wait for room.
const (
	classNoRoom          class = "NoRoom"
	classTopologyLimit   class = "TopologyLimit"   // there is room, but not within networkTopology
	classColocationLimit class = "ColocationLimit" // there is room, but not with a server near each worker
	classEligibility     class = "Eligibility"     // there is room, but on nodes that the pods may not use
	classNoPlan          class = "NoPlan"          // there seems to be room, and no plan was found
	classPlanStale       class = "PlanStale"       // there was room, and the cluster has changed
	classEndingPods      class = "EndingPods"      // there will be room once pods that are ending are gone
)

// classPlaced is the reason of a condition that is true.
const classPlaced class = "Placed"

// passing tells whether jobs are often of that class for a moment on their way to their nodes.
func (c class) passing() bool {
	switch c {
	case classWaitingToBeEnqueued, classWaitingForPods, classNotEnoughPods, classPlanStale, classEndingPods:
		return true
	}
	return false
}

// verdict is why a job waits.
type verdict struct {
	class class
	// text is one sentence: for the conditions of the PodGroup and its pods, and for events.
	text string
	// details are more lines, for the condition of our own.
	details string
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
	job.JobFitErrors = waitsFor(job, p.gangs[job.UID], v.class)
}

// verdictOf is the verdict that an error holds, or one in the error's own words.
func verdictOf(err error) verdict {
	var v verdict
	switch {
	case errors.As(err, &v):
		return v
	case errors.Is(err, errLimit):
		return verdict{class: classUnknownTier, text: err.Error()}
	case errors.Is(err, placement.ErrNoFit), errors.Is(err, errHopeless), errors.Is(err, errNoNodes):
		return verdict{class: classNoRoom, text: err.Error()}
	}
	return verdict{class: classNoPlan, text: err.Error()}
}

// fromExplanation is the planner's explanation as a verdict. The amounts in it are those of the resources of a topology:
// CPU in thousandths, memory in bytes. Label is the number by which users call a tier; nil takes its name.
func fromExplanation(e *placement.Explanation, resources []string, label func(tier int) string) verdict {
	marked, numerals := inUnits(e, resources)
	_, details, _ := strings.Cut(marked.Details(), "\n") // its first line is the sentence, with other labels
	return verdict{
		class: classOf(e), text: numerals.words(marked.Sentence(label)), details: numerals.words(strings.Trim(details, "\n")),
	}
}

// classOf an explanation is what helps first, if that is a limit that may be lifted, else what is in the way.
func classOf(e *placement.Explanation) class {
	switch e.Cause() {
	case "":
		return classPlanStale
	case placement.RunningApart:
		return classTopologyLimit
	case placement.NoServer:
		return classColocationLimit
	case placement.NotFound:
		return classNoPlan
	}
	if len(e.Relaxations) > 0 {
		switch e.Relaxations[0].Change {
		case placement.HigherTier, placement.BothLimits:
			return classTopologyLimit
		case placement.PreferColocation:
			return classColocationLimit
		}
	}
	if e.Cause() == placement.NotEligible {
		return classEligibility
	}
	return classNoRoom
}
