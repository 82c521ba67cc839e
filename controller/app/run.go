// SPDX-License-Identifier: Apache-2.0

// Package app is the paddlejob-controller as a program: flags, logs, metrics, health, leader election, clients. What it
// does with PaddleJobs is in package paddlejob.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"                         // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection" // leader_election_* metrics
	_ "k8s.io/component-base/metrics/prometheus/restclient"              // rest_client_* metrics
	_ "k8s.io/component-base/metrics/prometheus/version"                 // kubernetes_build_info
	_ "k8s.io/component-base/metrics/prometheus/workqueue"               // workqueue_* metrics
	"k8s.io/component-base/version"
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/controller/leader"
	"github.com/paddle-volcano/paddle-volcano/controller/legacy/kubeflow"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob"
	"github.com/paddle-volcano/paddle-volcano/controller/versions"
)

// helpColumns is where --help folds its lines.
const helpColumns = 120

// Name is the program's name.
const Name = "paddlejob-controller"

// NewCommand returns the program as a command; it ends when its context does.
func NewCommand() *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{
		Use:          Name,
		Short:        "Runs PaddleJobs as gangs under Volcano",
		SilenceUsage: true,
		Args:         cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := o.Validate(); err != nil {
				return fmt.Errorf("flags: %w", err)
			}
			if err := logsapi.ValidateAndApply(o.Logs, nil); err != nil {
				return fmt.Errorf("setting up logs: %w", err)
			}
			o.Metrics.Apply()
			cliflag.PrintFlags(cmd.Flags())
			err := Run(cmd.Context(), o)
			if errors.Is(err, leader.ErrLost) {
				// What is in flight must not be written while the next leader works.
				klog.FlushAndExit(klog.ExitFlushTimeout, 1)
			}
			return err
		},
	}
	sets := allFlags(o)
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	cliflag.SetUsageAndHelpFunc(cmd, sets, helpColumns)
	return cmd
}

// allFlags are the controller's and those that every program of Kubernetes has. A flag that stood in two sets would be taken
// from either.
func allFlags(o *Options) cliflag.NamedFlagSets {
	sets := o.Flags()
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), Name, logs.SkipLoggingConfigurationFlags())
	return sets
}

// gcPercent is the garbage collector's, unless GOGC says otherwise: most of what comes from watches is garbage at once,
// and memory is scarcer here than CPU time.
const gcPercent = 50

// Run works until the context ends.
func Run(ctx context.Context, o *Options) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	logger := klog.FromContext(ctx)
	logger.Info("Starting", "program", Name, "version", version.Get().GitVersion, "namespace", o.Namespace)
	var f *leaderWriteGuard
	if o.LeaderElection.LeaderElect {
		f = newLeaderWriteGuard(o.LeaderElection.LeaseDuration.Duration)
	}
	clients, lock, err := connect(o, f)
	if err != nil {
		return err
	}
	versions.LogKubernetes(ctx, clients.Kube.Discovery())
	if o.Namespace == metav1.NamespaceAll { // the permissions of one namespace do not hold in Volcano's
		versions.LogVolcano(ctx, clients.Kube)
	}
	recorder, stopEvents := newRecorder(ctx, clients.Kube)
	defer stopEvents()
	options := o.Options
	options.Render = o.rendering()
	controller, err := paddlejob.New(clients, recorder, options)
	if err != nil {
		return err
	}
	controller.RegisterMetrics()
	election := leaderelection.NewLeaderHealthzAdaptor(20 * time.Second)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serve(ctx, o, controller.Synced, election) })
	group.Go(func() error { return serveMetrics(ctx, o) })
	run := controller.Run
	if o.Kubeflow {
		adapter, err := kubeflow.New(clients, recorder, options)
		if err != nil {
			return err
		}
		group.Go(func() error { adapter.Watch(ctx); return nil })
		run = runBoth(controller.Run, adapter.Run)
	}
	group.Go(func() error { return work(ctx, o, controller, run, lock, election) })
	return group.Wait()
}

// work starts the informers, and runs the controllers while this program leads.
func work(ctx context.Context, o *Options, controller *paddlejob.Controller, run func(context.Context), lock resourcelock.Interface,
	health *leaderelection.HealthzAdaptor,
) error {
	controller.Watch(ctx)
	if !controller.Synced() {
		return nil // the program is stopped
	}
	if !o.LeaderElection.LeaderElect {
		run(ctx)
		return nil
	}
	return leader.Run(ctx, &o.LeaderElection, lock, health, func(ctx context.Context) error {
		run(ctx)
		return nil
	})
}

// runBoth runs two controllers, and ends when both have.
func runBoth(one, other func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		var group wait.Group
		group.StartWithContext(ctx, other)
		one(ctx)
		group.Wait()
	}
}
