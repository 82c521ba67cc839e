// SPDX-License-Identifier: Apache-2.0

// Package barrier keeps a pod's containers from starting before the pods of its job can find each other, and when the
// addresses that it was given are not theirs any more. The program paddle-barrier, which runs it as the pod's first init
// container, is small because the package rests on the standard library alone.
package barrier

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"
)

// lookupLimit bounds one lookup: a packet that is lost must not cost what Linux's resolver would wait for it.
const lookupLimit = 2 * time.Second

// Main is the program: it returns the exit code.
func Main(ctx context.Context, args []string, env func(string) (string, bool), resolver *net.Resolver, out io.Writer) int {
	options, err := Parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return ended(out, fail(ExitWrongCall, "%v", err))
	}
	task, err := options.Task(env)
	if err == nil {
		err = Wait(ctx, task, bounded(resolver, lookupLimit), systemClock{}, out)
	}
	return ended(out, err)
}

// ended tells why the containers must not start.
func ended(out io.Writer, err error) int {
	if err == nil {
		return 0
	}
	say(out, "%v", err)
	var why *failure
	if errors.As(err, &why) {
		return why.code
	}
	return 1
}

// say writes a line. A failure to write cannot be reported.
func say(out io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(out, "paddle-barrier: "+format+"\n", args...)
}

// bounded looks names up as the programs in the pod will: with the search domains of its resolv.conf.
func bounded(resolver *net.Resolver, limit time.Duration) Lookup {
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return resolver.LookupNetIP(ctx, "ip", host)
	}
}

// systemClock is the machine's.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Exit codes of the program. They are documented in controller/README.md, and none that a training program would choose.
const (
	// ExitWrongCall tells that arguments or variables are not those that the controller writes.
	ExitWrongCall = 64
	// ExitTimeout tells that peers were not found in time.
	ExitTimeout = 75
	// ExitStale tells that the addresses are not those of the job's pods any more.
	ExitStale = 76
	// ExitStopped says that the pod was stopped: 128 and SIGTERM.
	ExitStopped = 143
)

// failure is why the containers must not start.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func fail(code int, format string, args ...any) error {
	return &failure{code: code, text: fmt.Sprintf(format, args...)}
}
