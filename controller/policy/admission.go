// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// unknownQueue says what is wrong with the queue, nil if it takes jobs. Volcano gives a Job of a queue that does not
// exist up after some tries, so such a Job must not be made.
func unknownQueue(v *view.View, name string) *render.Notice {
	queue := v.Queue(name)
	if queue == nil {
		return &render.Notice{Reason: ReasonQueueNotFound, Message: fmt.Sprintf(
			"queue %q does not exist: create it, or set spec.schedulingPolicy.queue to one that does (kubectl get queues)", name)}
	}
	if state := queue.Status.State; state != vcscheduling.QueueStateOpen {
		if state == "" {
			state = "not open yet"
		}
		return &render.Notice{Reason: ReasonQueueNotOpen, Message: fmt.Sprintf(
			"queue %q takes no jobs, it is %s: open it, or set spec.schedulingPolicy.queue to one that is open", name, state)}
	}
	return nil
}

// unknownPriority says which priority class does not exist, nil if all do. Pods with one that does not are refused by
// the API server one by one, after the gang's Volcano Job was accepted.
func unknownPriority(v *view.View, job *vcbatch.Job) *render.Notice {
	classes := []string{job.Spec.PriorityClassName}
	for i := range job.Spec.Tasks {
		classes = append(classes, job.Spec.Tasks[i].Template.Spec.PriorityClassName)
	}
	for _, class := range classes {
		if class == "" {
			continue
		}
		if _, ok := v.Priority(class); !ok {
			return &render.Notice{Reason: ReasonPriorityClassNotFound, Message: fmt.Sprintf(
				"priority class %q does not exist: create it, or name one that does (kubectl get priorityclasses)", class)}
		}
	}
	return nil
}
