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

	"github.com/spf13/cobra"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

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
