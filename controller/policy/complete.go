// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// CompleteGrace is how long Volcano may take to end a job whose workers have succeeded. It decides that when the last of
// them ends and never again, so a Volcano that was restarted just then would let the servers run for ever.
const CompleteGrace = 15 * time.Second

// CommandName is the name of the command that ends a Volcano Job: always the same, so that one which Volcano has not read
// yet is not given twice.
func CommandName(volcanoJob types.UID) string { return "complete-" + string(volcanoJob) }

// complete tells Volcano to end a job whose workers have succeeded.
func (p *Plan) complete(v *view.View) {
	if !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || !v.Succeeded() {
		return
	}
	if left := CompleteGrace - v.SucceededFor; left > 0 {
		p.LookAgain = left
		return
	}
	p.LookAgain = CompleteGrace
	owner := metav1.NewControllerRef(v.VolcanoJob, vcbatch.SchemeGroupVersion.WithKind("Job"))
	p.do(IssueCommand{Command: &vcbus.Command{
		ObjectMeta: metav1.ObjectMeta{
			Name:            CommandName(v.VolcanoJob.UID),
			Namespace:       v.VolcanoJob.Namespace,
			Labels:          map[string]string{keys.JobName: v.Job.Name},
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Action:       string(vcbus.CompleteJobAction),
		TargetObject: owner,
		Reason:       "WorkersSucceeded",
		Message:      "every worker has succeeded",
	}})
}
