// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// create makes the Volcano Job, or says why it cannot be made.
func (p *Plan) create(v *view.View, cfg render.Config) {
	wish := wishOf(v)
	if refused := render.Validate(v.Job, wish, cfg); len(refused) > 0 {
		p.Stalled = joined(refused[0].Reason, refused)
		return
	}
	if p.occupied(v) {
		return
	}
	job, warnings := render.Job(v.Job, wish, cfg)
	p.Warnings = warnings
	if p.Stalled = unknownQueue(v, job.Spec.Queue); p.Stalled != nil {
		return
	}
	if p.Stalled = unknownPriority(v, job); p.Stalled != nil {
		return
	}
	// The garbage collector then lets the pods go first, also when the PaddleJob is deleted in the background: Volcano
	// cannot tell a Job whose pods linger from the next of its name. It is the collector's own finalizer, and needs nobody
	// else to be taken off.
	job.Finalizers = []string{metav1.FinalizerDeleteDependents}
	markEnvironment(job, v.Job, cfg)
	// None are taken yet: a job may wait in its queue for days.
	if _, ok := p.choosePorts(v, cfg); !ok {
		return
	}
	if v.Wanted != nil {
		job.Annotations[keys.OwnPodGroup] = string(v.Wanted.UID)
	}
	if v.Job.Status.Recreations > 0 {
		job.Annotations[keys.Recreations] = strconv.Itoa(int(v.Job.Status.Recreations))
	}
	if v.Job.Status.Restarts > 0 {
		job.Annotations[keys.EarlierRestarts] = strconv.Itoa(int(v.Job.Status.Restarts))
	}
	if known(render.Intranet(v.Job, cfg), render.Elastic(v.Job)) {
		p.knownEnvironment(v, cfg)
	}
	p.do(CreateVolcanoJob{Job: job, Events: creationEvents(v, job.Spec.Queue, job.Spec.MinAvailable)})
}

func creationEvents(v *view.View, queue string, gang int32) []Event {
	events := []Event{{
		Type:   corev1.EventTypeNormal,
		Reason: ReasonVolcanoJobCreated,
		Message: fmt.Sprintf("created the Volcano Job in queue %q; pods are placed once there is room for %d of them at the same time",
			queue, gang),
	}}
	if v.Wanted != nil {
		events = append(events, podGroupTaken(v.Wanted))
	}
	return events
}

// occupied says whether objects are in the way of those that have to be made.
func (p *Plan) occupied(v *view.View) bool {
	for _, o := range v.Occupied {
		if !o.Leaving {
			p.Stalled = &render.Notice{Reason: ReasonNameTaken, Message: fmt.Sprintf(
				"a %s named %s exists and does not belong to this job: delete or rename it, or give this PaddleJob another name",
				o.Kind, o.Name)}
			p.lookAgainIn(unwatched)
			return true
		}
	}
	if len(v.Occupied) > 0 {
		p.Waiting = &render.Notice{Reason: ReasonPredecessor, Message: fmt.Sprintf(
			"the %s of an earlier job of this name is still being deleted", v.Occupied[0].Kind)}
		p.lookAgainIn(unwatched)
		return true
	}
	if len(v.Predecessors) > 0 {
		p.Waiting = &render.Notice{Reason: ReasonPredecessor,
			Message: "pods of an earlier job of this name are still there, for example " + v.Predecessors[0].Name}
		return true
	}
	if v.Forgetting > 0 {
		p.Waiting = &render.Notice{Reason: ReasonPredecessor, Message: "Volcano is forgetting an earlier job of this name"}
		p.lookAgainIn(v.Forgetting)
		return true
	}
	return false
}

// joined makes one notice of several.
func joined(reason string, notices []render.Notice) *render.Notice {
	texts := make([]string, 0, len(notices))
	for _, n := range notices {
		texts = append(texts, n.Message)
	}
	return &render.Notice{Reason: reason, Message: strings.Join(texts, "; ")}
}
