// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The watches break when the controller writes, so that what comes of it is not seen as it comes; or some of it is seen later than the rest.
func TestWatchesThatBreak(t *testing.T) {
	t.Parallel()
	disturbed(t, someScenarios("retried"), true, map[string]func(*controller) injector{
		"cut":               func(c *controller) injector { return c.cuts(undisturbed, 4, 12) },
		"gone":              func(c *controller) injector { return c.cuts(gone(), 6) },
		"late":              late("GET paddlejobs", "GET jobs", "GET podgroups", "GET configmaps", "GET pods"),
		"late PaddleJobs":   late("GET paddlejobs"),
		"late Volcano Jobs": late("GET jobs"),
		"late pods":         late("GET pods"),
	})
}

// cuts ends every watch at some of the controller's writes, and interferes with the attempts to resume one. They are few: a client
// waits longer before each attempt.
func (c *controller) cuts(with injector, at ...int) injector {
	return func(call *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
		if call.write && slices.Contains(at, call.number) {
			c.cutWatches()
		}
		if call.watch {
			with(call, w, r, api)
			return
		}
		api.ServeHTTP(w, r)
	}
}

// gone answers the attempt to resume a watch with 410 Gone, so that the client lists again. The watch after the list is not changed.
func gone() injector {
	var mu sync.Mutex
	answered := map[string]bool{}
	return func(c *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
		version := r.URL.Query().Get("resourceVersion")
		mu.Lock()
		answer := version != "" && version != "0" && !answered[c.words]
		answered[c.words] = answer
		mu.Unlock()
		if answer {
			answers(http.StatusGone, metav1.StatusReasonExpired)(c, w, r, api)
			return
		}
		api.ServeHTTP(w, r)
	}
}

// lateness is how much later than they come the controller sees changes: more than its next look takes, less than it
// believes in what it wrote itself without seeing it.
const lateness = 1500 * time.Millisecond

// late lets the controller see changes of some kinds late.
func late(kinds ...string) func(*controller) injector {
	return func(*controller) injector {
		return func(c *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
			if !c.watch || !slices.Contains(kinds, c.words) {
				api.ServeHTTP(w, r)
				return
			}
			slow := &slowWriter{ResponseWriter: w, parts: make(chan part, 10_000), done: make(chan struct{})}
			go slow.run(r.Context().Done())
			defer func() {
				close(slow.parts)
				<-slow.done // nothing is written once the handler has returned
			}()
			api.ServeHTTP(slow, r)
		}
	}
}

// slowWriter passes on what is written to it when its time has come.
type slowWriter struct {
	http.ResponseWriter
	parts chan part
	done  chan struct{}
}

type part struct {
	text []byte
	due  time.Time
}

func (s *slowWriter) Write(text []byte) (int, error) {
	s.parts <- part{text: append([]byte(nil), text...), due: time.Now().Add(lateness)}
	return len(text), nil
}

// Flush does nothing: each part is flushed when it is passed on.
func (s *slowWriter) Flush() {}

func (s *slowWriter) run(left <-chan struct{}) {
	defer close(s.done)
	for p := range s.parts {
		select {
		case <-time.After(time.Until(p.due)):
			if _, err := s.ResponseWriter.Write(p.text); err != nil {
				continue
			}
			if err := http.NewResponseController(s.ResponseWriter).Flush(); err != nil {
				continue
			}
		case <-left:
		}
	}
}
