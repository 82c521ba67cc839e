// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// CommandPeriod is how long Volcano may take to do what it was told before it is told again.
const CommandPeriod = 15 * time.Second

// commandVerbs begin the names of commands.
var commandVerbs = map[vcbus.Action]string{
	vcbus.AbortJobAction:     "abort",
	vcbus.CompleteJobAction:  "complete",
	vcbus.RestartJobAction:   "restart",
	vcbus.ResumeJobAction:    "resume",
	vcbus.TerminateJobAction: "terminate",
}

// CommandName is the name of a command to a Volcano Job: always the same for the same occasion, so that one which Volcano
// has not read yet is not given twice.
func CommandName(action vcbus.Action, volcanoJob types.UID, occasion string) string {
	name := cmp.Or(commandVerbs[action], strings.ToLower(string(action))) + "-" + string(volcanoJob)
	if occasion != "" {
		name += "-" + occasion
	}
	return name
}

// command gives Volcano a command about the job, and looks again whether it did what it was told.
func (p *Plan) command(v *view.View, action vcbus.Action, occasion, reason, message string) {
	state := StateOf(v.VolcanoJob)
	if action == vcbus.SyncJobAction && WantsPodGroup(v.VolcanoJob.Status.State.Phase) {
		state = "" // pods that Volcano cannot make leave it as it is
	}
	owner := metav1.NewControllerRef(v.VolcanoJob, vcbatch.SchemeGroupVersion.WithKind("Job"))
	p.do(IssueCommand{Command: &vcbus.Command{
		ObjectMeta: metav1.ObjectMeta{
			Name:            CommandName(action, v.VolcanoJob.UID, occasion),
			Namespace:       v.VolcanoJob.Namespace,
			Labels:          map[string]string{keys.JobName: v.Job.Name},
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Action:       string(action),
		TargetObject: owner,
		Reason:       reason,
		Message:      message,
	}, State: state})
	p.lookAgainIn(CommandPeriod)
}
