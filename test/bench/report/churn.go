// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
)

// churnMeasures are shown of each load and scheduler.
var churnMeasures = []struct {
	name, unit string
	more       bool
	of         func(*live.Churn) float64
}{
	{"pods bound", "pods per second", true, func(c *live.Churn) float64 { return c.Bound }},
	{"load held", "of all GPUs", true, func(c *live.Churn) float64 { return c.Held }},
	{"99 of 100 gangs are bound within", "s", false, func(c *live.Churn) float64 { return c.GangWait.P99 }},
	{"99 of 100 pods without a gang are bound within", "s", false, func(c *live.Churn) float64 { return c.PodWait.P99 }},
	{"jobs not bound at the end", "", false, func(c *live.Churn) float64 { return float64(c.Waiting) }},
	{"99 of 100 of another user's writes are answered within", "s", false, func(c *live.Churn) float64 { return c.Others.Write.P99 }},
	{"99 of 100 of another user's reads are answered within", "s", false, func(c *live.Churn) float64 { return c.Others.Read.P99 }},
	{"another user's requests that failed", "", false, func(c *live.Churn) float64 { return float64(c.Others.Failed) }},
	{"bound pods without an Event", "", false, func(c *live.Churn) float64 { return float64(c.Silent) }},
	{"Events logged as dropped", "", false, func(c *live.Churn) float64 { return float64(c.Dropped) }},
}

// churn shows what users of a cluster notice while jobs come and go.
func (s *Section) churn(r *live.Report) {
	for i := range r.Churn {
		c := &r.Churn[i]
		of := fmt.Sprintf(", churn of %.0f s, %d nodes, load %g, %s", c.Seconds, c.Nodes, c.Load, c.Scheduler)
		for _, m := range churnMeasures {
			s.figure(m.name+of, m.unit, m.more, m.of(c))
		}
		for _, user := range slices.Sorted(maps.Keys(c.Writes)) {
			s.figure("writes of "+user+of, "per pod", false, c.Writes[user])
		}
		for _, user := range slices.Sorted(maps.Keys(c.Events)) {
			s.figure("Events of "+user+of, "per pod", false, c.Events[user])
		}
		if len(c.Processes) > 0 {
			begin, end := c.Processes[0], c.Processes[len(c.Processes)-1]
			for _, name := range slices.Sorted(maps.Keys(end)) {
				s.figure("processor time of "+name+of, "s", false, end[name].CPU)
				s.figure("memory of "+name+" at the beginning"+of, "MiB", false, begin[name].RSS)
				s.figure("memory of "+name+" at the end"+of, "MiB", false, end[name].RSS)
			}
		}
		if f := c.Failover; f != nil {
			s.figure("scheduler killed, until the next binding"+of, "s", false, f.Scheduler)
			s.figure("controller killed, until the next Volcano Job"+of, "s", false, f.Controller)
		}
	}
}
