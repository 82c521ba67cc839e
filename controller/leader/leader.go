// SPDX-License-Identifier: Apache-2.0

// Package leader runs the work of the controller or the scheduler while it holds a lease. The scheduler's own election does not
// release the lease when the program ends: the next one would wait until it has expired.
package leader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/config"
)

// ErrLost ends a program whose lease could not be renewed: another one works now.
var ErrLost = errors.New("leadership lost")

// Run waits for the lock and calls work, whose context ends with the lease or with ctx. The lock is released after work has returned and
// not before, so that two leaders never work at the same time. A program that waits ends at once with ctx.
func Run(ctx context.Context, election *config.LeaderElectionConfiguration, lock resourcelock.Interface, health *leaderelection.HealthzAdaptor,
	work func(context.Context) error,
) error {
	leading, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	var leads atomic.Bool
	worked := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            election.ResourceName,
		LeaseDuration:   election.LeaseDuration.Duration,
		RenewDeadline:   election.RenewDeadline.Duration,
		RetryPeriod:     election.RetryPeriod.Duration,
		ReleaseOnCancel: true,
		WatchDog:        health,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(led context.Context) {
				leads.Store(true)
				working, stop := context.WithCancel(led)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				worked <- work(working)
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
	if ctx.Err() != nil {
		return nil
	}
	select {
	case err = <-worked:
	default:
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: the lease %s could not be renewed", ErrLost, lock.Describe())
}

// NewLock returns the lock of an election, which no other process holds, also on one machine. Its client is a separate one, so that a burst
// of requests does not delay the renewal of the lease.
func NewLock(election *config.LeaderElectionConfiguration, client *rest.Config) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding the host's name for leader election: %w", err)
	}
	lock, err := resourcelock.NewFromKubeconfig(election.ResourceLock, election.ResourceNamespace, election.ResourceName,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}, client, election.RenewDeadline.Duration)
	if err != nil {
		return nil, fmt.Errorf("setting up the lease %s/%s for leader election: %w", election.ResourceNamespace, election.ResourceName, err)
	}
	return lock, nil
}
