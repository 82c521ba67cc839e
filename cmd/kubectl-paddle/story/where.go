// SPDX-License-Identifier: Apache-2.0

package story

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// Place is where a gang runs and what a step of training sends, in the scheduler's words; nothing if it does not say.
func Place(group *vcscheduling.PodGroup) (sentences []string) {
	s := &Story{}
	s.place(&Objects{PodGroup: group})
	for _, sentence := range s.Sentences {
		sentences = append(sentences, sentence.Text)
	}
	return sentences
}

// Traffic is what a step of training sends over the network, in the scheduler's words: "3 times the model between nodes".
// Where links have a known width it is followed by what the busiest takes: "; the busiest link takes 0.16 s of each step, between nodes".
// Nothing if the gang has no nodes, or it does not say.
func Traffic(group *vcscheduling.PodGroup) (text string) {
	o := Objects{PodGroup: group}
	if c := o.placement(); c != nil && c.Status == corev1.ConditionTrue {
		for line := range strings.SplitSeq(c.Message, "\n") {
			if traffic, ok := strings.CutPrefix(line, sends); ok {
				text = traffic
			} else if strings.HasPrefix(line, busiest) {
				text += "; " + line
			}
		}
	}
	return text
}
