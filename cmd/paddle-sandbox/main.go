// SPDX-License-Identifier: Apache-2.0

// Command paddle-sandbox runs a Kubernetes control plane with Volcano and this project over simulated nodes; only flags and messages live here.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// exitUnsupported is the exit code where the machine does not allow a real node.
const exitUnsupported = 3

func exitCode(err error) int {
	if unsupported := (*box.UnsupportedError)(nil); errors.As(err, &unsupported) {
		return exitUnsupported
	}
	// The process that holds a detached sandbox has printed the reason.
	if holder := (*exec.ExitError)(nil); errors.As(err, &holder) && holder.ExitCode() > 0 {
		return holder.ExitCode()
	}
	return 1
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(exitCode(err)) //nolint:gocritic // stop has been called
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "paddle-sandbox",
		Short:         "Run a real control plane with Volcano and this project on one machine, over simulated nodes",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newUp(), newDown(), newStatus(), newBuild())
	return root
}

func stateFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("state", sandbox.DefaultStateDir, "folder of everything that the sandbox writes")
}

func newDown() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a sandbox; its logs stay for reading",
		Args:  cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ran, err := sandbox.Down(cmd.Context(), *state)
		if err != nil {
			return err
		}
		if ran {
			cmd.Printf("stopped the sandbox in %s; its logs are in %s/logs\n", *state, *state)
		} else {
			cmd.Printf("no sandbox runs in %s\n", *state)
		}
		return nil
	}
	return cmd
}

func newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether a sandbox runs, and its components; the exit code is 0 only if it does",
		Args:  cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		record, running, err := sandbox.ReadRecord(*state)
		if err != nil {
			return err
		}
		switch {
		case !running && record.Failure != "":
			return fmt.Errorf("the sandbox in %s ended by itself: %s", *state, record.Failure)
		case !running:
			return fmt.Errorf("the sandbox in %s has been stopped", *state)
		case !record.Ready:
			return fmt.Errorf("the sandbox in %s is still starting (process %d)", *state, record.PID)
		}
		cmd.Printf("the sandbox in %s runs since %s: process %d, %d nodes\nKUBECONFIG=%s\n\n",
			*state, record.Started.Format(time.DateTime), record.PID, record.Nodes, record.Kubeconfig)
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "COMPONENT\tPROCESS\tLOG") //nolint:errcheck // Flush tells
		for _, c := range sandbox.ComponentStatuses(*state) {
			fmt.Fprintf(table, "%s\t%s\t%s\n", c.Name, c.Process, c.Log) //nolint:errcheck // Flush tells
		}
		return table.Flush()
	}
	return cmd
}

func newBuild() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build every binary that sandboxes run, into _output/bin: about 10 minutes on two cores the first time",
		Args:  cobra.NoArgs,
	}
	kind := cmd.Flags().Bool("kind", false, "build what the image of kind's node is made of, too")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *kind {
			_, err := sandbox.Build(cmd.Context(), sandbox.Options{Progress: os.Stdout, Real: &sandbox.Real{}, Kubeadm: true})
			return err
		}
		for _, stock := range []bool{true, false} {
			if _, err := sandbox.Build(cmd.Context(), sandbox.Options{Progress: os.Stdout, StockScheduler: stock}); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
