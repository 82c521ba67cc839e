// SPDX-License-Identifier: Apache-2.0

package story

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
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
	observed.SortPods(pods)
	members := make([]Member, 0, len(pods))
	for _, pod := range pods {
		m := observed.NewRolePod(pod)
		row := Member{Role: m.Role, Rank: m.Index, Pod: pod.Name, Phase: phaseOf(m), Node: pod.Spec.NodeName, Address: builder.PaddleIP(pod),
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
func phaseOf(m *observed.RolePod) string {
	if m.State == observed.Starting {
		if w := observed.Waiting(m.Pod); w != nil {
			return w.Reason
		}
	}
	words := map[observed.PodState]string{
		observed.Unscheduled: "Pending", observed.Starting: "Starting", observed.Running: "Running", observed.Succeeded: "Succeeded",
		observed.Failed: "Failed", observed.Unknown: "Unknown", observed.Terminating: "Terminating",
	}
	word := words[m.State]
	if code, ok := exitCode(m.Pod); ok && m.State == observed.Failed {
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
