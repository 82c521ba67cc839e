// SPDX-License-Identifier: Apache-2.0

package story

import (
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Unplaced says why a gang has no nodes and what helps, by what the scheduler's plugin wrote to its PodGroup; nothing if it
// wrote nothing.
func Unplaced(group *vcscheduling.PodGroup) []Sentence {
	s := &Story{}
	class := s.unplaced(&Objects{Job: &v1.PaddleJob{}, PodGroup: group})
	if help := helps[class]; help != "" {
		s.say(AboutHelp, help)
	}
	return s.Sentences
}
