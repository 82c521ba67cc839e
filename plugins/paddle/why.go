// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"strconv"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxExplained is how many jobs are explained anew in one session: the planner looks for what would help by planning, and
// must not spend more time on those that wait than on those that start. The others keep what was said last.
const maxExplained = 8

// explanations are the verdicts on jobs without room, from session to session.
type explanations struct {
	most     int // that are made anew in one session
	session  int
	told     map[api.JobID]told
	now      map[api.JobID]told // what was asked for in this session: the rest is forgotten
	explains int                // of this session
}

type told struct {
	verdict verdict
	session int
}

func newExplanations() *explanations {
	return &explanations{most: maxExplained, told: map[api.JobID]told{}, now: map[api.JobID]told{}}
}

// next begins a session.
func (e *explanations) next() {
	e.session++
	e.told, e.now, e.explains = e.now, map[api.JobID]told{}, 0
}

// of is the verdict on a job, explained anew if its turn has come: jobs take turns, so that no text is older than it must.
func (e *explanations) of(job api.JobID, explain func() (verdict, error)) (verdict, bool) {
	if said, ok := e.now[job]; ok {
		return said.verdict, true
	}
	said, ok := e.told[job]
	age := e.session - said.session
	if e.explains < e.most && (!ok || age*e.most >= len(e.told)) {
		e.explains++
		if v, err := explain(); err == nil {
			said, ok = told{verdict: v, session: e.session}, true
		}
	}
	if ok {
		e.now[job] = said
	}
	return said.verdict, ok
}

// why is the error for pods of a plan that has no room: in the planner's words, if there is time for them.
func (c *course) why(p *plan) error {
	if !errors.Is(p.err, errHopeless) {
		return p.err
	}
	if v, ok := c.explained(p.job, func() (verdict, error) { return c.explain(p) }); ok {
		return v
	}
	return p.err
}

// explained is an explanation of this session, or of an earlier one where this has no time for it.
func (c *course) explained(job *api.JobInfo, explain func() (verdict, error)) (verdict, bool) {
	return c.explanations.of(job.UID, func() (v verdict, err error) {
		of := workOn{metrics.PartExplanation, job.UID}
		if err := c.guard.refuses(of); err != nil {
			return v, err
		}
		err = c.guard.recovered(of, func() error {
			v, err = explain()
			return err
		})
		if errors.Is(err, errPanicked) {
			c.lost()
		}
		return v, err
	})
}

// explain asks the planner why a plan's pods have no room.
func (c *course) explain(p *plan) (verdict, error) {
	blocked, found := c.blocked(p.job)
	if found && blocked.Reason != report.InsufficientResources {
		return reported(blocked), nil
	}
	t := c.network.Topology()
	mark := t.Begin()
	defer c.rollback(t, mark)
	if err := c.prepare(p, t, p.future); err != nil {
		return verdict{}, err
	}
	e, err := search(c.guard, workOn{metrics.PartExplanation, p.job.UID}, c.lost, func(stop func() bool) (*placement.Explanation, error) {
		return placement.Explain(t, &p.cast.demand, placement.Options{Objective: c.arguments.Objective, Stop: stop})
	})
	if err != nil {
		return verdict{}, fmt.Errorf("explain why job %s has no room: %w", p.job.UID, err)
	}
	v := fromExplanation(e, t.Resources(), c.tierLabel)
	if found && v.reason == report.InsufficientResources {
		if v.data.Nodes = blocked.Nodes; e.Cause() == placement.NotEligible { // the nodes that the pods may use are full
			blocked.Suggestions, blocked.Capacity = v.data.Suggestions, v.data.Capacity
			v = reported(blocked)
		}
	}
	return v, nil
}

// tierLabel is what users write for a placement tier in networkTopology: its number, or its name where it has none.
func (c *course) tierLabel(tier int) string {
	for number := 1; number <= maxTierNumber; number++ {
		if is, err := c.network.Tier(number); err == nil && is == tier {
			return strconv.Itoa(number)
		}
	}
	return c.network.TierNames()[tier]
}

// maxTierNumber is up to which number tiers are looked for; HyperNodes may be numbered with gaps.
const maxTierNumber = 32
