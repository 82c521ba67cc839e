// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answers answers a request as an API server that refuses it.
func answers(code int, reason metav1.StatusReason, header ...string) injector {
	return func(_ *call, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(&metav1.Status{ // the controller may have gone
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "refused by a test of faults",
		})
	}
}

// breaks breaks the connection; the API server has done what was asked for, or never receives it.
func breaks(done bool) injector {
	return func(_ *call, _ http.ResponseWriter, r *http.Request, api http.Handler) {
		if done {
			api.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler)
	}
}

// unanswered has the API server execute the request, and answers with an error.
func unanswered(c *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
	api.ServeHTTP(httptest.NewRecorder(), r)
	answers(http.StatusInternalServerError, metav1.StatusReasonInternalError)(c, w, r, api)
}

// everyOther injects a fault into each second request of a kind, the first one included.
func everyOther(kind func(*call) bool, with injector) func(*controller) injector {
	return func(*controller) injector {
		var count atomic.Int32
		return func(c *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
			if kind(c) && count.Add(1)%2 == 1 {
				with(c, w, r, api)
				return
			}
			api.ServeHTTP(w, r)
		}
	}
}

// nowAndThen injects a fault into one request of a kind in six, at random. What takes several requests would never be done if each
// second failed; with one in three it often fails ten times in a row, and then waits for minutes between its tries.
func nowAndThen(kind func(*call) bool, with injector) func(*controller) injector {
	return func(*controller) injector {
		var mu sync.Mutex
		chance := rand.New(rand.NewPCG(1, 1))
		return func(c *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
			mu.Lock()
			hit := kind(c) && chance.IntN(6) == 0
			mu.Unlock()
			if hit {
				with(c, w, r, api)
				return
			}
			api.ServeHTTP(w, r)
		}
	}
}

func writes(c *call) bool    { return c.write }
func questions(c *call) bool { return !c.watch }

// Every other write of a whole scenario fails, or one request in six but for watches, which TestWatchesThatBreak breaks. A
// scenario that deletes objects goes through the answers that the controller distinguishes, and all scenarios through all answers with
// TEST_ALL.
func TestWritesThatGoWrong(t *testing.T) {
	t.Parallel()
	disturbed(t, someScenarios("retried", "changed"), true, map[string]func(*controller) injector{
		"conflict": everyOther(writes, answers(http.StatusConflict, metav1.StatusReasonConflict)),
		"broken":   everyOther(writes, breaks(false)),
	})
	disturbed(t, someScenarios("retried"), true, map[string]func(*controller) injector{
		"error":     everyOther(writes, answers(http.StatusInternalServerError, metav1.StatusReasonInternalError)),
		"too many":  everyOther(writes, answers(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "Retry-After", "1")),
		"forbidden": everyOther(writes, answers(http.StatusForbidden, metav1.StatusReasonForbidden)),
	})
	disturbed(t, someScenarios("retried", "changed"), false, map[string]func(*controller) injector{
		"done, and broken": everyOther(writes, breaks(true)),
	})
	disturbed(t, someScenarios("retried"), false, map[string]func(*controller) injector{
		"done, and an error": everyOther(writes, unanswered),
		"reads too":          nowAndThen(questions, answers(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)),
	})
}

// disturbed runs scenarios under each of some faults; with events, no event may be lost.
func disturbed(t *testing.T, scenarios []*scenario, events bool, faults map[string]func(*controller) injector) {
	t.Helper()
	for name, fault := range faults {
		for _, l := range scenarios {
			t.Run(name+"/"+l.name, func(t *testing.T) {
				t.Parallel()
				calm := l.undisturbed(t)
				space := cluster.Namespace(t)
				c := startController(t, space, space)
				c.from(fault(c))
				l.runLike(&driver{t: t, namespace: space, events: events}, calm)
				require.NotEmpty(t, c.written())
			})
		}
	}
}
