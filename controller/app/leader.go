// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/paddle-volcano/paddle-volcano/controller/leader"
)

// leaderWriteGuard lets no write out of this process once its lease has run out. A leader that was stopped, with its node or by its
// cgroup, learns only some seconds after it wakes that another leads, and would write at the same time as that one until then. What was
// on its way before cannot be called back; the API server refuses most of that, because objects have changed.
type leaderWriteGuard struct {
	resourcelock.Interface
	// validFor is how long a lease is certain to be valid after it was renewed.
	validFor time.Duration
	now      func() time.Time

	mu sync.Mutex
	// renewed is when the last renewal that succeeded was asked for; zero while another leads.
	renewed time.Time
}

// granularity is that of the times in a lease as others compare them: a renewal within the second of the last one is none
// to them, so that they may take over by so much sooner.
const granularity = time.Second

// newLeaderWriteGuard is one for a program that leads only while it holds a lock, which others take over after a time.
func newLeaderWriteGuard(lease time.Duration) *leaderWriteGuard {
	return &leaderWriteGuard{validFor: max(lease-granularity, lease/2), now: time.Now}
}

// Create makes the lease.
func (f *leaderWriteGuard) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.renew(record, func() error { return f.Interface.Create(ctx, record) })
}

// Update renews the lease, takes it over, or gives it back.
func (f *leaderWriteGuard) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.renew(record, func() error { return f.Interface.Update(ctx, record) })
}

func (f *leaderWriteGuard) renew(record resourcelock.LeaderElectionRecord, write func() error) error {
	asked := f.now()
	err := write()
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.renewed = time.Time{}
		if record.HolderIdentity == f.Identity() {
			f.renewed = asked
		}
	}
	return err //nolint:wrapcheck // it is the lock's
}

// leaseValid reports whether the lease is certain to be this program's.
func (f *leaderWriteGuard) leaseValid() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.renewed.IsZero() && f.now().Sub(f.renewed) < f.validFor
}

// wrap puts the guard before a transport. Reading is always free, and so is telling what has happened.
func (f *leaderWriteGuard) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet && !eventPaths.MatchString(r.URL.Path) && !f.leaseValid() {
			return nil, fmt.Errorf("%w: nothing is written without a lease", leader.ErrLost)
		}
		return next.RoundTrip(r) //nolint:wrapcheck // it is the transport's
	})
}

// eventPaths are the paths of events.
var eventPaths = regexp.MustCompile(`^/api/v1/namespaces/[^/]+/events(/|$)`)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
