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
	"golang.org/x/sys/unix"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

func exitCode(err error) int {
	// The process that holds a detached sandbox has printed the reason.
	if holder := (*exec.ExitError)(nil); errors.As(err, &holder) && holder.ExitCode() > 0 {
		return holder.ExitCode()
	}
	return box.ExitCode(err)
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
	state := root.PersistentFlags().String("state", sandbox.DefaultStateDir, "folder of everything that the sandbox writes; up replaces an earlier sandbox in it")
	root.AddCommand(newUp(state), newDown(state), newStatus(state), newBuild())
	return root
}

func newDown(state *string) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop a sandbox; its logs stay for reading",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ran, err := sandbox.Down(cmd.Context(), *state)
			switch {
			case err != nil:
				return err
			case ran:
				cmd.Printf("stopped the sandbox in %s; its logs are in %s/logs\n", *state, *state)
			default:
				cmd.Printf("no sandbox runs in %s\n", *state)
			}
			return nil
		},
	}
}

func newStatus(state *string) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether a sandbox runs, and its components; the exit code is 0 only if it does",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			fmt.Fprintln(table, "COMPONENT\tPROCESS\tLOG") //nolint:errcheck // Flush reports it
			for _, c := range sandbox.ComponentStatuses(*state) {
				fmt.Fprintf(table, "%s\t%s\t%s\n", c.Name, c.Process, c.Log) //nolint:errcheck // Flush reports it
			}
			return table.Flush()
		},
	}
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

// upFlags are the flags of up.
type upFlags struct {
	sandbox.Options
	nodes                               int
	topology, kubeconfig, schedulerConf string
	detach, holder, real                bool
	images                              []string
}

func newUp(state *string) *cobra.Command {
	f := &upFlags{Options: sandbox.Options{Progress: os.Stdout}}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a sandbox and stay until ^C, or leave it running with --detach",
		Example: "  paddle-sandbox up --worker-run-for 5s\n" +
			"  paddle-sandbox up --nodes 64 --state /tmp/other --detach\n" +
			"  paddle-sandbox up --real --image trainer.tar",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.StateDir = *state
			if err := f.complete(); err != nil {
				return err
			}
			if f.detach && !f.holder {
				return sandbox.Detach(cmd.Context(), f.StateDir, "--"+holderFlag, os.Stdout)
			}
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.nodes, "nodes", 0, "simulate this many nodes of 16 cores and 64Gi, in racks of 4 (instead of the demo cluster: 16 nodes of three kinds, 4 of them with GPUs)")
	flags.StringVar(&f.topology, "topology", "", "simulate the cluster that this file describes (see test/sandbox/README.md)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "write the kubeconfig here too")
	flags.DurationVar(&f.WorkerRunFor, "worker-run-for", 0, "let pods of workers and trainers run this long and then succeed (0: forever)")
	flags.BoolVar(&f.detach, "detach", false, "return when the sandbox is ready and leave it running; `paddle-sandbox down` stops it")
	flags.BoolVar(&f.StockScheduler, "stock-scheduler", false, "run Volcano's own scheduler, configuration and permissions instead of paddle-scheduler's")
	flags.StringVar(&f.schedulerConf, "scheduler-conf", "", "file to use as volcano-scheduler.conf instead of the one of the scheduler's manifest")
	flags.BoolVar(&f.WithoutController, "without-controller", false, "leave out the controller")
	flags.BoolVar(&f.real, "real", false, "add a real node, on which pods really run: kubelet, containerd, runc, CoreDNS, in namespaces of their own (exit code 3 where the machine does not allow it)")
	flags.BoolVar(&f.Trainer, "trainer", false, "add Kubeflow Trainer and JobSet (5 minutes more the first time)")
	flags.StringArrayVar(&f.images, "image", nil, "archive of images that the real node has; may be given more than once")
	flags.BoolVar(&f.holder, holderFlag, false, "")
	flags.Lookup(holderFlag).Hidden = true
	cmd.MarkFlagsMutuallyExclusive("nodes", "topology")
	return cmd
}

// complete sets the options that flags do not set by themselves, and checks them before anything is built or detached.
func (f *upFlags) complete() (err error) {
	if f.schedulerConf != "" {
		text, err := os.ReadFile(f.schedulerConf)
		if err != nil {
			return fmt.Errorf("read --scheduler-conf: %w", err)
		}
		f.SchedulerConf = string(text)
	}
	switch {
	case f.topology != "":
		if f.Topology, err = topology.Load(f.topology); err != nil {
			return err
		}
	case f.nodes < 0:
		return fmt.Errorf("--nodes is %d: it must be at least 1", f.nodes)
	case f.nodes > 0:
		f.Topology = topology.Uniform(f.nodes)
	}
	switch {
	case f.real:
		f.Real = &sandbox.Real{Images: f.images}
		return sandbox.RealAllowed()
	case len(f.images) > 0:
		return errors.New("--image is for the real node: add --real")
	}
	return nil
}

// run holds a sandbox until it fails or is stopped.
func (f *upFlags) run(cmd *cobra.Command) error {
	s, err := sandbox.Start(cmd.Context(), f.Options)
	if err != nil {
		return err
	}
	if err := f.ready(s); err != nil {
		return errors.Join(err, s.Stop())
	}
	select {
	case <-s.Failed(): //nolint:errcheck // it has been reported
		err = errors.New("the sandbox ends because a component died by itself (see above)")
	case <-cmd.Context().Done():
		fmt.Println("stopping the sandbox")
	}
	return errors.Join(err, s.Stop())
}

// ready prints what to type next. From then on a detached sandbox writes to its own log.
func (f *upFlags) ready(s *sandbox.Sandbox) error {
	kubeconfig := s.Kubeconfig()
	if f.kubeconfig != "" {
		data, err := os.ReadFile(kubeconfig)
		if err == nil {
			err = os.WriteFile(f.kubeconfig, data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("copy the kubeconfig: %w", err)
		}
		kubeconfig = f.kubeconfig
	}
	where, stop := ", in another terminal", "^C"
	if f.holder {
		where, stop = "", "go run ./cmd/paddle-sandbox down --state "+f.StateDir
	}
	try := "kubectl create -f deploy/examples/wide_and_deep.yaml\n  kubectl get pdj --watch"
	if f.WithoutController {
		try = "kubectl create -f deploy/examples/ctr-volcano.yaml\n  kubectl get vcjob --watch"
	}
	fmt.Printf(nextSteps, where, kubeconfig, try, s.StateDir(), stop)
	if !f.holder {
		return nil
	}
	log, err := os.OpenFile(s.Logs("sandbox"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the sandbox's log: %w", err)
	}
	for _, fd := range []int{unix.Stdout, unix.Stderr} {
		if err := unix.Dup2(int(log.Fd()), fd); err != nil {
			return fmt.Errorf("write to the sandbox's log: %w", err)
		}
	}
	return log.Close()
}

const nextSteps = `
Next%s:

  export KUBECONFIG=%s
  kubectl get nodes -L network.topology.nvidia.com/block
  %s

Logs of every component: %s/logs
To stop the sandbox: %s
`

// holderFlag is the flag of the process that holds a detached sandbox.
const holderFlag = "holder"
