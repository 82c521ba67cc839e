// SPDX-License-Identifier: Apache-2.0

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

// say writes a line. There is nobody to tell that nobody can be told.
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
