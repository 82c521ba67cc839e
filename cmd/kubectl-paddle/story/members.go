// SPDX-License-Identifier: Apache-2.0

package story

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Member is one pod of a job, as a row of a table.
type Member struct {
	Role     string
	Rank     int
	Pod      string
	Phase    string
	Node     string
	Address  string
	Restarts int32
	Age      string
}

// Members are the job's pods in the order of roles and ranks.
func Members(o *Objects) []Member {
	pods := slices.Clone(o.Pods)
	view.SortPods(pods)
	members := make([]Member, 0, len(pods))
	for _, pod := range pods {
		m := view.NewMember(pod)
		row := Member{Role: m.Role, Rank: m.Index, Pod: pod.Name, Phase: phaseOf(m), Node: pod.Spec.NodeName, Address: render.PaddleIP(pod),
			Age: o.since(pod.CreationTimestamp.Time)}
		if port := pod.Annotations[keys.Port]; port != "" && row.Address != "" {
			row.Address += ":" + port
		}
		for i := range pod.Status.ContainerStatuses {
			row.Restarts += pod.Status.ContainerStatuses[i].RestartCount
		}
		members = append(members, row)
	}
	return members
}

// phaseOf is a pod's state in one word; what holds it up, where something does.
func phaseOf(m *view.Member) string {
	if m.State == view.Starting {
		if w := view.Waiting(m.Pod); w != nil {
			return w.Reason
		}
	}
	words := map[view.State]string{
		view.Unplaced: "Pending", view.Starting: "Starting", view.Running: "Running", view.Succeeded: "Succeeded",
		view.Failed: "Failed", view.Unknown: "Unknown", view.Leaving: "Terminating",
	}
	word := words[m.State]
	if code, ok := exitCode(m.Pod); ok && m.State == view.Failed {
		word += " (exit code " + strconv.Itoa(int(code)) + ")"
	}
	return word
}

func exitCode(pod *corev1.Pod) (int32, bool) {
	for i := range pod.Status.ContainerStatuses {
		if end := pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode != 0 {
			return end.ExitCode, true
		}
	}
	return 0, false
}
