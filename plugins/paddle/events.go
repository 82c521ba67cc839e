// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"volcano.sh/apis/pkg/apis/scheduling"
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
	// minWriteInterval is the least number of sessions, which are seconds as a rule, between two writes of a condition that
	// differ in the message only. Amounts change each second.
	minWriteInterval = 10
)

// eventLimiter remembers what was written about each job, from session to session: the condition and the report may come
// back late from the API server. It forgets jobs that a session does not write about.
type eventLimiter struct {
	session  int
	jobs     map[types.UID]*jobEvents // of this session, by PodGroup
	last     map[types.UID]*jobEvents // of the last one
	recorder record.EventRecorder     // nil until the first event
}

// jobEvents is what was written about one job.
type jobEvents struct {
	reason  report.Reason // of the last event, empty if there was none
	written int           // session that wrote the condition
	invalid string        // annotations about which there was an event
}

func newEventLimiter() *eventLimiter {
	return &eventLimiter{jobs: map[types.UID]*jobEvents{}, last: map[types.UID]*jobEvents{}}
}

func (l *eventLimiter) startSession() {
	l.session++
	l.last, l.jobs = l.jobs, map[types.UID]*jobEvents{}
}

// of returns what was written about a job. After a restart of the scheduler that is what its condition has.
func (l *eventLimiter) of(group *api.PodGroup) *jobEvents {
	job, ok := l.jobs[group.UID]
	if ok {
		return job
	}
	if job, ok = l.last[group.UID]; !ok {
		job = &jobEvents{written: math.MinInt32}
		if had, _ := conditionOf(group.Status.Conditions); had.Status == corev1.ConditionFalse && !report.Reason(had.Reason).Transient() {
			job.reason = report.Reason(had.Reason)
		}
	}
	l.jobs[group.UID] = job
	return job
}

// allow reports whether an event is due that a job waits for a reason: once for each reason that is not transient.
// A thousand jobs that come together all wait for their pods, which their conditions say.
func (l *eventLimiter) allow(group *api.PodGroup, reason report.Reason) bool {
	job := l.of(group)
	if reason.Transient() || job.reason == reason {
		return false
	}
	job.reason = reason
	return true
}

// allowPlaced reports whether an event is due that a job has its nodes: if there was one that it waits.
func (l *eventLimiter) allowPlaced(group *api.PodGroup) bool {
	job := l.of(group)
	waited := job.reason != "" && job.reason != report.Placed
	job.reason = report.Placed
	return waited
}

// allowInvalid reports whether an event is due about annotations that cannot be parsed.
func (l *eventLimiter) allowInvalid(group *api.PodGroup, err error) bool {
	text := ""
	if err != nil {
		text = err.Error()
	}
	job := l.of(group)
	changed := text != job.invalid
	job.invalid = text
	return changed && text != ""
}

// allowWrite reports whether a condition is to be written in place of the one that a PodGroup has. moved reports that pods
// of a job that runs were placed.
func (l *eventLimiter) allowWrite(group *api.PodGroup, now scheduling.PodGroupCondition, moved bool) bool {
	had, _ := conditionOf(group.Status.Conditions)
	job := l.of(group)
	sameReason := had.Status == now.Status && had.Reason == now.Reason
	if sameReason && (had.Message == now.Message || !moved && l.session-job.written < minWriteInterval) {
		return false
	}
	job.written = l.session
	return true
}

// recorderOf returns the recorder of events, which lasts as long as the process.
func (l *eventLimiter) recorderOf(ssn *framework.Session) record.EventRecorder {
	if l.recorder == nil {
		broadcaster := record.NewBroadcasterWithCorrelatorOptions(record.CorrelatorOptions{
			BurstSize: eventBurst, QPS: eventQPS, LRUCacheSize: maxEventKeys,
		})
		if client := ssn.KubeClient(); client != nil {
			broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
		}
		l.recorder = broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: eventSource})
	}
	return l.recorder
}

// record sends an event about a job's PodGroup.
func (l *eventLimiter) record(ssn *framework.Session, job *api.JobInfo, reason report.Reason, message string) {
	kind := corev1.EventTypeWarning
	if reason == report.Placed {
		kind = corev1.EventTypeNormal
	}
	l.recorderOf(ssn).Event(&corev1.ObjectReference{
		APIVersion: schedulingv1beta1.SchemeGroupVersion.String(),
		Kind:       "PodGroup",
		Namespace:  job.PodGroup.Namespace,
		Name:       job.PodGroup.Name,
		UID:        job.PodGroup.UID,
	}, kind, string(reason), report.Shorten(message, maxEventMessage))
}

// reportInvalidAnnotations sends an event about annotations of a job that cannot be parsed.
func (p *plugin) reportInvalidAnnotations(job *api.JobInfo) {
	if _, err := newWishes(job.PodGroup.Annotations, p.arguments); p.state.events.allowInvalid(job.PodGroup, err) {
		p.state.events.record(p.ssn, job, report.InvalidAnnotation, strings.ReplaceAll(err.Error(), "\n", "; ")+"; the default holds")
	}
}
