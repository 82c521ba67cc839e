// SPDX-License-Identifier: Apache-2.0

package story

import (
	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Place is where a gang runs and what a step of training sends, in sentences; nothing if the scheduler does not report it.
func Place(group *vcscheduling.PodGroup) (sentences []string) {
	s := &Story{}
	s.place(&Objects{PodGroup: group})
	for _, sentence := range s.Sentences {
		sentences = append(sentences, sentence.Text)
	}
	return sentences
}

// Placement is where a gang runs, nil if it has no nodes or the scheduler does not report it.
func Placement(group *vcscheduling.PodGroup) *report.Placement {
	o := Objects{PodGroup: group}
	if r := o.report(corev1.ConditionTrue); r != nil {
		return r.Placement
	}
	return nil
}
