// SPDX-License-Identifier: Apache-2.0

package status

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

const (
	// eventSource is the source of the plugin's events.
	//
	// The session's own recorder does not serve: it lets 25 events through about one PodGroup and then one in five minutes
	// (client-go's spam filter, by source and object), and the scheduler spends these on an Unschedulable event each second.
	eventSource = "volcano-paddle"
	// eventBurst and eventQPS bound the events of one type about one PodGroup: so many at once, and then one in five minutes.
	eventBurst = 5
	eventQPS   = 1.0 / 300
	// maxEventKeys is how many PodGroups the bounds are kept for.
	maxEventKeys = 20000
	// maxEventMessage is what the API server accepts for an event's message, in bytes.
	maxEventMessage = 1024
)

// jobStatus is what was written about one job.
type jobStatus struct {
	reason  report.Reason // of the last event, empty if there was none
	written int           // session that wrote the condition
	invalid string        // annotations about which there was an event
}

// of returns what was written about a job. After a restart of the scheduler that is what its condition has.
func (w *Writer) of(group *api.PodGroup) *jobStatus {
	job, ok := w.jobs[group.UID]
	if ok {
		return job
	}
	if job, ok = w.last[group.UID]; !ok {
		job = &jobStatus{written: math.MinInt32}
		if had, _ := Condition(group); had.Status == corev1.ConditionFalse && !report.Reason(had.Reason).Transient() {
			job.reason = report.Reason(had.Reason)
		}
	}
	w.jobs[group.UID] = job
	return job
}

// allow reports whether an event is due that a job waits for a reason: once for each reason that is not transient.
// A thousand jobs that come together all wait for their pods, which their conditions say.
func (w *Writer) allow(group *api.PodGroup, reason report.Reason) bool {
	job := w.of(group)
	if reason.Transient() || job.reason == reason {
		return false
	}
	job.reason = reason
	return true
}

// allowPlaced reports whether an event is due that a job has its nodes: if there was one that it waits.
func (w *Writer) allowPlaced(group *api.PodGroup) bool {
	job := w.of(group)
	waited := job.reason != "" && job.reason != report.Placed
	job.reason = report.Placed
	return waited
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
		broadcaster := record.NewBroadcasterWithCorrelatorOptions(record.CorrelatorOptions{
			BurstSize: eventBurst, QPS: eventQPS, LRUCacheSize: maxEventKeys,
		})
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
