// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"slices"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// tally counts the pods of one role towards its minimum.
type tally struct {
	name    string // what a data scientist calls one such pod
	min     int32
	created int32  // pods that are there and neither failed nor ending
	running int32  // of those, pods that are bound or have succeeded
	room    int32  // of those, pending pods for which this session found a node
	gated   int32  // of those, pending pods that a scheduling gate holds back
	reason  string // why the first pending pod found no node, "" if none was looked for
}

var roleNames = map[paddlejob.Role]string{
	paddlejob.Server: "server", paddlejob.Heter: "heter worker", paddlejob.Worker: "worker", paddlejob.Other: "other pod",
}

// missingPods says that a gang waits for pods to be created, "" when all of its minimums exist.
func missingPods(job *api.JobInfo, g paddlejob.Gang) string {
	if job.CheckTaskValid() && job.ValidTaskNum() >= job.MinAvailable {
		return ""
	}
	counts := short(job, g, func(t tally) int32 { return t.created })
	return fmt.Sprintf("gang not started: %s exist; no pod is started until all minimums exist",
		counted(counts, func(t tally) (int32, bool) { return t.created, true }))
}

// notPlaced says why a gang whose pods all exist is not started, in terms of what this session found so far.
func notPlaced(job *api.JobInfo, g paddlejob.Gang) string {
	counts := short(job, g, func(t tally) int32 { return t.running + t.room })
	found := counted(counts, func(t tally) (int32, bool) { return t.running + t.room, t.tried() })
	reasons := reasonsOf(counts)
	reason := strings.Join(reasons, "; ")
	switch {
	case found == "":
		return "gang not started: " + reason
	case paddlejob.Pipelined(job):
		return fmt.Sprintf("gang not started: %s have room once pods that are ending have freed it", found)
	case slices.ContainsFunc(counts, func(t tally) bool { return t.running > 0 }):
		return fmt.Sprintf("gang incomplete: %s run or have room; missing pods wait until all minimums fit (%s)", found, reason)
	default:
		return fmt.Sprintf("gang not started: %s have room; no pod is started until all minimums fit (%s)", found, reason)
	}
}

// waitsFor is JobInfo.JobFitErrors of a gang that waits for a reason, "" where that is not known. Volcano
// writes it to the condition of each of the gang's pods, with an event, whenever it changes: so it names the roles and the
// reason, and no amounts, which change with each pod in the cluster that starts or ends.
func waitsFor(job *api.JobInfo, g paddlejob.Gang, why report.Reason) string {
	var names []string
	state := "gang not started"
	for _, group := range g {
		pods, pending := 0, 0
		for _, task := range job.Tasks {
			switch {
			case task.TaskRole != group.Task:
			case paddlejob.Occupies(task.Status):
				state = "gang incomplete"
			case task.Status == api.Pending || task.Status == api.Pipelined:
				pending++
			}
			if task.TaskRole == group.Task {
				pods++
			}
		}
		if name := plural(max(pods, int(group.Min)), roleNames[group.Role]); (pending > 0 || len(job.Tasks) == 0) && !slices.Contains(names, name) {
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
	if why != "" {
		wait += " (" + string(why) + ")"
	}
	return state + ": " + inWords(names) + wait + "; condition " + string(conditionPlaced) + " of the PodGroup says what is missing"
}

// short is the tallies of the roles, unless each has its minimum and the gang is nevertheless short of the PodGroup's
// minMember: then it is one of all pods.
func short(job *api.JobInfo, g paddlejob.Gang, have func(tally) int32) []tally {
	counts := tallies(job, g, func(group paddlejob.Group) string { return roleNames[group.Role] })
	if paddlejob.Pipelined(job) || slices.ContainsFunc(counts, func(t tally) bool { return have(t) < t.min }) {
		return slices.DeleteFunc(counts, func(t tally) bool { return t.min == 0 })
	}
	all := tallies(job, g, func(paddlejob.Group) string { return "pod" })
	all[0].min = job.MinAvailable
	return all
}

// tallies counts the pods of a gang by name, in the gang's order.
func tallies(job *api.JobInfo, g paddlejob.Gang, name func(paddlejob.Group) string) []tally {
	var counts []tally
	at := map[string]int{} // task name to index in counts
	for _, group := range g {
		i := slices.IndexFunc(counts, func(t tally) bool { return t.name == name(group) })
		if i < 0 {
			i = len(counts)
			counts = append(counts, tally{name: name(group)})
		}
		counts[i].min += group.Min
		at[group.Task] = i
	}
	for _, task := range paddlejob.InOrder(job) {
		counts[at[task.TaskRole]].count(task, job.NodesFitErrors[task.UID])
	}
	return counts
}

// count adds one pod; refused is why it found no node, nil if it found one or none was looked for.
func (t *tally) count(task *api.TaskInfo, refused *api.FitErrors) {
	status := task.Status
	if status == api.Pending && task.LastTransaction != nil {
		status = task.LastTransaction.Status // what it was before the gang was given up
	}
	switch {
	case paddlejob.Occupies(task.Status):
		t.running++
	case status == api.Pipelined || paddlejob.Occupies(status):
		t.room++
	case status != api.Pending:
		return
	case task.SchGated:
		t.gated++
	case refused != nil && t.reason == "":
		t.reason = strings.TrimSuffix(refused.Error(), ".")
	}
	t.created++
}

// tried tells whether the session came to any pod of the role: allocate gives a gang up at the first that finds no node.
func (t tally) tried() bool {
	return t.running+t.room > 0 || t.reason != ""
}

// reasonsOf are the reasons for which roles are short of their minimum.
func reasonsOf(counts []tally) []string {
	var reasons []string
	for _, t := range counts {
		if t.running+t.room >= t.min {
			continue
		}
		if t.reason != "" {
			reasons = append(reasons, t.plural()+": "+t.reason)
		}
		if t.gated > 0 {
			reasons = append(reasons, fmt.Sprintf("%s: %d held back by scheduling gates", t.plural(), t.gated))
		}
	}
	return reasons
}

// counted writes "2 of 2 servers and 1 of 2 workers" of the roles for which number answers true; more pods than the
// minimum are not told.
func counted(counts []tally, number func(tally) (int32, bool)) string {
	var parts []string
	for _, t := range counts {
		if n, ok := number(t); ok {
			parts = append(parts, fmt.Sprintf("%d of %d %s", min(n, t.min), t.min, t.plural()))
		}
	}
	return inWords(parts)
}

// plural is the name for min pods.
func (t tally) plural() string {
	if t.min == 1 {
		return t.name
	}
	return t.name + "s"
}
