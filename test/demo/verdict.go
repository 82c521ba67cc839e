// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Node is what the demo knows of a node.
type Node struct {
	Rack   string
	Labels map[string]string
}

// Faults returns in what the story differs from how the job should end; none if it ended as it should.
func (s *Story) Faults(nodes map[string]Node) []string {
	faults := slices.Clone(s.wrong)
	if s.Status.Mode != s.Job.Mode {
		faults = append(faults, fmt.Sprintf("its mode is %q, not %q", s.Status.Mode, s.Job.Mode))
	}
	if s.Job.Stays {
		return append(faults, s.pendingFaults()...)
	}
	if s.Status.Phase != phaseCompleted {
		faults = append(faults, fmt.Sprintf("its phase is %q, not %q%s", s.Status.Phase, phaseCompleted, after(": ", s.Status.Reason)))
	}
	for _, role := range s.Job.Roles {
		faults = append(faults, s.roleFaults(role, nodes)...)
	}
	return faults
}

func (s *Story) pendingFaults() []string {
	var faults []string
	if s.Status.Phase != phasePending {
		faults = append(faults, fmt.Sprintf("its phase is %q, not %q", s.Status.Phase, phasePending))
	}
	if s.Status.Reason == "" {
		faults = append(faults, "it gives no reason for being pending")
	}
	if len(s.pods) != s.Job.Total() {
		faults = append(faults, fmt.Sprintf("it has %d pods, not %d", len(s.pods), s.Job.Total()))
	}
	return faults
}

func (s *Story) roleFaults(role Role, nodes map[string]Node) []string {
	var faults []string
	placed := 0
	for _, pod := range s.PodsOf(role.Name) {
		if pod.Node == "" {
			continue
		}
		placed++
		for _, key := range slices.Sorted(maps.Keys(s.Job.NodeLabels)) {
			if got, want := nodes[pod.Node].Labels[key], s.Job.NodeLabels[key]; got != want {
				faults = append(faults, fmt.Sprintf("pod %s ran on %s, where the label %s is %q, not %q", pod.Name, pod.Node, key, got, want))
			}
		}
	}
	if placed != role.Pods {
		faults = append(faults, fmt.Sprintf("%d pods of role %s were placed, not %d", placed, role.Name, role.Pods))
	}
	return faults
}

// conclusion says in words how the demo went, and where to look if it went wrong.
func conclusion(faults []string, logs string) string {
	if len(faults) == 0 {
		return "Every job ended as it should."
	}
	return "Not every job ended as it should:\n  " + strings.Join(faults, "\n  ") + "\nThe logs of all components are in " + logs + "."
}

// after puts what separates it before a text that is not empty.
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}
