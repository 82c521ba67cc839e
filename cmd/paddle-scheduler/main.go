// SPDX-License-Identifier: Apache-2.0

// Command paddle-scheduler is Volcano's scheduler with the plugin paddle registered; only flags and signals live here.
//
// Every flag of Volcano's vc-scheduler works. The plugin does nothing until volcano-scheduler.conf names it. Pods are bound
// a few at a time (--bindings-at-once), where Volcano sends all bindings at once. With --check-config FILE, it checks such
// a configuration, and runs no scheduler.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	cliflag "k8s.io/component-base/cli/flag"
	componentbaseoptions "k8s.io/component-base/config/options"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/cmd/scheduler/app"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	_ "volcano.sh/volcano/pkg/scheduler/util/assert"
	vcutil "volcano.sh/volcano/pkg/util"
	"volcano.sh/volcano/pkg/version"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
)

func main() {
	framework.RegisterPluginBuilder(paddle.PluginName, paddle.New)

	klog.InitFlags(nil)
	flags := pflag.CommandLine
	logFlush := flags.Duration("log-flush-frequency", 5*time.Second, "Maximum number of seconds between log flushes")
	const checkConfig = "check-config"
	configuration := flags.String(checkConfig, "", "Check this volcano-scheduler.conf, or the manifest of a ConfigMap that holds one, print every error and warning, and quit: with 1 if there is an error. It needs no cluster")
	bindings := flags.Int("bindings-at-once", defaultBindings, "How many pods are bound at a time; 0 means all that there are, as Volcano does")
	opts := options.NewServerOption()
	opts.AddFlags(flags)
	utilfeature.DefaultMutableFeatureGate.AddFlag(flags)
	vcutil.LeaderElectionDefault(&opts.LeaderElection)
	opts.LeaderElection.ResourceName = vcutil.GenerateComponentName(opts.SchedulerNames)
	componentbaseoptions.BindLeaderElectionFlags(&opts.LeaderElection, flags)
	opts.RegisterOptions()
	cliflag.InitFlags()

	if opts.PrintVersion {
		version.PrintVersionAndExit()
	}
	if flags.Changed(checkConfig) {
		os.Exit(check(*configuration, opts.PluginsDir, os.Stdout, os.Stderr))
	}
	if *bindings > 0 {
		cache.RegisterBindMethod(newBinder(*bindings))
	}
	klog.StartFlushDaemon(*logFlush)
	err := run(opts)
	klog.Flush()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

func run(opts *options.ServerOption) error {
	if err := opts.CheckOptionOrDie(); err != nil {
		return err
	}
	if opts.CaCertFile != "" && opts.CertFile != "" && opts.KeyFile != "" {
		if err := opts.ParseCAFiles(nil); err != nil {
			return fmt.Errorf("parse the files of --ca-cert-file, --tls-cert-file and --tls-private-key-file: %w", err)
		}
	}
	if opts.LeaderElection.LeaderElect {
		return runElected(opts)
	}
	return app.Run(opts) // ends in no other way than with an error
}
