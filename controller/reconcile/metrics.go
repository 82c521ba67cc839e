// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var syncs = metrics.NewHistogramVec(&metrics.HistogramOpts{
	Subsystem:      "paddlejob_controller",
	Name:           "sync_duration_seconds",
	Help:           "Time of one look at a PaddleJob by its result: ok, stale (something changed meanwhile), refused (by the API server) or error.",
	Buckets:        metrics.ExponentialBuckets(0.001, 4, 8),
	StabilityLevel: metrics.ALPHA,
}, []string{"result"})

// RegisterMetrics makes the controller's metrics known to the registry that is served; further calls do nothing.
var RegisterMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(syncs) })

func recordSync(err error, took time.Duration) {
	result := "ok"
	var refused *refusal
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
}
