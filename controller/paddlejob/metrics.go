// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"cmp"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

var syncs = metrics.NewHistogramVec(&metrics.HistogramOpts{
	Subsystem:      "paddlejob_controller",
	Name:           "sync_duration_seconds",
	Help:           "Time of one look at a PaddleJob by its result: ok, stale (something changed meanwhile), refused (by the API server) or error.",
	Buckets:        metrics.ExponentialBuckets(0.001, 4, 8),
	StabilityLevel: metrics.ALPHA,
}, []string{"result"})

var (
	jobsByPhase = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: "paddlejob_controller", Name: "jobs",
		Help:           "PaddleJobs by their phase. Each replica of the controller counts all of them.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"phase"})
	timeToRunning = metrics.NewHistogram(&metrics.HistogramOpts{
		Subsystem: "paddlejob_controller", Name: "time_to_running_seconds",
		Help:           "Time from the creation of a PaddleJob until its whole gang first ran; without those that were ever suspended.",
		Buckets:        metrics.ExponentialBuckets(1, 4, 9),
		StabilityLevel: metrics.ALPHA,
	})
	restarted = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "paddlejob_controller", Name: "restarts_total",
		Help:           "Restarts of PaddleJobs by their cause: PodFailed, PodEvicted, or PodFailedOrEvicted where it was not seen.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"cause"})
	syncErrors = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "paddlejob_controller", Name: "sync_errors_total",
		Help:           "Looks at PaddleJobs that failed, by kind: the API server's reason, such as Conflict or Forbidden; Stale, when something changed meanwhile; or Other.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"kind"})
)

// RegisterMetrics makes the controller's metrics known to the registry that is served; further calls do nothing. Counters begin
// at 0, or nobody would see the first step.
var RegisterMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(syncs, jobsByPhase, timeToRunning, restarted, syncErrors)
	for _, cause := range []string{observed.ReasonPodFailed, observed.ReasonPodEvicted} {
		restarted.WithLabelValues(cause)
	}
	for _, kind := range []string{kindStale, kindOther} {
		syncErrors.WithLabelValues(kind)
	}
})

// Kinds of errors that are not the API server's reasons.
const (
	kindStale = "Stale"
	kindOther = "Other"
)

func recordSync(err error, took time.Duration) {
	result := "ok"
	var refused *rejection
	switch {
	case err == nil:
	case errors.Is(err, errStale):
		result = "stale"
	case errors.As(err, &refused):
		result = "refused"
	default:
		result = "error"
	}
	syncs.WithLabelValues(result).Observe(took.Seconds())
	if err != nil {
		syncErrors.WithLabelValues(kindOf(err)).Inc()
	}
}

// kindOf is one of a few words for an error.
func kindOf(err error) string {
	if errors.Is(err, errStale) {
		return kindStale
	}
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return kindOther
}

// recordStatus counts what a status that was written says for the first time.
func recordStatus(job *v1.PaddleJob, before, after *v1.PaddleJobStatus) {
	suspended := meta.FindStatusCondition(after.Conditions, v1.ConditionSuspended)
	if before.StartTime == nil && after.StartTime != nil && suspended == nil {
		timeToRunning.Observe(max(after.StartTime.Sub(job.CreationTimestamp.Time).Seconds(), 0))
	}
	if more := after.Restarts - before.Restarts; more > 0 {
		cause := lifecycle.ReasonUnknownFailure
		if c := meta.FindStatusCondition(after.Conditions, v1.ConditionRestarting); c != nil && c.Status == metav1.ConditionTrue {
			cause = c.Reason
		}
		restarted.WithLabelValues(cause).Add(float64(more))
	}
}

// phases are all that a PaddleJob can be in, so that a phase without jobs is a 0 and not missing.
var phases = []v1.Phase{
	v1.Pending, v1.Starting, v1.Running, v1.Restarting, v1.Suspended, v1.Completed, v1.Failed, v1.Terminating,
}

// phaseGauge counts PaddleJobs by phase.
type phaseGauge struct {
	mu     sync.Mutex
	phase  map[string]v1.Phase
	counts map[v1.Phase]int
}

func newPhaseGauge() *phaseGauge {
	for _, phase := range phases {
		jobsByPhase.WithLabelValues(string(phase)).Set(0)
	}
	return &phaseGauge{phase: map[string]v1.Phase{}, counts: map[v1.Phase]int{}}
}

// see notes a job's phase, or that the job is gone. One that nobody has looked at yet is Pending.
func (c *phaseGauge) see(key string, phase v1.Phase, deleted bool) {
	phase = cmp.Or(phase, v1.Pending)
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, known := c.phase[key]; known {
		c.add(was, -1)
	}
	delete(c.phase, key)
	if !deleted {
		c.phase[key] = phase
		c.add(phase, 1)
	}
}

func (c *phaseGauge) add(phase v1.Phase, n int) {
	c.counts[phase] += n
	jobsByPhase.WithLabelValues(string(phase)).Set(float64(c.counts[phase]))
}
