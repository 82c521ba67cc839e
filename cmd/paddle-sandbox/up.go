// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// upFlags are the flags of up.
type upFlags struct {
	nodes                                          int
	topology, state, kubeconfig, schedulerConf     string
	workerRunFor                                   time.Duration
	detach, holder, stockScheduler, withoutControl bool
	real, trainer                                  bool
	images                                         []string
}

func newUp() *cobra.Command {
	f := &upFlags{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a sandbox and stay until ^C, or leave it running with --detach",
		Example: "  paddle-sandbox up --worker-run-for 5s\n" +
			"  paddle-sandbox up --nodes 64 --state /tmp/other --detach\n" +
			"  paddle-sandbox up --real --image trainer.tar",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			if f.real {
				// Before anything is built or detached.
				if err := sandbox.RealAllowed(); err != nil {
					return err
				}
			}
			if f.detach {
				return detach(cmd, f.state)
			}
			return f.run(cmd, o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.nodes, "nodes", 0, "simulate this many nodes of 16 cores and 64Gi, in racks of 4 (instead of the demo cluster: 16 nodes of three kinds, 4 of them with GPUs)")
	flags.StringVar(&f.topology, "topology", "", "simulate the cluster that this file describes (see test/sandbox/README.md)")
	flags.StringVar(&f.state, "state", sandbox.DefaultStateDir, "folder of everything that the sandbox writes; an earlier sandbox in it is replaced")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "write the kubeconfig here too")
	flags.DurationVar(&f.workerRunFor, "worker-run-for", 0, "let pods of workers and trainers run this long and then succeed (0: forever)")
	flags.BoolVar(&f.detach, "detach", false, "return when the sandbox is ready and leave it running; `paddle-sandbox down` stops it")
	flags.BoolVar(&f.stockScheduler, "stock-scheduler", false, "run Volcano's own scheduler, configuration and permissions instead of ours")
	flags.StringVar(&f.schedulerConf, "scheduler-conf", "", "file to use as volcano-scheduler.conf instead of the one of the scheduler's manifest")
	flags.BoolVar(&f.withoutControl, "without-controller", false, "leave out our controller")
	flags.BoolVar(&f.real, "real", false, "add a real node, on which pods really run: kubelet, containerd, runc, CoreDNS, in namespaces of their own (exit code 3 where the machine does not allow it)")
	flags.BoolVar(&f.trainer, "trainer", false, "add Kubeflow Trainer and JobSet (5 minutes more the first time)")
	flags.StringArrayVar(&f.images, "image", nil, "archive of images that the real node has; may be given more than once")
	flags.BoolVar(&f.holder, holderFlag, false, "")
	if err := flags.MarkHidden(holderFlag); err != nil {
		panic(err)
	}
	cmd.MarkFlagsMutuallyExclusive("nodes", "topology")
	return cmd
}

func (f *upFlags) options() (sandbox.Options, error) {
	o := sandbox.Options{
		StateDir: f.state, WorkerRunFor: f.workerRunFor, Progress: os.Stdout,
		StockScheduler: f.stockScheduler, WithoutController: f.withoutControl, Trainer: f.trainer,
	}
	switch {
	case f.real:
		o.Real = &sandbox.Real{Images: f.images}
	case len(f.images) > 0:
		return o, errors.New("--image is for the real node: add --real")
	}
	if f.schedulerConf != "" {
		text, err := os.ReadFile(f.schedulerConf)
		if err != nil {
			return o, fmt.Errorf("read --scheduler-conf: %w", err)
		}
		o.SchedulerConf = string(text)
	}
	var err error
	switch {
	case f.topology != "":
		o.Topology, err = sandbox.LoadTopology(f.topology)
	case f.nodes < 0:
		err = fmt.Errorf("--nodes is %d: it must be at least 1", f.nodes)
	case f.nodes > 0:
		o.Topology = sandbox.Uniform(f.nodes)
	}
	return o, err
}

// run holds a sandbox until it fails or is asked to end.
func (f *upFlags) run(cmd *cobra.Command, o sandbox.Options) error {
	s, err := sandbox.Start(cmd.Context(), o)
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
		if err != nil {
			return fmt.Errorf("copy the kubeconfig: %w", err)
		}
		if err := os.WriteFile(f.kubeconfig, data, 0o600); err != nil {
			return fmt.Errorf("copy the kubeconfig: %w", err)
		}
		kubeconfig = f.kubeconfig
	}
	stop := "^C"
	if f.holder {
		stop = "paddle-sandbox down --state " + f.state
	}
	try := "kubectl create -f deploy/examples/wide_and_deep.yaml\n  kubectl get pdj --watch"
	if f.withoutControl {
		try = "kubectl create -f deploy/examples/ctr-volcano.yaml\n  kubectl get vcjob --watch"
	}
	fmt.Printf(nextSteps, kubeconfig, try, s.StateDir(), stop)
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
Next, in another terminal:

  export KUBECONFIG=%s
  kubectl get nodes -L network.topology.nvidia.com/block
  %s

Logs of every component: %s/logs
To stop the sandbox: %s
`

// holderFlag is the flag of the process that holds a detached sandbox.
const holderFlag = "holder"

// errReported ends the command after the holder has printed the reason.
var errReported = errors.New("the sandbox did not start")

// detach runs the same command in a session of its own, as the process that holds the sandbox, and copies its output until it is
// ready.
func detach(cmd *cobra.Command, state string) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
		return arg == "--detach" || strings.HasPrefix(arg, "--detach=")
	})
	holder := exec.Command(executable, append(args, "--"+holderFlag)...) //nolint:gosec // this very program
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("create a pipe: %w", err)
	}
	holder.Stdout, holder.Stderr = writer, writer
	holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := holder.Start(); err != nil {
		return fmt.Errorf("start the process that holds the sandbox: %w", err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("close a pipe: %w", err)
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(os.Stdout, reader)
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-cmd.Context().Done():
		err = errors.Join(holder.Process.Signal(syscall.SIGTERM), <-copied)
	}
	if err != nil {
		return fmt.Errorf("follow the start of the sandbox: %w", err)
	}
	record, running, err := sandbox.ReadRecord(state)
	if err == nil && running && record.Ready && record.PID == holder.Process.Pid {
		return holder.Process.Release()
	}
	return errors.Join(errReported, holder.Wait())
}
