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
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	paddlelisters "github.com/paddle-volcano/paddle-volcano/controller/client/listers/batch/v1"
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
	jobsByPhase = metrics.NewDesc("paddlejob_controller_jobs", "PaddleJobs by their phase. Each replica of the controller counts all of them.",
		[]string{"phase"}, nil, metrics.ALPHA, "")
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
		Help:           "Failed reconciles of PaddleJobs, by kind: the API server's reason, such as Conflict or Forbidden; Stale, when something changed meanwhile; or Other.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"kind"})
)

// RegisterMetrics registers the controller's metrics with the registry that is served; further calls do nothing. Counters begin
// at 0, or the first step would not be seen.
var RegisterMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(syncs, timeToRunning, restarted, syncErrors)
	for _, cause := range []string{observed.ReasonPodFailed, observed.ReasonPodEvicted} {
		restarted.WithLabelValues(cause)
	}
	for _, kind := range []string{kindStale, kindOther} {
		syncErrors.WithLabelValues(kind)
	}
})

// RegisterMetrics registers the metrics of the package and of this controller, the only one of the program.
func (c *Controller) RegisterMetrics() {
	RegisterMetrics()
	legacyregistry.CustomMustRegister(&phaseCollector{jobs: c.jobs})
}

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

// kindOf returns the kind of an error, one of a few.
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

// phaseCollector counts the PaddleJobs of the cache by phase when metrics are requested. One that was not reconciled yet is Pending.
type phaseCollector struct {
	metrics.BaseStableCollector
	jobs paddlelisters.PaddleJobLister
}

// DescribeWithStability implements metrics.StableCollector.
func (c *phaseCollector) DescribeWithStability(descriptions chan<- *metrics.Desc) {
	descriptions <- jobsByPhase
}

// CollectWithStability implements metrics.StableCollector.
func (c *phaseCollector) CollectWithStability(all chan<- metrics.Metric) {
	counts := map[v1.Phase]int{}
	jobs, err := c.jobs.List(labels.Everything())
	if err != nil {
		utilruntime.HandleError(err)
	}
	for _, job := range jobs {
		counts[cmp.Or(job.Status.Phase, v1.Pending)]++
	}
	for _, phase := range phases {
		all <- metrics.NewLazyConstMetric(jobsByPhase, metrics.GaugeValue, float64(counts[phase]), string(phase))
	}
}
