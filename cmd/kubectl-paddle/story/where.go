// SPDX-License-Identifier: Apache-2.0

package story

import vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

// Place is where a gang runs and what a step of training sends, in the scheduler's words; nothing if it does not say.
func Place(group *vcscheduling.PodGroup) (sentences []string) {
	s := &Story{}
	s.place(&Objects{PodGroup: group})
	for _, sentence := range s.Sentences {
		sentences = append(sentences, sentence.Text)
	}
	return sentences
}
