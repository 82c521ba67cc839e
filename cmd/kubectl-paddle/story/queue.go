// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// queue tells of the queue what a job that waits in it wants to know.
func (s *Story) queue(o *Objects) {
	q := o.Queue
	if q == nil {
		return
	}
	state := strings.ToLower(string(q.Status.State))
	if state == "" {
		state = "of an unknown state"
	}
	text := fmt.Sprintf("its queue %q is %s", q.Name, state)
	if used := usage(q); len(used) > 0 {
		text += ", and uses " + strings.Join(used, ", ")
	}
	s.say(AboutQueue, text)
}

// usage is what a queue uses of what it may use.
func usage(q *vcscheduling.Queue) []string {
	var names []string
	for name := range q.Spec.Capability {
		names = append(names, string(name))
	}
	slices.Sort(names)
	var used []string
	for _, name := range names {
		most := q.Spec.Capability[corev1.ResourceName(name)]
		now := q.Status.Allocated[corev1.ResourceName(name)]
		used = append(used, fmt.Sprintf("%s of %s %s", now.String(), most.String(), name))
	}
	return used
}
