// SPDX-License-Identifier: Apache-2.0

package story

import (
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Unplaced says why a gang has no nodes and what helps, by what the scheduler's plugin reports; nothing if it reports
// nothing.
func Unplaced(group *vcscheduling.PodGroup) []Sentence {
	s := &Story{}
	s.unplaced(&Objects{Job: &v1.PaddleJob{}, PodGroup: group})
	return s.Sentences
}
