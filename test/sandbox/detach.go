// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// ErrNotStarted is the error of Detach after the process that was to hold the sandbox has printed the reason.
var ErrNotStarted = errors.New("the sandbox did not start")

// Detach runs this program again, with its arguments and one more, in a new session, to hold the sandbox of a state folder. It
// copies its output until the sandbox is ready.
func Detach(ctx context.Context, stateDir, argument string, out io.Writer) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	holder := exec.Command(executable, append(slices.Clone(os.Args[1:]), argument)...) //nolint:gosec // this very program
	output, err := holder.StdoutPipe()
	if err != nil {
		return fmt.Errorf("create a pipe: %w", err)
	}
	holder.Stderr = holder.Stdout
	holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := holder.Start(); err != nil {
		return fmt.Errorf("start the process that holds the sandbox: %w", err)
	}
	interrupted := context.AfterFunc(ctx, func() { _ = holder.Process.Signal(syscall.SIGTERM) })
	defer interrupted()
	if _, err := io.Copy(out, output); err != nil {
		return fmt.Errorf("follow the start of the sandbox: %w", err)
	}
	record, running, err := ReadRecord(stateDir)
	if err == nil && running && record.Ready && record.PID == holder.Process.Pid {
		return holder.Process.Release()
	}
	return errors.Join(ErrNotStarted, holder.Wait())
}
