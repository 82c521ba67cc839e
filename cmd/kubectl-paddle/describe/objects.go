// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Objects are what is known of one job. All but Job may be missing.
type Objects struct {
	// State has Job, VolcanoJob, PodGroup, Pods and Now.
	observed.State
	Queue *vcscheduling.Queue
	// MissingPriorityClasses are those of PriorityClasses that do not exist.
	MissingPriorityClasses []string
	// Ideal is where the gang would run if it had the cluster for itself, nil where that is not known.
	Ideal *report.Placement
	// Events are those about the job, its Volcano Job, its PodGroup and its pods.
	Events []corev1.Event
	// Unread names what could not be read, each with the reason.
	Unread []string
	// Catalog has the language of the sentences, English if it is nil.
	Catalog report.Catalog
}

// condition returns a condition of the job, nil if there is none.
func (o *Objects) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(o.Job.Status.Conditions, kind)
}

// holds returns a condition that is True, nil if it is not.
func (o *Objects) holds(kind string) *metav1.Condition {
	if c := o.condition(kind); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

// QueueOf returns the queue that a job was sent to, or will be.
func QueueOf(job *v1.PaddleJob) string {
	return cmp.Or(job.Status.Queue, ptr.Deref(job.Spec.SchedulingPolicy, v1.SchedulingPolicy{}).Queue)
}

// PriorityClasses returns those that the job names if it waits for one that does not exist.
func (o *Objects) PriorityClasses() (classes []string) {
	if c := o.holds(v1.ConditionStalled); c == nil || c.Reason != lifecycle.ReasonPriorityClassNotFound {
		return nil
	}
	classes = append(classes, ptr.Deref(o.Job.Spec.SchedulingPolicy, v1.SchedulingPolicy{}).PriorityClass)
	for _, role := range builder.Roles(o.Job) {
		classes = append(classes, role.Spec.Template.Spec.PriorityClassName)
	}
	slices.Sort(classes)
	return slices.DeleteFunc(slices.Compact(classes), func(class string) bool { return class == "" })
}

// since returns how long ago something was, in one or two units.
func (o *Objects) since(at time.Time) string {
	return duration.HumanDuration(max(o.Now.Sub(at), 0))
}

// reportOf returns what the scheduler's plugin reports: where a gang runs (True) or why it waits (False), nil if it does not.
func reportOf(group *vcscheduling.PodGroup, status corev1.ConditionStatus) *report.Report {
	if group == nil {
		return nil
	}
	for _, c := range group.Status.Conditions {
		if c.Type != report.Condition || c.Status != status {
			continue
		}
		if r := report.Decode(group.Annotations); r != nil && string(r.Reason) == c.Reason {
			return r
		}
		return &report.Report{Reason: report.Reason(c.Reason), Message: c.Message}
	}
	return nil
}

// place adds where a gang is and what a step of its training sends.
func (d *Description) place(group *vcscheduling.PodGroup) {
	r := reportOf(group, corev1.ConditionTrue)
	if r == nil {
		return
	}
	d.add(AboutPlace, r.Message, r.Details(d.catalog)...)
	if r.Placement != nil {
		for _, sentence := range r.Placement.Sentences() {
			d.add(AboutPlace, sentence)
		}
	}
}

// Spread returns the tiers above the nodes between whose domains a gang that runs sends something: another place might be faster.
func Spread(group *vcscheduling.PodGroup) (tiers []report.Tier) {
	if p := Placement(group); p != nil {
		for i, tier := range p.Tiers {
			if i > 0 && tier.Count > 1 && tier.Crossing > 0 {
				tiers = append(tiers, tier)
			}
		}
	}
	return tiers
}

// spread adds that a gang would send less over slower links on an empty cluster, if that is known.
func (d *Description) spread(o *Objects) {
	p := Placement(o.PodGroup)
	for _, tier := range Spread(o.PodGroup) {
		if o.Ideal != nil && p.Better(o.Ideal, tier.Name) {
			d.addText(AboutPlace, "why.slow", "n", strconv.Itoa(tier.Count), "domains", report.Domains(2, tier.Name), "amount", p.Amount(tier.Crossing), "ideal", o.Ideal.Traffic())
		}
	}
}

// Place returns where a gang runs and what a step of training sends, in sentences.
func Place(group *vcscheduling.PodGroup) (sentences []string) {
	d := &Description{catalog: report.English}
	d.place(group)
	for _, sentence := range d.Sentences {
		sentences = append(sentences, sentence.Text)
	}
	return sentences
}

// Placement returns where a gang runs, nil if it has no nodes or the scheduler does not report it.
func Placement(group *vcscheduling.PodGroup) *report.Placement {
	if r := reportOf(group, corev1.ConditionTrue); r != nil {
		return r.Placement
	}
	return nil
}

// shortened returns the first line of a text, and of that at most the given number of characters from its beginning and its end; 0 is no limit.
func shortened(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); most > 0 && len(runes) > most {
		return string(runes[:most/2]) + "…" + string(runes[len(runes)-(most-1)/2:])
	}
	return text
}

