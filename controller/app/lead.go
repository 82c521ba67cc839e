// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lead runs a controller while it holds the lock. When the context ends, the lock is released after the last write and
// not before, so that the next leader never works beside this one.
func lead(ctx context.Context, o *Options, run func(context.Context), lock resourcelock.Interface, health *leaderelection.HealthzAdaptor) error {
	leading, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	var leads atomic.Bool
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            Name,
		LeaseDuration:   o.LeaderElection.LeaseDuration.Duration,
		RenewDeadline:   o.LeaderElection.RenewDeadline.Duration,
		RetryPeriod:     o.LeaderElection.RetryPeriod.Duration,
		ReleaseOnCancel: true,
		WatchDog:        health,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(led context.Context) {
				leads.Store(true)
				working, stop := context.WithCancel(led)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				run(working)
				release()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("setting up leader election: %w", err)
	}
	defer context.AfterFunc(ctx, func() {
		if !leads.Load() {
			release()
		}
	})()
	elector.Run(leading)
	if ctx.Err() == nil {
		return fmt.Errorf("%w: the lease %s could not be renewed", errLeadershipLost, lock.Describe())
	}
	return nil
}

// identity tells two controllers apart, also on one machine.
func identity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("finding the host's name for leader election: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}
