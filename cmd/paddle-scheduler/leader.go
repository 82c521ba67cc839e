// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"volcano.sh/apis/pkg/apis/helpers"
	"volcano.sh/volcano/cmd/scheduler/app"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/kube"

	"github.com/paddle-volcano/paddle-volcano/controller/leader"
)

// runElected runs Volcano's scheduler while this process holds the lease. A process that waits for the lease answers health checks.
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
	opts.LeaderElection.LeaderElect = false
	return leader.Run(ctx, &opts.LeaderElection, lock, nil, func(context.Context) error { return app.Run(opts) })
}

// newLock is the lease that Volcano's own election uses.
func newLock(opts *options.ServerOption) (resourcelock.Interface, error) {
	config, err := kube.BuildConfig(opts.KubeClientOptions)
	if err != nil {
		return nil, fmt.Errorf("configure the client of the leader election: %w", err)
	}
	id, err := leader.Identity()
	if err != nil {
		return nil, err
	}
	namespace := opts.LeaderElection.ResourceNamespace
	if old := opts.LockObjectNamespace; old != "" { //nolint:staticcheck // a deprecated flag that works in Volcano's scheduler
		namespace = old
	}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, opts.LeaderElection.ResourceName,
		resourcelock.ResourceLockConfig{Identity: id}, config, opts.LeaderElection.RenewDeadline.Duration)
	if err != nil {
		return nil, fmt.Errorf("create the lock of the leader election: %w", err)
	}
	return lock, nil
}
