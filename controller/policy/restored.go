// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// ReasonRestored is of a job that had ended before it was restored without its status.
const ReasonRestored = "Restored"

// NoteFinalStatus annotates a PaddleJob that has ended.
type NoteFinalStatus struct{ Value string }

func (NoteFinalStatus) action() {}

// noteFinalStatus records the end of a job where backups keep it: they leave the status out. A PaddleJob that another object
// controls is created by that object's controller, without the annotation.
func (p *Plan) noteFinalStatus(v *view.View) {
	value := string(v.Job.Status.Phase) + " " + render.SpecHash(v.Job)
	if metav1.GetControllerOf(v.Job) == nil && v.Job.Annotations[keys.FinalStatus] != value {
		p.do(NoteFinalStatus{Value: value})
	}
}

// restored reports whether the job has no status and had ended with this spec before. Whoever forges the annotation stops
// a job of their own.
func (p *Plan) restored(v *view.View) bool {
	phase, hash, _ := strings.Cut(v.Job.Annotations[keys.FinalStatus], " ")
	if v.Job.Status.Phase != "" || !render.SameSpec(hash, v.Job) || (phase != string(v1.Completed) && phase != string(v1.Failed)) {
		return false
	}
	p.RestoredPhase = v1.Phase(phase)
	p.RestoredMessage = fmt.Sprintf("the job was %s before it was restored or copied: to run it, create it without the annotation %s",
		phase, keys.FinalStatus)
	return true
}
