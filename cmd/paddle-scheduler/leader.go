// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentbase "k8s.io/component-base/config"
	"volcano.sh/apis/pkg/apis/helpers"
	"volcano.sh/volcano/cmd/scheduler/app"
	"volcano.sh/volcano/cmd/scheduler/app/options"
)

// runElected runs Volcano's scheduler while this process holds the lease. Volcano's own election does not release the lease when the
// process ends, so that the next scheduler waits until it has expired. A process that waits for the lease answers health checks.
func runElected(opts *options.ServerOption) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lock, err := newLock(opts)
	if err != nil {
		return err
	}
	if opts.EnableHealthz {
		if err := helpers.StartHealthz(opts.HealthzBindAddress, "volcano-scheduler", opts.CaCertData, opts.CertData, opts.KeyData); err != nil {
			return fmt.Errorf("serve the health checks of --healthz-address: %w", err)
		}
		opts.EnableHealthz = false
	}
	election := opts.LeaderElection
	opts.LeaderElection.LeaderElect = false
	return lead(ctx, election, lock, func() error { return app.Run(opts) })
}

// newLock is the lease that Volcano's own election uses.
func newLock(opts *options.ServerOption) (resourcelock.Interface, error) {
	client, err := newClient(opts, "leader-election")
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find the host's name for the leader election: %w", err)
	}
	namespace := opts.LeaderElection.ResourceNamespace
	if old := opts.LockObjectNamespace; old != "" { //nolint:staticcheck // a deprecated flag that works in Volcano's scheduler
		namespace = old
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, opts.LeaderElection.ResourceName, client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
	if err != nil {
		return nil, fmt.Errorf("make the lock of the leader election: %w", err)
	}
	return lock, nil
}

var errLeaseLost = errors.New("the lease was lost")

// lead waits for the lock, calls run, which returns when the context has ended, and releases the lock after that.
func lead(ctx context.Context, election componentbase.LeaderElectionConfiguration, lock resourcelock.Interface, run func() error) error {
	leading, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	var leads atomic.Bool
	ran := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   election.LeaseDuration.Duration,
		RenewDeadline:   election.RenewDeadline.Duration,
		RetryPeriod:     election.RetryPeriod.Duration,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				leads.Store(true)
				ran <- run()
				release()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("set up the leader election: %w", err)
	}
	defer context.AfterFunc(ctx, func() {
		if !leads.Load() {
			release()
		}
	})()
	elector.Run(leading)
	if ctx.Err() != nil {
		return nil
	}
	select {
	case err := <-ran:
		return err
	default:
		return fmt.Errorf("%w: %s could not be renewed", errLeaseLost, lock.Describe())
	}
}
