// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A controller is killed at each kind of write once: at every second kind the write is not sent, at the others it is
// done and not answered. With TEST_ALL it does both, at write 1 of a scenario, at write 2 of another, and so on, until a scenario has fewer
// writes, for all scenarios.
func TestControllerIsKilledAtWrites(t *testing.T) {
	t.Parallel()
	for _, l := range someScenarios("retried", "elastic", "hosts") {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			calm := l.undisturbed(t)
			if thorough {
				l.killedAtEveryWrite(t, calm)
				return
			}
			for i, n := range l.kinds(t) {
				words := calm.writes[n-1]
				t.Run(words, func(t *testing.T) {
					t.Parallel()
					var came atomic.Bool
					l.killed(t, calm, fmt.Sprintf("killed-%s-kind-%d", l.name, i), i%2 == 1, func(c *call) bool {
						return c.words == words && came.CompareAndSwap(false, true)
					})
					require.True(t, came.Load(), "the controller never wrote it")
				})
			}
		})
	}
}

// kinds returns the numbers of the first write of each kind in a scenario, without the kinds that the first of the scenarios has.
func (l *scenario) kinds(t *testing.T) (numbers []int) {
	t.Helper()
	seen := map[string]bool{}
	if l != scenarios[0] {
		for _, words := range scenarios[0].undisturbed(t).writes {
			seen[words] = true
		}
	}
	for i, words := range l.undisturbed(t).writes {
		if !seen[words] {
			seen[words] = true
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// further is how many more writes than the undisturbed scenario's are tried at first.
const further = 3

func (l *scenario) killedAtEveryWrite(t *testing.T, calm *past) {
	t.Helper()
	for first, last := 1, len(calm.writes)+further; ; first, last = last+1, last+further {
		var missed atomic.Int32
		t.Run(fmt.Sprintf("from %d", first), func(t *testing.T) {
			for n := first; n <= last; n++ {
				for _, done := range []bool{false, true} {
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
}

// killedAt runs the scenario under a controller that is killed at its nth write, and reports whether there was one.
func (l *scenario) killedAt(t *testing.T, calm *past, n int, done bool) (came bool) {
	t.Helper()
	c := l.killed(t, calm, fmt.Sprintf("killed-%s-%d-%v", l.name, n, done), done, func(c *call) bool { return c.number == n })
	writes := c.written()
	if len(writes) < n {
		t.Logf("there were %d writes", len(writes))
		return false
	}
	t.Logf("killed at %s", writes[n-1])
	return true
}

// killed runs the scenario in a namespace under a controller that is killed at a request, which the API server has done or never
// receives.
func (l *scenario) killed(t *testing.T, calm *past, namespace string, done bool, at func(*call) bool) *controller {
	t.Helper()
	space := cluster.NamespaceNamed(t, namespace)
	c := startController(t, space, space)
	c.from(func(call *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
		if !at(call) {
			api.ServeHTTP(w, r)
			return
		}
		c.dieAt(r, api, done)
	})
	l.runLike(&driver{t: t, namespace: space}, calm)
	return c
}

// dieAt kills the controller at a request, which the API server has done or never receives.
func (c *controller) dieAt(r *http.Request, api http.Handler, done bool) {
	if done {
		api.ServeHTTP(httptest.NewRecorder(), r)
	}
	c.die()
	panic(http.ErrAbortHandler)
}

// No controller sees the result of its first write, or its second is never sent. One scenario is tried with each, all scenarios
// with TEST_ALL.
func TestControllerIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scenario string
		done     bool
	}{"after every write": {"retried", true}, "before every other write": {"elastic", false}} {
		for _, l := range someScenarios(test.scenario) {
			t.Run(name+" "+l.name, func(t *testing.T) {
				t.Parallel()
				calm := l.undisturbed(t)
				space := cluster.Namespace(t)
				c := startController(t, space, space)
				c.from(func(call *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
					if call.write && (test.done || call.number%2 == 0) {
						c.dieAt(r, api, test.done)
					}
					api.ServeHTTP(w, r)
				})
				l.runLike(&driver{t: t, namespace: space}, calm)
			})
		}
	}
}
