// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Role is the pods of one task of a gang. Name is what users call one such pod; tasks may share it.
type Role struct {
	Task, Name string
	Minimum    int32
}

// Gang is a gang that waits, as a session sees it.
type Gang struct {
	Job *api.JobInfo
	// Roles are in the order in which their pods are placed.
	Roles []Role
}

// Pipelined reports whether every minimum has a node once terminating pods have gone.
func (g *Gang) Pipelined() bool { return len(g.Job.Tasks) > 0 && paddlejob.Pipelined(g.Job) }

// Minimum returns the pods without which the gang does not start: "2 servers and 8 workers"; "10 pods" where roles are not
// known yet.
func (g *Gang) Minimum() string {
	minimums := map[string]int{}
	for _, role := range g.Roles {
		minimums[role.Name] += int(role.Minimum)
	}
	var parts []string
	for _, role := range g.Roles {
		if n := minimums[role.Name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, report.Plural(n, role.Name)))
			delete(minimums, role.Name)
		}
	}
	if len(parts) == 0 {
		n := max(1, int(g.Job.MinAvailable))
		return fmt.Sprintf("%d %s", n, report.Plural(n, "pod"))
	}
	return report.List(parts)
}

// MissingPods returns the report of a gang whose pods do not all exist; false if they do.
func (g *Gang) MissingPods() (report.Report, bool) {
	if g.Job.CheckTaskValid() && g.Job.ValidTaskNum() >= g.Job.MinAvailable {
		return report.Report{}, false
	}
	counts := g.shortfall(roleCount.exist)
	return report.Report{
		Reason: report.WaitingForPods,
		Message: fmt.Sprintf("gang not started: %s exist; no pod is started until all minimums exist",
			formatCounts(counts, func(c roleCount) (int32, bool) { return c.created, true })),
		Missing: missing(counts, roleCount.exist),
	}, true
}

// NotCreated returns what is missing of a gang that has no pods, nil if its roles are not known.
func (g *Gang) NotCreated() *report.Missing {
	if len(g.Roles) == 0 {
		return nil
	}
	return missing(g.shortfall(roleCount.exist), roleCount.exist)
}

// NotPlaced returns the report of a gang whose pods all exist, by what the session has found so far. Its reason is empty if
// the session has looked for no node.
func (g *Gang) NotPlaced() report.Report {
	counts := g.shortfall(roleCount.placed)
	placed := formatCounts(counts, func(c roleCount) (int32, bool) { return c.placed(), c.tried() })
	reasons := reasonsOf(counts)
	why := strings.Join(reasons, "; ")
	r := report.Report{Reason: report.InsufficientResources, Missing: missing(counts, roleCount.placed)}
	switch {
	case g.Pipelined():
		r.Reason = report.TerminatingPods
	case len(reasons) == 0:
		r.Reason = ""
	case onlyGated(counts):
		r.Reason = report.SchedulingGated
		for _, gate := range g.gates() {
			r.Suggestions = append(r.Suggestions, report.Suggest(report.RemoveSchedulingGate, gate))
		}
	}
	switch {
	case placed == "":
		r.Message = "gang not started: " + why
	case r.Reason == report.TerminatingPods:
		r.Message = fmt.Sprintf("gang not started: %s fit once terminating pods are gone", placed)
	case slices.ContainsFunc(counts, func(c roleCount) bool { return c.running > 0 }):
		r.Message = fmt.Sprintf("gang incomplete: %s run or fit; missing pods wait until all minimums fit (%s)", placed, why)
	default:
		r.Message = fmt.Sprintf("gang not started: %s fit; no pod is started until all minimums fit (%s)", placed, why)
	}
	return r
}

