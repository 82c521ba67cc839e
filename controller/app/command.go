// SPDX-License-Identifier: Apache-2.0

// Package app is the paddlejob-controller as a program: flags, logs, metrics, health, leader election, clients. What it
// does with PaddleJobs is in package paddlejob.
package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
)

// helpColumns is where --help folds its lines.
const helpColumns = 120

// Name is the program's name.
const Name = "paddlejob-controller"

// NewCommand is the program as a command; it ends when its context does.
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
			if errors.Is(err, errLeadershipLost) {
				// What is in flight must not be written beside the next leader.
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
