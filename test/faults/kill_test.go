// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// further is how many more writes than the undisturbed life's are tried at first.
const further = 3

// A controller is killed at write 1 of a life, at write 2 of another, and so on, until one gets by without having so many.
// Odd writes are not sent, and even ones are done but not answered; make faults does both to each, and lives more lives.
func TestControllerIsKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, l := range someLives("retried", "elastic") {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			calm := l.undisturbed(t)
			for first, last := 1, len(calm.writes)+further; ; first, last = last+1, last+further {
				var missed atomic.Int32
				t.Run(fmt.Sprintf("from %d", first), func(t *testing.T) {
					for n := first; n <= last; n++ {
						for _, done := range []bool{n%2 == 0, n%2 == 1}[:variants()] {
							t.Run(fmt.Sprintf("%d done=%v", n, done), func(t *testing.T) {
								t.Parallel()
								if !l.killedAt(t, calm, n, done) {
									missed.Add(1)
								}
							})
						}
					}
				})
				if t.Failed() || missed.Load() > 0 {
					return
				}
			}
		})
	}
}

func variants() int {
	if thorough {
		return 2
	}
	return 1
}

// killedAt lives the life under a controller that is killed at its nth write, and says whether it came to that.
func (l *life) killedAt(t *testing.T, calm *past, n int, done bool) (came bool) {
	t.Helper()
	space := cluster.NamespaceNamed(t, fmt.Sprintf("killed-%s-%d-%v", l.name, n, done))
	c := startController(t, space, space)
	c.from(func(call *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
		if call.number != n {
			api.ServeHTTP(w, r)
			return
		}
		c.dieAt(r, api, done)
	})
	l.liveLike(&driver{t: t, namespace: space}, calm)
	writes := c.written()
	if len(writes) < n {
		t.Logf("there were %d writes", len(writes))
		return false
	}
	t.Logf("killed at %s", writes[n-1])
	return true
}

// dieAt kills the controller at a request, which the API server has done or never hears of.
func (c *controller) dieAt(r *http.Request, api http.Handler, done bool) {
	if done {
		api.ServeHTTP(httptest.NewRecorder(), r)
	}
	c.die()
	panic(http.ErrAbortHandler)
}

// No controller lives to see what became of its first write; or its second is never sent.
func TestControllerIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	for name, done := range map[string]bool{"after every write": true, "before every other write": false} {
		for _, l := range someLives("retried", "elastic") {
			t.Run(name+" "+l.name, func(t *testing.T) {
				t.Parallel()
				calm := l.undisturbed(t)
				space := cluster.Namespace(t)
				c := startController(t, space, space)
				c.from(func(call *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
					if call.write && (done || call.number%2 == 0) {
						c.dieAt(r, api, done)
					}
					api.ServeHTTP(w, r)
				})
				l.liveLike(&driver{t: t, namespace: space}, calm)
			})
		}
	}
}