// FitError returns the value of JobInfo.JobFitErrors for a gang that waits for a reason, which may be empty. Volcano writes it
// to the condition of each of the gang's pods, with an event, whenever it changes. It therefore has no amounts, which change
// with each pod of the cluster that starts or ends.
func (g *Gang) FitError(reason report.Reason) string {
	var names []string
	state := "gang not started"
	for _, role := range g.Roles {
		pods, pending := 0, 0
		for _, task := range g.Job.Tasks {
			switch {
			case task.TaskRole != role.Task:
			case paddlejob.Occupies(task.Status):
				state = "gang incomplete"
			case task.Status == api.Pending || task.Status == api.Pipelined:
				pending++
			}
			if task.TaskRole == role.Task {
				pods++
			}
		}
		name := report.Plural(max(pods, int(role.Minimum)), role.Name)
		if (pending > 0 || len(g.Job.Tasks) == 0) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	wait := " wait"
	if len(names) == 1 && !strings.HasSuffix(names[0], "s") {
		wait = " waits"
	}
	if len(names) == 0 {
		names, wait = []string{"pods"}, " wait"
	}
	if reason != "" {
		wait += " (" + string(reason) + ")"
	}
	return state + ": " + report.List(names) + wait + "; condition " + report.Condition + " of the PodGroup says what is missing"
}

// gates returns the scheduling gates of the gang's pods.
func (g *Gang) gates() (gates []string) {
	for _, task := range g.Job.Tasks {
		for _, gate := range task.Pod.Spec.SchedulingGates {
			gates = append(gates, gate.Name)
		}
	}
	slices.Sort(gates)
	return slices.Compact(gates)
}

// roleCount counts the pods of one role towards its minimum.
type roleCount struct {
	name      string
	minimum   int32
	created   int32  // pods that neither failed nor terminate
	running   int32  // of those, pods that are bound or have succeeded
	allocated int32  // of those, pending pods for which this session found a node
	gated     int32  // of those, pending pods with a scheduling gate
	reason    string // why the first pending pod found no node, empty if none was looked for
}

func (c roleCount) exist() int32  { return c.created }
func (c roleCount) placed() int32 { return c.running + c.allocated }

// tried reports whether the session came to any pod of the role. allocate stops at the first pod of a gang without a node.
func (c roleCount) tried() bool { return c.placed() > 0 || c.reason != "" }

// shortfall counts the pods of each role. If each role has its minimum and the gang is nevertheless short of minMember, it
// counts all pods as one role.
func (g *Gang) shortfall(have func(roleCount) int32) []roleCount {
	roles := g.countRoles(func(role Role) string { return role.Name })
	if g.Pipelined() || slices.ContainsFunc(roles, func(c roleCount) bool { return have(c) < c.minimum }) {
		return slices.DeleteFunc(roles, func(c roleCount) bool { return c.minimum == 0 })
	}
	all := g.countRoles(func(Role) string { return "pod" })
	all[0].minimum = g.Job.MinAvailable
	return all
}

// countRoles counts the pods of a gang by a name of their roles, in the gang's order.
func (g *Gang) countRoles(name func(Role) string) []roleCount {
	var roles []roleCount
	at := map[string]int{} // task to index in roles
	for _, role := range g.Roles {
		i := slices.IndexFunc(roles, func(c roleCount) bool { return c.name == name(role) })
		if i < 0 {
			i = len(roles)
			roles = append(roles, roleCount{name: name(role)})
		}
		roles[i].minimum += role.Minimum
		at[role.Task] = i
	}
	for _, task := range paddlejob.InOrder(g.Job) {
		roles[at[task.TaskRole]].count(task, g.Job.NodesFitErrors[task.UID])
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
	case paddlejob.Occupies(task.Status):
		c.running++
	case status == api.Pipelined || paddlejob.Occupies(status):
		c.allocated++
	case status != api.Pending:
		return
	case task.SchGated:
		c.gated++
	case rejected != nil && c.reason == "":
		c.reason = strings.TrimSuffix(rejected.Error(), ".")
	}
	c.created++
}

// onlyGated reports whether scheduling gates alone keep all roles below their minimums.
func onlyGated(roles []roleCount) bool {
	for _, c := range roles {
		if c.placed() < c.minimum && (c.reason != "" || c.placed()+c.gated < c.minimum) {
			return false
		}
	}
	return true
}

// reasonsOf returns the reasons for which roles are below their minimums.
func reasonsOf(roles []roleCount) []string {
	var reasons []string
	for _, c := range roles {
		if c.placed() >= c.minimum {
			continue
		}
		if c.reason != "" {
			reasons = append(reasons, c.plural()+": "+c.reason)
		}
		if c.gated > 0 {
			reasons = append(reasons, fmt.Sprintf("%s: %d held back by scheduling gates", c.plural(), c.gated))
		}
	}
	return reasons
}

// missing returns the roles below their minimums.
func missing(roles []roleCount, have func(roleCount) int32) *report.Missing {
	m := &report.Missing{}
	for _, c := range roles {
		if n := c.minimum - have(c); n > 0 {
			m.Roles = append(m.Roles, report.Role{Role: c.name, Minimum: int(c.minimum), Missing: int(n)})
		}
	}
	return m
}

// formatCounts returns "2 of 2 servers and 1 of 2 workers" of the roles for which number returns true. Pods beyond the minimum
// do not count.
func formatCounts(roles []roleCount, number func(roleCount) (int32, bool)) string {
	var parts []string
	for _, c := range roles {
		if n, ok := number(c); ok {
			parts = append(parts, fmt.Sprintf("%d of %d %s", min(n, c.minimum), c.minimum, c.plural()))
		}
	}
	return report.List(parts)
}

func (c roleCount) plural() string { return report.Plural(int(c.minimum), c.name) }
