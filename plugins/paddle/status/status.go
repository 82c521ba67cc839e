// SPDX-License-Identifier: Apache-2.0

// Package status writes what is known about a gang to its PodGroup: the plugin's condition, the report, and events.
package status

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"volcano.sh/apis/pkg/apis/scheduling"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// minWriteInterval is the least time between two writes of a condition that differ in the message only. Amounts change in each session.
const minWriteInterval = 10 * time.Second

// conditionType is the type of the plugin's condition. No other program writes it.
const conditionType scheduling.PodGroupConditionType = report.Condition

// Writer writes the status of PodGroups. It remembers what was written about each job, from session to session, because that
// may come back late from the API server. It forgets jobs that a session does not write about.
type Writer struct {
	// Recorder sends the events. If it is nil, the first event makes one.
	Recorder record.EventRecorder
	// Clock tells when a session starts.
	Clock   clock.PassiveClock
	session time.Time
	jobs    map[types.UID]*jobStatus // of this session, by PodGroup
	last    map[types.UID]*jobStatus // of the last one
}

// NewWriter returns a Writer that has written nothing.
func NewWriter() *Writer {
	return &Writer{Clock: clock.RealClock{}, jobs: map[types.UID]*jobStatus{}, last: map[types.UID]*jobStatus{}}
}

// StartSession starts a session.
func (w *Writer) StartSession() {
	w.session = w.Clock.Now()
	w.last, w.jobs = w.jobs, map[types.UID]*jobStatus{}
}

// Write writes why a gang waits, or where it runs. moved reports that pods of a gang that runs were placed in this session.
func (w *Writer) Write(ssn *framework.Session, job *api.JobInfo, r report.Report, moved bool) {
	if w.allow(job.PodGroup, r.Reason) {
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
	for _, c := range group.Status.Conditions {
		if c.Type == conditionType {
			return c, true
		}
	}
	return scheduling.PodGroupCondition{}, false
}

func conditionFor(r *report.Report) scheduling.PodGroupCondition {
	status := corev1.ConditionFalse
	if r.Reason == report.Placed {
		status = corev1.ConditionTrue
	}
	return scheduling.PodGroupCondition{Type: conditionType, Status: status, Reason: string(r.Reason), Message: r.ConditionMessage()}
}

// write writes the condition for a report instead of the one that a PodGroup has, if they differ, and with it the report.
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

// allowWrite reports whether a condition is to be written instead of the one that a PodGroup has. moved reports that pods
// of a job that runs were placed.
func (w *Writer) allowWrite(group *api.PodGroup, now scheduling.PodGroupCondition, moved bool) bool {
	had, _ := Condition(group)
	job := w.of(group)
	sameReason := had.Status == now.Status && had.Reason == now.Reason
	if sameReason && (had.Message == now.Message || !moved && w.session.Sub(job.written) < minWriteInterval) {
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

const (
	// eventSource is the source of the plugin's events.
	//
	// The session's own recorder does not serve: it lets 25 events through about one PodGroup and then one in five minutes
	// (client-go's spam filter, by source and object), and the scheduler spends these on an Unschedulable event each second.
	eventSource = "volcano-paddle"
	// eventBurst and eventQPS bound the events of one type about one PodGroup: a burst, and then one in five minutes.
	eventBurst = 5
	eventQPS   = 1.0 / 300
	// maxEventMessage is what the API server accepts for an event's message, in bytes.
	maxEventMessage = 1024
)

type jobStatus struct {
	reason  report.Reason // of the last event, empty if there was none
	written time.Time     // begin of the session that wrote the condition
	invalid string        // annotations about which there was an event
}

// of returns what was written about a job. After a restart of the scheduler that is what its condition has.
func (w *Writer) of(group *api.PodGroup) *jobStatus {
	job, ok := w.jobs[group.UID]
	if ok {
		return job
	}
	if job, ok = w.last[group.UID]; !ok {
		job = &jobStatus{}
		if had, _ := Condition(group); had.Status == corev1.ConditionFalse && !report.Reason(had.Reason).Transient() {
			job.reason = report.Reason(had.Reason)
		}
	}
	w.jobs[group.UID] = job
	return job
}

// allow reports whether an event is due that a job waits for a reason: once for each reason that is not transient. A thousand
// jobs that come together all wait for their pods, which their conditions say. An event that a job has its nodes is due if
// there was one that it waits.
func (w *Writer) allow(group *api.PodGroup, reason report.Reason) bool {
	job := w.of(group)
	if reason.Transient() || job.reason == reason {
		return false
	}
	waited := job.reason != ""
	job.reason = reason
	return waited || reason != report.Placed
}

// allowInvalid reports whether an event is due about annotations that cannot be parsed.
func (w *Writer) allowInvalid(group *api.PodGroup, err error) bool {
	text := ""
	if err != nil {
		text = err.Error()
	}
	job := w.of(group)
	changed := text != job.invalid
	job.invalid = text
	return changed && text != ""
}

// recorderOf returns the recorder of events, which lasts as long as the process.
func (w *Writer) recorderOf(ssn *framework.Session) record.EventRecorder {
	if w.Recorder == nil {
		broadcaster := record.NewBroadcasterWithCorrelatorOptions(record.CorrelatorOptions{BurstSize: eventBurst, QPS: eventQPS})
		if client := ssn.KubeClient(); client != nil {
			broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
		}
		w.Recorder = broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: eventSource})
	}
	return w.Recorder
}

// record sends an event about a job's PodGroup.
func (w *Writer) record(ssn *framework.Session, job *api.JobInfo, reason report.Reason, message string) {
	kind := corev1.EventTypeWarning
	if reason == report.Placed {
		kind = corev1.EventTypeNormal
	}
	w.recorderOf(ssn).Event(&corev1.ObjectReference{
		APIVersion: schedulingv1beta1.SchemeGroupVersion.String(),
		Kind:       "PodGroup",
		Namespace:  job.PodGroup.Namespace,
		Name:       job.PodGroup.Name,
		UID:        job.PodGroup.UID,
	}, kind, string(reason), report.Shorten(message, maxEventMessage))
}
