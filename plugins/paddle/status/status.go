// SPDX-License-Identifier: Apache-2.0

// Package status writes what is known about a gang to its PodGroup: the plugin's condition, the report, and events.
package status

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// minWriteInterval is the least number of sessions, which are seconds as a rule, between two writes of a condition that
// differ in the message only. Amounts change each second.
const minWriteInterval = 10

// conditionType is the type of the plugin's condition. Nobody else writes it.
const conditionType scheduling.PodGroupConditionType = report.Condition

// Writer writes the status of PodGroups. It remembers what was written about each job, from session to session, because that
// may come back late from the API server. It forgets jobs that a session does not write about.
type Writer struct {
	// Recorder sends the events. If it is nil, the first event makes one.
	Recorder record.EventRecorder
	session  int
	jobs     map[types.UID]*jobStatus // of this session, by PodGroup
	last     map[types.UID]*jobStatus // of the last one
}

// NewWriter returns a Writer that has written nothing.
func NewWriter() *Writer {
	return &Writer{jobs: map[types.UID]*jobStatus{}, last: map[types.UID]*jobStatus{}}
}

// StartSession starts a session.
func (w *Writer) StartSession() {
	w.session++
	w.last, w.jobs = w.jobs, map[types.UID]*jobStatus{}
}

// Waiting writes why a gang waits.
func (w *Writer) Waiting(ssn *framework.Session, job *api.JobInfo, r report.Report) {
	if w.allow(job.PodGroup, r.Reason) {
		w.record(ssn, job, r.Reason, r.Text())
	}
	w.write(ssn, job, r, false)
}

// Placed writes where a gang runs. moved reports that pods were placed in this session.
func (w *Writer) Placed(ssn *framework.Session, job *api.JobInfo, r report.Report, moved bool) {
	if w.allowPlaced(job.PodGroup) {
		w.record(ssn, job, r.Reason, r.Text())
	}
	w.write(ssn, job, r, moved)
}

// InvalidAnnotations sends an event about annotations of a job that cannot be parsed; err is nil if all can.
func (w *Writer) InvalidAnnotations(ssn *framework.Session, job *api.JobInfo, err error) {
	if w.allowInvalid(job.PodGroup, err) {
		w.record(ssn, job, report.InvalidAnnotation, strings.ReplaceAll(err.Error(), "\n", "; ")+"; the default holds")
	}
}

// Condition returns the plugin's condition of a PodGroup, false if there is none.
func Condition(group *api.PodGroup) (scheduling.PodGroupCondition, bool) {
	conditions := group.Status.Conditions
	at := slices.IndexFunc(conditions, func(c scheduling.PodGroupCondition) bool { return c.Type == conditionType })
	if at < 0 {
		return scheduling.PodGroupCondition{}, false
	}
	return conditions[at], true
}

// conditionFor returns the condition for a report.
func conditionFor(r *report.Report) scheduling.PodGroupCondition {
	status := corev1.ConditionFalse
	if r.Reason == report.Placed {
		status = corev1.ConditionTrue
	}
	return scheduling.PodGroupCondition{Type: conditionType, Status: status, Reason: string(r.Reason), Message: r.ConditionMessage()}
}

// write writes the condition for a report in place of the one that a PodGroup has, if they differ, and with it the report.
// Volcano writes both with one update of the PodGroup, if the condition has changed.
func (w *Writer) write(ssn *framework.Session, job *api.JobInfo, r report.Report, moved bool) {
	now := conditionFor(&r)
	had, _ := Condition(job.PodGroup)
	if !w.allowWrite(job.PodGroup, now, moved) {
		return
	}
	now.TransitionID, now.LastTransitionTime = string(ssn.UID), metav1.Now()
	if now.Status == corev1.ConditionTrue {
		now.LastTransitionTime = beforeScheduled(job.PodGroup.Status.Conditions, now)
	}
	if had.Status == now.Status && had.Reason == now.Reason {
		now.LastTransitionTime = had.LastTransitionTime // since then it waits for the same reason
	}
	if err := ssn.UpdatePodGroupCondition(job, &now); err != nil {
		klog.ErrorS(err, "Failed to write the condition of a job", "job", klog.KRef(job.Namespace, job.Name))
		return
	}
	if job.PodGroup.Annotations == nil {
		job.PodGroup.Annotations = map[string]string{}
	}
	job.PodGroup.Annotations[report.Annotation] = r.Encode()
}

// allowWrite reports whether a condition is to be written in place of the one that a PodGroup has. moved reports that pods
// of a job that runs were placed.
func (w *Writer) allowWrite(group *api.PodGroup, now scheduling.PodGroupCondition, moved bool) bool {
	had, _ := Condition(group)
	job := w.of(group)
	sameReason := had.Status == now.Status && had.Reason == now.Reason
	if sameReason && (had.Message == now.Message || !moved && w.session-job.written < minWriteInterval) {
		return false
	}
	job.written = w.session
	return true
}

// beforeScheduled returns the time of a condition that is true: a second before the session's condition Scheduled, whichever
// plugin writes first. Volcano's Job controller warns of the latest condition that is true, unless that is Scheduled
// (recordPodGroupEvent, pkg/controllers/job/job_controller_actions.go), and times are whole seconds.
func beforeScheduled(conditions []scheduling.PodGroupCondition, now scheduling.PodGroupCondition) metav1.Time {
	at := now.LastTransitionTime
	for _, c := range conditions {
		if c.Type == scheduling.PodGroupScheduled && c.TransitionID == now.TransitionID {
			at = c.LastTransitionTime
		}
	}
	return metav1.NewTime(at.Add(-time.Second))
}
