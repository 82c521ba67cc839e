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

// leaderWriteGuard refuses writes of this process once its lease has expired. A leader that was paused, with its node or by its
// cgroup, learns only some seconds after it continues that another leads, and both would write until then. Requests that were
// sent before cannot be canceled; the API server refuses most of them, because objects have changed.
type leaderWriteGuard struct {
	resourcelock.Interface
	// validFor is how long a lease is certain to be valid after it was renewed.
	validFor time.Duration
	now      func() time.Time

	mu sync.Mutex
	// renewed is when the last renewal that succeeded was requested; zero while another leads.
	renewed time.Time
}

// granularity is that of the times in a lease: other programs do not see a renewal within the second of the last one, and
// may take over a second earlier.
const granularity = time.Second

// newLeaderWriteGuard returns the guard of a program whose lock others take over after the duration of the lease.
func newLeaderWriteGuard(lease time.Duration) *leaderWriteGuard {
	return &leaderWriteGuard{validFor: max(lease-granularity, lease/2), now: time.Now}
}

// Create creates the lease.
func (f *leaderWriteGuard) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.renew(record, func() error { return f.Interface.Create(ctx, record) })
}

// Update renews the lease, takes it over, or releases it.
func (f *leaderWriteGuard) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.renew(record, func() error { return f.Interface.Update(ctx, record) })
}

func (f *leaderWriteGuard) renew(record resourcelock.LeaderElectionRecord, write func() error) error {
	requested := f.now()
	err := write()
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.renewed = time.Time{}
		if record.HolderIdentity == f.Identity() {
			f.renewed = requested
		}
	}
	return err //nolint:wrapcheck // it is the lock's
}

// leaseValid reports whether this program certainly holds the lease.
func (f *leaderWriteGuard) leaseValid() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.renewed.IsZero() && f.now().Sub(f.renewed) < f.validFor
}

// wrap puts the guard before a transport. It never refuses reads or events.
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
