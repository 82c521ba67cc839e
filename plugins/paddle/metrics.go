// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Metrics are on Volcano's own endpoint, which serves the default registry. They are made when the package is loaded, so
// that it does not matter how often plugins are built. None has a label per job: jobs are without number.

// metricsSubsystem begins the name of each metric.
const metricsSubsystem = "volcano_paddle"

// What becomes of planning a gang. The first two end a plan's making, which takes time; the others come later.
const (
	outcomePlaced   = "placed"   // a plan was found
	outcomeNoFit    = "nofit"    // no plan holds the gang
	outcomeStale    = "stale"    // the cluster had changed, or a node would not do: planned once more
	outcomeFallback = "fallback" // what was left of the gang was left to Volcano's scoring
	outcomeFailed   = "failed"   // the planner panicked, took too long or was not asked: the gang was left to Volcano's scoring
)

// How a search ends that takes longer than it may.
const (
	searchStopped   = "stopped"
	searchAbandoned = "abandoned" // it did not stop when asked to, and runs on
)

var (
	planSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Subsystem: metricsSubsystem,
		Name:      "plan_duration_seconds",
		Help:      "Time to plan one gang, whether or not a plan was found.",
		Buckets:   prometheus.ExponentialBuckets(1e-4, 2, 16), // to 3.3 s
	})
	planCounts = newCounters("plans_total", "Plans of gangs: found, not found, made anew since they went stale, given up for Volcano's scoring, and failed.", "outcome",
		outcomePlaced, outcomeNoFit, outcomeStale, outcomeFallback, outcomeFailed)
	panicCounts = newCounters("panics_total", "Panics of the plugin that were recovered from, by the part of its work.", "part",
		partPlan, partLimit, partExplanation, partScore, partText)
	sessionSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Subsystem: metricsSubsystem,
		Name:      "session_planning_seconds",
		Help:      "Time of the planner's searches in one scheduling session, of sessions with any.",
		Buckets:   prometheus.ExponentialBuckets(1e-3, 2, 16), // to 33 s
	})
	stoppedCounts = newCounters("stopped_searches_total",
		"Searches that ended with the session's time for planning: stopped, or abandoned as they did not stop.", "result",
		searchStopped, searchAbandoned)
	abandonedSearches = promauto.NewGauge(prometheus.GaugeOpts{
		Subsystem: metricsSubsystem,
		Name:      "abandoned_searches",
		Help:      "Abandoned searches that are still running.",
	})
	hintCounts = newCounters("hints_total", "Tasks to which the plan gave a node, by what Volcano's predicates said to it.", "result",
		hintTaken, hintRefused)
	crossingBytes = newCounters("predicted_crossing_bytes_total",
		"Bytes per training step that cross a border of the tier, summed over placed plans of jobs whose model's size is known.", "tier")
	crossingModels = newCounters("predicted_crossing_model_sizes_total",
		"Traffic per training step that crosses a border of the tier, in sizes of the job's model, summed over placed plans of jobs whose model's size is not known.", "tier")
	pendingJobs = gaugesByClass{vec: promauto.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: metricsSubsystem,
		Name:      "pending_jobs",
		Help:      "Paddle jobs that wait for room in this cycle, by reason.",
	}, []string{"reason"})}
	wrongArguments = promauto.NewGauge(prometheus.GaugeOpts{
		Subsystem: metricsSubsystem,
		Name:      "argument_errors",
		Help:      "Wrong arguments of the plugin in the present volcano-scheduler.conf; each is at its default.",
	})
)

const (
	hintTaken   = "taken"
	hintRefused = "refused"
)

// newCounters makes counters that differ in one label; those of the values that are known beforehand begin at 0.
func newCounters(name, help, label string, values ...string) *prometheus.CounterVec {
	counters := promauto.NewCounterVec(prometheus.CounterOpts{Subsystem: metricsSubsystem, Name: name, Help: help}, []string{label})
	for _, value := range values {
		counters.WithLabelValues(value)
	}
	return counters
}

// observePlan counts what became of a plan, and the time that it took to make it: 0 where none was made.
func observePlan(outcome string, d time.Duration) {
	if d > 0 {
		planSeconds.Observe(d.Seconds())
	}
	planCounts.WithLabelValues(outcome).Inc()
}

// observePlanning notes the time that the searches of a session took.
func observePlanning(d time.Duration) {
	if d > 0 {
		sessionSeconds.Observe(d.Seconds())
	}
}

// countPanic counts a panic in a part of the plugin's work.
func countPanic(part string) { panicCounts.WithLabelValues(part).Inc() }

// countStopped counts a search that took longer than it may.
func countStopped(result string) { stoppedCounts.WithLabelValues(result).Inc() }

// countHints counts one task that was offered its node.
func countHints(taken bool) {
	result := hintRefused
	if taken {
		result = hintTaken
	}
	hintCounts.WithLabelValues(result).Inc()
}

// countCrossing counts what a step of a gang that was placed sends over the borders of each tier.
func countCrossing(tiers []report.Tier, inBytes bool) {
	add := addPredictedModels
	if inBytes {
		add = addPredictedBytes
	}
	for _, use := range tiers {
		add(use.Name, use.Crossing)
	}
}

// addPredictedBytes adds what one step of a placed job sends over borders of a tier.
func addPredictedBytes(tier string, bytes float64) {
	crossingBytes.WithLabelValues(tier).Add(bytes)
}

// addPredictedModels is addPredictedBytes in sizes of the job's model, for a job that does not say its size: the two do
// not add up.
func addPredictedModels(tier string, sizes float64) {
	crossingModels.WithLabelValues(tier).Add(sizes)
}

// setPending tells how many jobs are pending for each reason; reasons that are not named have none.
func setPending(byReason map[string]int) { pendingJobs.set(byReason) }

// countArgumentErrors tells how many arguments of the present configuration are wrong.
func countArgumentErrors(n int) { wrongArguments.Set(float64(n)) }

// gaugesByClass are gauges of all reasons that were ever named.
type gaugesByClass struct {
	mu   sync.Mutex
	vec  *prometheus.GaugeVec
	seen map[string]bool
}

func (g *gaugesByClass) set(counts map[string]int) {
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
