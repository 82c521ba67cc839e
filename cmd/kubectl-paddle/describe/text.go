// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// sentence returns a text as a sentence: it begins with a capital, unless its first word is a name or a command, and ends with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	first, _, _ := strings.Cut(text, " ")
	if first != "kubectl" && !strings.ContainsFunc(first, func(r rune) bool { return !unicode.IsLower(r) && r != ',' && r != ':' }) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// shortened returns the first line of a text, and of that at most so many characters; 0 is no limit.
func shortened(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); most > 0 && len(runes) > most {
		return strings.TrimRight(string(runes[:most-1]), " ,;:") + "…"
	}
	return text
}

// Some lists at most 5 names.
func Some(names []string) string {
	const maxNames = 5
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxNames], ", ") + " and " + Count(len(names)-maxNames, "other")
}

// Count returns a number with its noun: "1 pod", "2 pods".
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + report.Plural(n, noun) }

// Cause returns the reason for which a job does not run, as the controller summarizes it, and its message. They are "" if it runs.
func Cause(job *v1.PaddleJob, now time.Time) (reason, message string) {
	c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionReady)
	switch {
	case job.Status.Phase == "" && now.Sub(job.CreationTimestamp.Time) > unseen:
		return "NotProcessed", "the controller has not processed it"
	case c == nil || c.Status == metav1.ConditionTrue || job.DeletionTimestamp != nil:
		return "", ""
	}
	return c.Reason, shortened(c.Message, 0)
}

// PodRows returns a row for each pod of a job, in the order of roles and ranks: role, rank, name, status, node, address, restarts, age.
func PodRows(o *Objects) (rows [][]string) {
	pods := slices.Clone(o.Pods)
	observed.SortPods(pods)
	for _, pod := range pods {
		m := observed.NewRolePod(pod)
		address := builder.PaddleIP(pod)
		if port := pod.Annotations[v1.PortAnnotation]; port != "" && address != "" {
			address += ":" + port
		}
		restarts := int32(0)
		for i := range pod.Status.ContainerStatuses {
			restarts += pod.Status.ContainerStatuses[i].RestartCount
		}
		rows = append(rows, []string{
			m.Role, strconv.Itoa(m.Index), pod.Name, phaseOf(m), cmp.Or(pod.Spec.NodeName, "<none>"), cmp.Or(address, "<none>"),
			strconv.Itoa(int(restarts)), o.since(pod.CreationTimestamp.Time),
		})
	}
	return rows
}

// phaseOf returns the state of a pod, or why its containers do not start.
func phaseOf(m *observed.RolePod) string {
	if w := observed.Waiting(m.Pod); m.State == observed.Starting && w != nil {
		return w.Reason
	}
	word := map[observed.PodState]string{
		observed.Unscheduled: "Pending", observed.Starting: "Starting", observed.Running: "Running", observed.Succeeded: "Succeeded",
		observed.Failed: "Failed", observed.Unknown: "Unknown", observed.Terminating: "Terminating",
	}[m.State]
	for i := range m.Pod.Status.ContainerStatuses {
		if end := m.Pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode != 0 && m.State == observed.Failed {
			return word + " (exit code " + strconv.Itoa(int(end.ExitCode)) + ")"
		}
	}
	return word
}

// ConditionRows returns a row for each condition of a job: type, status, reason, age, message.
func ConditionRows(o *Objects) (rows [][]string) {
	for i := range o.Job.Status.Conditions {
		c := &o.Job.Status.Conditions[i]
		rows = append(rows, []string{c.Type, string(c.Status), c.Reason, o.since(c.LastTransitionTime.Time), shortened(c.Message, 0)})
	}
	return rows
}

// EventRows returns a row for each event, the oldest first: type, reason, age, object, message.
func EventRows(o *Objects) (rows [][]string) {
	events := slices.Clone(o.Events)
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	for i := range events {
		e := &events[i]
		rows = append(rows, []string{e.Type, e.Reason, o.since(e.LastTimestamp.Time), e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name, shortened(e.Message, 300)})
	}
	return rows
}

// ReadyPods returns how many pods of a role run, of how many: "2/3". It is "" if that is not known.
func ReadyPods(job *v1.PaddleJob, role string) string {
	of := map[string]*v1.ResourceStatus{builder.RolePS: job.Status.PS, builder.RoleWorker: job.Status.Worker, builder.RoleHeter: job.Status.Heter}
	if status := of[role]; status != nil {
		return status.Ready
	}
	return ""
}
