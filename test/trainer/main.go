// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/argv"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Exit codes. A process that a signal ends exits as a shell would say.
const (
	ExitFailed  = 1
	ExitCrash   = 7
	ExitUsage   = 64
	ExitStopped = 143
)

// Main is the program: it returns the exit code. The command line's first word is the name that it was called by.
func Main(ctx context.Context, line, environ []string, out io.Writer) int {
	env := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	dir, err := os.Getwd()
	if err == nil {
		network := &wire.Net{IP: ownIP(ctx, env), Resolve: net.DefaultResolver.LookupHost}
		p := &process.Process{Env: env, Net: network, Dir: dir, Out: out}
		err = Run(ctx, p, line)
	}
	return exit(ctx, err, out)
}

func exit(ctx context.Context, err error, out io.Writer) int {
	var refused argv.RefusedError
	code := ExitFailed
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, train.ErrCrash):
		code = ExitCrash
	case errors.As(err, &refused), errors.Is(err, errOptions):
		code = ExitUsage
	case ctx.Err() != nil:
		code = ExitStopped
	}
	_, _ = fmt.Fprintf(out, "trainer: %v\n", err) // a failed write of the error cannot be reported
	return code
}

// ownIP returns the pod's address, or the address to which the host name resolves.
func ownIP(ctx context.Context, env map[string]string) string {
	if ip := process.OwnIP(env); ip != "" {
		return ip
	}
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0]
}

var errOptions = errors.New("options")

// Run runs a command line as a process.
func Run(ctx context.Context, p *process.Process, line []string) error {
	command, err := argv.Parse(line)
	if err != nil {
		return err
	}
	if p.Options, err = process.ParseOptions(command.Args, p.Env, p.Out); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errOptions, err)
	}
	p.Net.Deadline = p.Options.Deadline
	if command.Dir != "" {
		if p.Dir, err = enter(p.Dir, command.Dir); err != nil {
			return err
		}
	}
	return start(ctx, p, command.Program)
}

// enter is the shell's cd.
func enter(from, to string) (string, error) {
	if !filepath.IsAbs(to) {
		to = filepath.Join(from, to)
	}
	info, err := os.Stat(to)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", to)
	}
	return to, err
}
