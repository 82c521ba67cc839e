// SPDX-License-Identifier: Apache-2.0

// Package diagnose finds out why a gang waits: which of its pods are missing, what the planner says about a gang that does
// not fit, and what refuses nodes to its pods. It returns reports and decides nothing.
package diagnose

import (
	"slices"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// PodsExist reports whether the pods of each minimum of a job exist.
func PodsExist(job *api.JobInfo) bool {
	return len(job.Tasks) > 0 && job.CheckTaskValid() && job.ValidTaskNum() >= job.MinAvailable
}

// NotCreated returns the report of a gang whose pods do not all exist.
func NotCreated(job *api.JobInfo, g paddlejob.Gang) report.Report {
	exist := func(c *roleCount) int32 { return c.created }
	return report.Report{Reason: report.WaitingForPods, Missing: missing(shortfall(job, g, exist), exist)}
}

// Pipelined reports whether every minimum has a node once terminating pods are deleted.
func Pipelined(job *api.JobInfo) bool { return len(job.Tasks) > 0 && paddlejob.Pipelined(job) }

// NotPlaced returns the report of a gang whose pods all exist, by what the session has found so far. Its reason is empty if
// the session has looked for no node.
func NotPlaced(job *api.JobInfo, g paddlejob.Gang) report.Report {
	if Pipelined(job) {
		return report.Report{Reason: report.TerminatingPods}
	}
	placed := func(c *roleCount) int32 { return c.placed }
	counts := shortfall(job, g, placed)
	r := report.Report{Missing: missing(counts, placed)}
	for _, c := range counts {
		switch {
		case c.placed >= c.minimum:
		case c.rejected != "" && r.Cause == "":
			r.Reason, r.Cause = report.InsufficientResources, c.rejected
		case c.gated > 0 && r.Reason == "":
			r.Reason = report.SchedulingGated
		}
	}
	if r.Reason == report.SchedulingGated {
		r.Value = report.List(gates(job))
		for _, gate := range gates(job) {
			r.Suggestions = append(r.Suggestions, report.Suggest(report.RemoveSchedulingGate, gate))
		}
	}
	return r
}

func gates(job *api.JobInfo) (gates []string) {
	for _, task := range job.Tasks {
		for _, gate := range task.Pod.Spec.SchedulingGates {
			gates = append(gates, gate.Name)
		}
	}
	slices.Sort(gates)
	return slices.Compact(gates)
}

// roleCount counts the pods of one role towards its minimum.
type roleCount struct {
	name     string
	minimum  int32
	created  int32  // pods that neither failed nor terminate
	placed   int32  // of those, pods that are bound, have succeeded, or found a node in this session
	gated    int32  // of those, pending pods with a scheduling gate
	rejected string // why the first pending pod found no node, empty if none was looked for
}

// shortfall counts the pods of each role. If each role has its minimum and the gang is nevertheless short of minMember, it
// counts all pods as one role.
func shortfall(job *api.JobInfo, g paddlejob.Gang, have func(*roleCount) int32) []*roleCount {
	roles := countRoles(job, g, func(group paddlejob.Group) string { return group.Role.Noun() })
	if slices.ContainsFunc(roles, func(c *roleCount) bool { return have(c) < c.minimum }) {
		return roles
	}
	all := &roleCount{name: "pod"}
	if counts := countRoles(job, g, func(paddlejob.Group) string { return "pod" }); len(counts) > 0 {
		all = counts[0]
	}
	all.minimum = max(1, job.MinAvailable)
	return []*roleCount{all}
}

// countRoles counts the pods of a gang by a name of their roles, in the gang's order.
func countRoles(job *api.JobInfo, g paddlejob.Gang, name func(paddlejob.Group) string) []*roleCount {
	var roles []*roleCount
	of := map[string]*roleCount{} // by task
	for _, group := range g {
		i := slices.IndexFunc(roles, func(c *roleCount) bool { return c.name == name(group) })
		if i < 0 {
			i = len(roles)
			roles = append(roles, &roleCount{name: name(group)})
		}
		roles[i].minimum += group.Min
		of[group.Task] = roles[i]
	}
	for _, task := range paddlejob.InOrder(job) {
		of[task.TaskRole].count(task, job.NodesFitErrors[task.UID])
	}
	return roles
}

// count adds one pod. rejected is why it found no node, nil if it found one or none was looked for.
func (c *roleCount) count(task *api.TaskInfo, rejected *api.FitErrors) {
	status := task.Status
	if status == api.Pending && task.LastTransaction != nil {
		status = task.LastTransaction.Status // before the gang's statement was discarded
	}
	switch {
	case paddlejob.Occupies(task.Status), status == api.Pipelined, paddlejob.Occupies(status):
		c.placed++
	case status != api.Pending:
		return
	case task.SchGated:
		c.gated++
	case rejected != nil && c.rejected == "":
		c.rejected = strings.TrimSuffix(rejected.Error(), ".")
	}
	c.created++
}

func missing(roles []*roleCount, have func(*roleCount) int32) *report.Missing {
	m := &report.Missing{}
	for _, c := range roles {
		if n := c.minimum - have(c); n > 0 {
			m.Roles = append(m.Roles, report.Role{Role: c.name, Minimum: int(c.minimum), Missing: int(n)})
		}
	}
	return m
}
