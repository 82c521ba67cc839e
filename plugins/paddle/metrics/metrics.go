// SPDX-License-Identifier: Apache-2.0

// Package metrics records what the plugin does. Metrics are on Volcano's own endpoint, which serves the default registry.
// They are registered when the package is loaded, however often plugins are built. None has a label per job.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Subsystem is the prefix of the name of each metric.
const Subsystem = "volcano_paddle"

// Outcomes of planning a gang. The first two are of a search, which takes time; the others come later.
const (
	OutcomePlaced   = "placed"   // a plan was found
	OutcomeNoFit    = "nofit"    // no plan was found
	OutcomeStale    = "stale"    // the cluster had changed, or a node was rejected: planned again
	OutcomeFallback = "fallback" // what was left of the gang was left to Volcano's scoring
	OutcomeFailed   = "failed"   // the planner panicked, took too long or did not run: the gang was left to Volcano's scoring
)

// Parts of the plugin's work whose panics are counted apart.
const (
	PartPlan        = "plan"
	PartLimit       = "limit" // of networkTopology and colocation: while this fails, the job's pods get no node
	PartExplanation = "explanation"
	PartScore       = "score"
	PartText        = "text" // of conditions, events and metrics
)

// How a search ends that takes longer than it may.
const (
	SearchStopped   = "stopped"
	SearchAbandoned = "abandoned" // it did not stop in time, and still runs
)

var (
	planSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Subsystem: Subsystem,
		Name:      "plan_duration_seconds",
		Help:      "Time to plan one gang, whether or not a plan was found.",
		Buckets:   prometheus.ExponentialBuckets(1e-4, 2, 16), // to 3.3 s
	})
	planCounts = newCounters("plans_total", "Plans of gangs: found, not found, made again as they were outdated, given up for Volcano's scoring, and failed.", "outcome",
		OutcomePlaced, OutcomeNoFit, OutcomeStale, OutcomeFallback, OutcomeFailed)
	panicCounts = newCounters("panics_total", "Panics of the plugin that were recovered from, by the part of its work.", "part",
		PartPlan, PartLimit, PartExplanation, PartScore, PartText)
	sessionSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Subsystem: Subsystem,
		Name:      "session_planning_seconds",
		Help:      "Time of the planner's searches in one scheduling session, of sessions with any.",
		Buckets:   prometheus.ExponentialBuckets(1e-3, 2, 16), // to 33 s
	})
	stoppedCounts = newCounters("stopped_searches_total",
		"Searches that ended with the session's time for planning: stopped, or abandoned as they did not stop.", "result",
		SearchStopped, SearchAbandoned)
	abandonedSearches = promauto.NewGauge(prometheus.GaugeOpts{
		Subsystem: Subsystem,
		Name:      "abandoned_searches",
		Help:      "Abandoned searches that are still running.",
	})
	hintCounts = newCounters("hints_total", "Tasks to which the plan gave a node, by what Volcano's predicates said to it.", "result",
		HintTaken, HintRefused)
	crossingBytes = newCounters("predicted_crossing_bytes_total",
		"Bytes per training step that cross a boundary of the tier, summed over placed plans of jobs whose model's size is known.", "tier")
	crossingModels = newCounters("predicted_crossing_model_sizes_total",
		"Traffic per training step that crosses a boundary of the tier, in sizes of the job's model, summed over placed plans of jobs whose model's size is not known.", "tier")
	pendingJobs = gaugesByReason{vec: promauto.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: Subsystem,
		Name:      "pending_jobs",
		Help:      "Paddle jobs that wait for resources in this cycle, by reason.",
	}, []string{"reason"})}
	wrongArguments = promauto.NewGauge(prometheus.GaugeOpts{
		Subsystem: Subsystem,
		Name:      "argument_errors",
		Help:      "Wrong arguments of the plugin in the present volcano-scheduler.conf; each is at its default.",
	})
)

// How Volcano's predicates decide about the node of a plan.
const (
	HintTaken   = "taken"
	HintRefused = "refused"
)

// newCounters makes counters that differ in one label; those of the values that are known beforehand begin at 0.
func newCounters(name, help, label string, values ...string) *prometheus.CounterVec {
	counters := promauto.NewCounterVec(prometheus.CounterOpts{Subsystem: Subsystem, Name: name, Help: help}, []string{label})
	for _, value := range values {
		counters.WithLabelValues(value)
	}
	return counters
}

// ObservePlan counts the outcome of a plan, and the time that it took to make it: 0 where none was made.
func ObservePlan(outcome string, d time.Duration) {
	if d > 0 {
		planSeconds.Observe(d.Seconds())
	}
	planCounts.WithLabelValues(outcome).Inc()
}

// ObserveSession records the time that the searches of a session took.
func ObserveSession(d time.Duration) {
	if d > 0 {
		sessionSeconds.Observe(d.Seconds())
	}
}

// CountPanic counts a panic in a part of the plugin's work.
func CountPanic(part string) { panicCounts.WithLabelValues(part).Inc() }

// CountStoppedSearch counts a search that took longer than it may.
func CountStoppedSearch(result string) { stoppedCounts.WithLabelValues(result).Inc() }

// AddAbandonedSearches adds to the searches that were abandoned and are still running.
func AddAbandonedSearches(n int) { abandonedSearches.Add(float64(n)) }

// CountHint counts one task that was offered its node.
func CountHint(result string) { hintCounts.WithLabelValues(result).Inc() }

// AddCrossing adds what one step of a placed job sends over boundaries of a tier: bytes, or sizes of the job's model where the
// job does not say its size. The two do not add up.
func AddCrossing(tier string, amount float64, inBytes bool) {
	counters := crossingModels
	if inBytes {
		counters = crossingBytes
	}
	counters.WithLabelValues(tier).Add(amount)
}

// SetPending sets how many jobs are pending for each reason; reasons that are not named have none.
func SetPending(byReason map[string]int) { pendingJobs.set(byReason) }

// SetArgumentErrors sets how many errors the arguments of the present configuration have.
func SetArgumentErrors(n int) { wrongArguments.Set(float64(n)) }

// gaugesByReason are gauges of all reasons that were ever named.
type gaugesByReason struct {
	mu   sync.Mutex
	vec  *prometheus.GaugeVec
	seen map[string]bool
}

func (g *gaugesByReason) set(counts map[string]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen == nil {
		g.seen = map[string]bool{}
	}
	for reason := range counts {
		g.seen[reason] = true
	}
	for reason := range g.seen {
		g.vec.WithLabelValues(reason).Set(float64(counts[reason]))
	}
}
