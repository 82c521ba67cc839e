// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"
)

// PluginName is the name that enables the plugin in volcano-scheduler.conf.
const PluginName = "paddle"

// plugin wires the decisions of this package into one scheduling session; it decides nothing itself.
type plugin struct {
	arguments arguments
	ssn       *framework.Session

	gangs    map[api.JobID]gang // Paddle jobs that have pending pods; all other jobs are left to Volcano
	ranks    map[api.TaskID]rank
	standIns *standIns
	tried    api.JobID // the job that was last asked about and not yet explained
}

var _ framework.Plugin = &plugin{}

// New builds the plugin for one scheduling session. Wrong arguments are logged and left at their defaults.
func New(raw framework.Arguments) framework.Plugin {
	arguments, err := parseArguments(raw)
	logArguments(err)
	return &plugin{
		arguments: arguments,
		gangs:     map[api.JobID]gang{},
		ranks:     map[api.TaskID]rank{},
		standIns:  newStandIns(),
	}
}

// Name implements framework.Plugin.
func (*plugin) Name() string { return PluginName }

// OnSessionOpen implements framework.Plugin.
func (p *plugin) OnSessionOpen(ssn *framework.Session) {
	p.ssn = ssn
	for _, job := range ssn.Jobs {
		if concerns(job) {
			p.openGang(job)
		}
	}
	p.standIns.makeRoom(ssn.Nodes)

	ssn.AddJobValidFn(PluginName, p.jobValid)
	ssn.AddOverusedFn(PluginName, p.overused)
	ssn.AddTaskOrderFn(PluginName, p.taskOrder)
	ssn.AddPrePredicateFn(PluginName, p.prePredicate)
	ssn.AddJobReadyFn(PluginName, p.jobReady)
	ssn.AddJobPipelinedFn(PluginName, p.jobPipelined)
}

// OnSessionClose implements framework.Plugin.
func (*plugin) OnSessionClose(*framework.Session) {}

// concerns tells whether there is anything to decide about a job.
func concerns(job *api.JobInfo) bool {
	return job.HasPendingTasks() && isPaddleJob(job)
}

func (p *plugin) openGang(job *api.JobInfo) {
	gang := newGang(job, p.arguments.taskRoles)
	gang.hold(job, p.arguments.taskRoles)
	p.standIns.take(job)
	p.gangs[job.UID] = gang
	for id, rank := range ranks(job, gang) {
		p.ranks[id] = rank
	}
	if ready(job) {
		return
	}
	// What holds for a job that the actions do not come to; explain says more about one that they do.
	if job.JobFitErrors = missingPods(job, gang); job.JobFitErrors == "" {
		job.JobFitErrors = notPlaced(job, gang)
	}
}

// jobValid is asked by every action before it looks at a job's tasks.
func (p *plugin) jobValid(obj any) *api.ValidateResult {
	job, gang, ok := p.gang(obj)
	if !ok {
		return nil
	}
	if missing := missingPods(job, gang); missing != "" {
		return &api.ValidateResult{Reason: v1beta1.NotEnoughPodsOfTaskReason, Message: missing}
	}
	p.standIns.show(job)
	return nil
}

// overused finds no queue overused. It is asked before each job of a queue is placed, after the job before was.
func (p *plugin) overused(any) bool {
	p.standIns.hide(p.ssn.Jobs)
	p.explain()
	return false
}

// prePredicate refuses no task.
func (p *plugin) prePredicate(task *api.TaskInfo) error {
	p.standIns.hide(p.ssn.Jobs)
	if _, ok := p.gangs[task.Job]; ok {
		p.tried = task.Job
	}
	return nil
}

// taskOrder orders the pods of one gang.
func (p *plugin) taskOrder(l, r any) int {
	left, lok := l.(*api.TaskInfo)
	right, rok := r.(*api.TaskInfo)
	if !lok || !rok || left.Job != right.Job {
		return 0
	}
	leftRank, lok := p.ranks[left.UID]
	rightRank, rok := p.ranks[right.UID]
	if !lok || !rok {
		return 0
	}
	return leftRank.compare(rightRank)
}

func (p *plugin) jobReady(obj any) bool {
	job, _, ok := p.gang(obj)
	return !ok || ready(job)
}

// jobPipelined rejects or abstains: a permission would keep plugins in later tiers from being asked.
func (p *plugin) jobPipelined(obj any) int {
	job, _, ok := p.gang(obj)
	if ok && !pipelined(job) {
		return util.Reject
	}
	return util.Abstain
}

// explain writes why the job that was tried last is not started, into what gang writes to the PodGroup's condition and
// Volcano to the pods' conditions and events.
func (p *plugin) explain() {
	job, gang, ok := p.gang(p.ssn.Jobs[p.tried])
	p.tried = ""
	switch {
	case !ok:
	case ready(job):
		job.JobFitErrors = ""
	default:
		job.JobFitErrors = notPlaced(job, gang)
	}
}

// gang is the gang of a job, and false for a job that is left to Volcano.
func (p *plugin) gang(obj any) (*api.JobInfo, gang, bool) {
	job, ok := obj.(*api.JobInfo)
	if !ok || job == nil {
		return nil, nil, false
	}
	found, ok := p.gangs[job.UID]
	return job, found, ok
}