// Count returns a number with its noun: "1 pod", "2 pods".
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + report.Plural(n, noun) }

// unprocessed reports whether the controller has not written the status of a job yet.
func unprocessed(job *v1.PaddleJob) bool { return job.Status.ObservedGeneration == 0 }

// Cause returns the reason and the message of the condition Ready, with which the controller summarizes a job. They are NotProcessed if the
// controller has not seen a job for long, and "" if a job is being deleted or has no such condition.
func Cause(job *v1.PaddleJob, now time.Time) (reason, message string) {
	c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionReady)
	switch {
	case unprocessed(job) && now.Sub(job.CreationTimestamp.Time) > unseen:
		return "NotProcessed", "the controller has not processed it"
	case c == nil || job.DeletionTimestamp != nil:
		return "", ""
	}
	return c.Reason, shortened(c.Message, 0)
}

// PodRows returns a row for each pod of a job, in the order of roles and ranks: role, rank, name, status, node, address, restarts, age.
func PodRows(o *Objects) (rows [][]string) {
	for _, pod := range o.Pods {
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
	word := [...]string{"Pending", "Starting", "Running", "Succeeded", "Failed", "Unknown", "Terminating"}[m.State]
	for i := range m.Pod.Status.ContainerStatuses {
		if end := m.Pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode != 0 && m.State == observed.Failed {
			return word + " (exit code " + strconv.Itoa(int(end.ExitCode)) + ")"
		}
	}
	return word
}

// ConditionRows returns a row for each condition of a job: type, status, reason, age, message.
func ConditionRows(o *Objects) (rows [][]string) {
	for _, c := range o.Job.Status.Conditions {
		rows = append(rows, []string{c.Type, string(c.Status), c.Reason, o.since(c.LastTransitionTime.Time), shortened(c.Message, 0)})
	}
	return rows
}

// EventRows returns a row for each event, the oldest first: type, reason, age, object, message.
func EventRows(o *Objects) (rows [][]string) {
	oldestFirst := func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) }
	for _, e := range slices.SortedStableFunc(slices.Values(o.Events), oldestFirst) {
		rows = append(rows, []string{e.Type, e.Reason, o.since(e.LastTimestamp.Time), e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name, shortened(e.Message, 300)})
	}
	return rows
}

// ReadyPods returns how many pods of a role run, of how many: "2/3". It is "" if that is not known.
func ReadyPods(job *v1.PaddleJob, role string) string {
	of := map[string]*v1.ResourceStatus{builder.RolePS: job.Status.PS, builder.RoleWorker: job.Status.Worker, builder.RoleHeter: job.Status.Heter}
	return ptr.Deref(of[role], v1.ResourceStatus{}).Ready
}
