// SPDX-License-Identifier: Apache-2.0

// Command paddle-scheduler is Volcano's scheduler, with its flags, with the plugin paddle registered, which does nothing until
// volcano-scheduler.conf names it. Its scheduling cycles begin when something has changed (cycle.go), and it binds a limited number of pods at
// a time (binder.go). With --check-config FILE, it checks such a configuration, and runs no scheduler.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	componentbaseoptions "k8s.io/component-base/config/options"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	_ "volcano.sh/volcano/pkg/scheduler/util/assert"
	vcutil "volcano.sh/volcano/pkg/util"
	"volcano.sh/volcano/pkg/version"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config/lint"
)

func main() {
	framework.RegisterPluginBuilder(paddle.PluginName, paddle.New)
	klog.InitFlags(nil)
	flags := pflag.CommandLine
	logFlush := flags.Duration("log-flush-frequency", 5*time.Second, "Maximum number of seconds between log flushes")
	configuration := flags.String("check-config", "", "Check this volcano-scheduler.conf, or the manifest of a ConfigMap that holds one, print every error and warning, and quit: with 1 if there is an error. It needs no cluster")
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
	if flags.Changed("check-config") {
		os.Exit(check(*configuration, opts.PluginsDir, os.Stdout, os.Stderr))
	}
	klog.StartFlushDaemon(*logFlush)
	err := run(opts, *bindings)
	klog.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// check prints what is wrong with the configuration in a file, and gives the exit code: 1 if there is any error, or the
// file cannot be read. Plugins in pluginsDir, "" for none, are known as well.
func check(file, pluginsDir string, out, errs io.Writer) int {
	result, err := lintFile(file, pluginsDir)
	if err == nil {
		err = result.Print(out, file)
	}
	if err != nil {
		fmt.Fprintln(errs, "error:", err) //nolint:errcheck // the exit code reports it too
		return 1
	}
	return min(len(result.Errors), 1)
}

func lintFile(file, pluginsDir string) (lint.Result, error) {
	if pluginsDir != "" {
		if err := framework.LoadCustomPlugins(pluginsDir); err != nil {
			return lint.Result{}, fmt.Errorf("load the plugins of --plugins-dir: %w", err)
		}
	}
	text, err := os.ReadFile(file) //nolint:gosec // reading the file that the user names is what this is for
	if err != nil {
		return lint.Result{}, fmt.Errorf("read the configuration: %w", err)
	}
	return lint.Check(text), nil
}
