// SPDX-License-Identifier: Apache-2.0

// Package barrier keeps a pod's containers from starting before the pods of its job can find each other, and when the
// addresses that it was given are no longer those of its peers. The program paddle-barrier, which runs it as the pod's first init
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
	"slices"
	"strconv"
	"strings"
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

// ended prints why the containers must not start, and returns the exit code.
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

// Exit codes of the program. They are documented in deploy/docs/reference/controller.md, and none that a training program would choose.
const (
	// ExitWrongCall reports that arguments or variables are not those that the controller writes.
	ExitWrongCall = 64
	// ExitTimeout reports that peers were not found in time.
	ExitTimeout = 75
	// ExitStale reports that the addresses are no longer those of the job's pods.
	ExitStale = 76
	// ExitStopped reports that the pod was stopped: 128 and SIGTERM.
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

// Variables that identify a pod among its peers; the container that runs the program has them in addition to those of the job's
// ConfigMap.
const (
	// IndexVariable holds the pod's place in the list of its role.
	IndexVariable = "BARRIER_POD_INDEX"
	// IPsVariable holds the pod's own IPs, with commas between them.
	IPsVariable = "BARRIER_POD_IPS"
)

// Options are the program's arguments.
type Options struct {
	// Own is the variable that lists the endpoints of the pod's own role.
	Own string
	// Peers are the lists of all roles.
	Peers []List
	// Timeout bounds the waiting.
	Timeout time.Duration
}

// List is one role of the job.
type List struct {
	// Variable holds its endpoints: host:port,host:port.
	Variable string
	// Least is how many of them must be found, the first among them, through which the others find each other. 0 is none.
	Least int
}

// Arguments are the options as Parse reads them.
func (o *Options) Arguments() []string {
	lists := make([]string, len(o.Peers))
	for i, list := range o.Peers {
		lists[i] = list.Variable + "=" + strconv.Itoa(list.Least)
	}
	return []string{"--own=" + o.Own, "--peers=" + strings.Join(lists, ","), "--timeout=" + o.Timeout.String()}
}

// Parse reads arguments. It writes errors, or the help if they request it, to out.
func Parse(args []string, out io.Writer) (*Options, error) {
	o := &Options{}
	flags := flag.NewFlagSet("paddle-barrier", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.Own, "own", "", "The `variable` that lists the endpoints of the pod's own role.")
	flags.DurationVar(&o.Timeout, "timeout", 0, "How `long` to wait at most.")
	flags.Func("peers", "The `lists` of all roles, each as VARIABLE=LEAST: how many of its endpoints must be found.", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			name, number, _ := strings.Cut(part, "=")
			least, err := strconv.Atoi(number)
			if err != nil || name == "" || least < 0 {
				return fmt.Errorf("%q is not VARIABLE=LEAST", part)
			}
			o.Peers = append(o.Peers, List{name, least})
		}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, err //nolint:wrapcheck // it is reported already
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("there is an argument too many: %q", flags.Arg(0))
	case !slices.ContainsFunc(o.Peers, func(l List) bool { return l.Variable == o.Own }):
		return nil, fmt.Errorf("--own is %q, which is not among --peers", o.Own)
	case o.Timeout <= 0:
		return nil, fmt.Errorf("--timeout is %s: use more than 0", o.Timeout)
	}
	return o, nil
}

// Task is what one pod waits for.
type Task struct {
	// Own is the host by which the job's other pods know this one: a name or an IP.
	Own string
	// IPs are the pod's own.
	IPs []netip.Addr
	// Peers are the hosts of each role, the pod itself included.
	Peers []Peers
	// Timeout bounds the waiting.
	Timeout time.Duration
}

// Peers are the hosts of one role in the order of their indices, and how many of them must be found.
type Peers struct {
	Hosts []string
	Least int
}

// Task reads the lists from the environment. A list in which there is no place for the pod is one of other pods.
func (o *Options) Task(env func(string) (string, bool)) (*Task, error) {
	task := &Task{Timeout: o.Timeout}
	text, _ := env(IPsVariable)
	for part := range strings.SplitSeq(text, ",") {
		ip, err := netip.ParseAddr(strings.TrimSpace(part))
		if err != nil {
			return nil, fail(ExitWrongCall, "%s is %q: it must hold the pod's own IPs", IPsVariable, text)
		}
		task.IPs = append(task.IPs, ip.Unmap())
	}
	place, _ := env(IndexVariable)
	index, err := strconv.Atoi(place)
	if err != nil || index < 0 {
		return nil, fail(ExitWrongCall, "%s is %q: it must hold the pod's index", IndexVariable, place)
	}
	for _, list := range o.Peers {
		endpoints, _ := env(list.Variable)
		hosts, err := hostsOf(list.Variable, endpoints)
		if err != nil {
			return nil, err
		}
		if list.Variable == o.Own {
			if index >= len(hosts) {
				return nil, fail(ExitStale, "%s has %d entries, and none for this pod, which is number %d: it lists the pods of another size of the job",
					list.Variable, len(hosts), index)
			}
			task.Own = hosts[index]
		}
		task.Peers = append(task.Peers, Peers{Hosts: hosts, Least: min(list.Least, len(hosts))})
	}
	return task, nil
}

// hostsOf returns the hosts of endpoints, without ports.
func hostsOf(variable, endpoints string) ([]string, error) {
	var hosts []string
	for i, endpoint := range strings.Split(endpoints, ",") {
		host, _, err := net.SplitHostPort(endpoint)
		if err != nil || host == "" {
			return nil, fail(ExitWrongCall, "entry %d of %s is %q, not host:port", i, variable, endpoint)
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// mine reports whether one of the addresses is the pod's own.
func (t *Task) mine(addresses ...netip.Addr) bool {
	return slices.ContainsFunc(addresses, func(a netip.Addr) bool { return slices.Contains(t.IPs, a.Unmap()) })
}

// isIP reports whether a host is an IP.
func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
