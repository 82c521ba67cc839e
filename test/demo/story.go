// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Phases in which a job has ended, of PaddleJobs and of Volcano Jobs.
var endPhases = []string{phaseCompleted, "Failed", "Terminated", "Aborted"}

const (
	phaseCompleted = "Completed"
	phasePending   = "Pending"
)

// Status is what a job's own object says of it. Reason is empty while there is nothing to explain.
type Status struct{ Mode, Phase, Reason string }

// Pod is one pod of a job. Node is empty until it is bound.
type Pod struct{ Name, Role, Node string }

// Story is what was seen of one job, in the order in which it was seen. Times count from the demo's start.
type Story struct {
	Job       Job
	Submitted time.Duration
	// Ended is 0 while the job has not.
	Ended  time.Duration
	Status Status
	pods   map[string]Pod
	// wrong is what must not happen and did.
	wrong  []string
	placed bool
}

// NewStory begins the story of a job.
func NewStory(job Job, submitted time.Duration) *Story {
	return &Story{Job: job, Submitted: submitted, pods: map[string]Pod{}}
}

// SeeStatus takes in the state of the job's object and returns a line for each change worth telling.
func (s *Story) SeeStatus(at time.Duration, now Status) []string {
	before := s.Status
	s.Status = now
	if s.Ended == 0 && slices.Contains(endPhases, now.Phase) {
		s.Ended = at
	}
	if now.Phase == before.Phase && now.Reason == before.Reason || now.Phase == "" {
		return nil
	}
	if now.Reason == "" {
		if now.Phase == before.Phase {
			return nil
		}
		return []string{now.Phase}
	}
	return []string{now.Phase + ": " + now.Reason}
}

// SeePod takes in the state of one of the job's pods. A pod that is gone keeps its last place.
func (s *Story) SeePod(pod Pod) []string {
	before, known := s.pods[pod.Name]
	if pod.Node == "" && known {
		return nil
	}
	s.pods[pod.Name] = pod
	if pod.Node == "" || pod.Node == before.Node {
		return nil
	}
	if s.Job.Stays {
		fault := fmt.Sprintf("pod %s was bound to %s although its gang does not fit", pod.Name, pod.Node)
		s.wrong = append(s.wrong, fault)
		return []string{fault}
	}
	if s.placed || s.bound() < s.Job.Total() {
		return nil
	}
	s.placed = true
	return []string{fmt.Sprintf("gang of %d placed", s.Job.Total())}
}

// Settled says whether nothing more needs to be waited for.
func (s *Story) Settled() bool {
	if s.Job.Stays {
		return s.Ended != 0 || len(s.wrong) > 0 || len(s.pods) == s.Job.Total() && s.Status.Reason != ""
	}
	return s.Ended != 0
}

// PodsOf returns the pods of a role, in the order of their indices.
func (s *Story) PodsOf(role string) []Pod {
	var pods []Pod
	for _, name := range slices.SortedFunc(maps.Keys(s.pods), byIndex) {
		if s.pods[name].Role == role {
			pods = append(pods, s.pods[name])
		}
	}
	return pods
}

func (s *Story) bound() int {
	bound := 0
	for _, pod := range s.pods {
		if pod.Node != "" {
			bound++
		}
	}
	return bound
}

// byIndex orders names that end in a number: worker-2 stands before worker-10.
func byIndex(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
