// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// pause is between two rounds in which no name was found.
	pause = 100 * time.Millisecond
	// together is how many names are looked up at the same time, and in one round: a thousand pods that wait must not
	// keep the cluster's DNS busy.
	together = 16
	// quiet is between two lines about what is missing.
	quiet = 5 * time.Second
)

// Lookup finds a host's addresses.
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// Clock reads the time, and sleeps.
type Clock interface {
	Now() time.Time
	// Sleep ends early when the context does.
	Sleep(ctx context.Context, d time.Duration)
}

// Wait returns nil as soon as all hosts that must be found are, and this pod's own name resolves to the pod.
func Wait(ctx context.Context, task *Task, lookup Lookup, clock Clock, out io.Writer) error {
	w := &waiter{task: task, lookup: lookup, clock: clock, out: out, found: map[string]bool{}}
	if own, err := netip.ParseAddr(task.Own); err == nil && !task.mine(own) {
		return fail(ExitStale, "the job's pods know this one as %s, but it is %s: the addresses are those of deleted pods",
			task.Own, addressWords(task.IPs))
	}
	for _, peers := range task.Peers {
		for _, host := range peers.Hosts {
			w.found[host] = isIP(host)
		}
	}
	if len(w.missing()) == 0 {
		say(out, "peers are known by their IPs, and this pod is %s itself: nothing to wait for", task.Own)
		return nil
	}
	start := clock.Now()
	say(out, "waiting until the names of %s resolve, for %s at most; this pod is %s, %s",
		peersWords(w.total()), task.Timeout, task.Own, addressWords(task.IPs))
	if err := w.wait(ctx, start); err != nil {
		return err
	}
	say(out, "%s, after %s", w.foundWords(), clock.Now().Sub(start).Round(time.Millisecond))
	return nil
}

// waiter is the state of Wait.
type waiter struct {
	task   *Task
	lookup Lookup
	clock  Clock
	out    io.Writer

	found map[string]bool
	// other is what the pod's own name resolved to when that was not the pod.
	other []netip.Addr
	// lookupErr is why the last name was not found.
	lookupErr error
	// next is where among the missing the next round begins.
	next int
}

func (w *waiter) wait(ctx context.Context, start time.Time) error {
	reported := start
	for {
		missing := w.missing()
		switch now := w.clock.Now(); {
		case len(missing) == 0:
			return nil
		case ctx.Err() != nil:
			return fail(ExitStopped, "stopped: %s", w.missingWords(missing))
		case now.Sub(start) >= w.task.Timeout:
			return w.timedOut(missing)
		case now.Sub(reported) >= quiet:
			say(w.out, "%s", w.missingWords(missing))
			reported = now
		case !w.lookAt(ctx, w.round(missing)): // of a gang that is starting the next pod may be there too
			w.clock.Sleep(ctx, pause)
		}
	}
}

func (w *waiter) timedOut(missing []string) error {
	if len(w.other) > 0 && slices.Equal(missing, []string{w.task.Own}) {
		return fail(ExitStale, "the name %s is that of %s, and not this pod's, which is %s: another pod has its place",
			w.task.Own, addressWords(w.other), addressWords(w.task.IPs))
	}
	return fail(ExitTimeout, "gave up after %s: %s", w.task.Timeout, w.missingWords(missing))
}

// missing are the names that are not found of roles of which too few are, and the pod's own, in order.
func (w *waiter) missing() []string {
	var missing []string
	for _, peers := range w.task.Peers {
		if !w.enough(peers) {
			missing = append(missing, peers.Hosts...)
		}
	}
	missing = slices.DeleteFunc(missing, func(host string) bool { return w.found[host] })
	if !w.found[w.task.Own] && !slices.Contains(missing, w.task.Own) {
		missing = append(missing, w.task.Own)
	}
	return missing
}

func (w *waiter) enough(peers Peers) bool {
	found := 0
	for _, host := range peers.Hosts {
		if w.found[host] {
			found++
		}
	}
	return peers.Least == 0 || found >= peers.Least && w.found[peers.Hosts[0]]
}

// round is what is looked up next. Where some names may stay missing, they must not keep the others from being looked up.
func (w *waiter) round(missing []string) []string {
	if len(missing) <= together {
		return missing
	}
	batch := make([]string, together)
	for i := range batch {
		batch[i] = missing[(w.next+i)%len(missing)]
	}
	w.next = (w.next + together) % len(missing)
	return batch
}

// lookAt looks names up at the same time, and reports whether any was found.
func (w *waiter) lookAt(ctx context.Context, names []string) bool {
	addresses := make([][]netip.Addr, len(names))
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Add(1)
		go func() {
			defer group.Done()
			addresses[i], errs[i] = w.lookup(ctx, name)
		}()
	}
	group.Wait()
	found := false
	for i, name := range names {
		found = w.judge(name, addresses[i], errs[i]) || found
	}
	return found
}

func (w *waiter) judge(name string, addresses []netip.Addr, err error) bool {
	if name == w.task.Own {
		w.other = nil
	}
	switch {
	case err != nil || len(addresses) == 0:
		w.lookupErr = err
		return false
	case name == w.task.Own && !w.task.mine(addresses...):
		w.other = addresses // DNS may still know the pod that had its name before
		return false
	}
	w.found[name] = true
	return true
}

// maxNames is how many names a line has.
const maxNames = 8

// missingWords returns which names are missing, and how many are needed.
func (w *waiter) missingWords(missing []string) string {
	text := fmt.Sprintf("%d of %s not found yet: %s", len(missing), peersWords(w.total()), nameWords(missing))
	if needed := w.needed(); needed < w.total() {
		text += fmt.Sprintf("; %d are needed", needed)
	}
	if len(w.other) > 0 {
		text += fmt.Sprintf("; %s resolves to %s, which is not this pod", w.task.Own, addressWords(w.other))
	}
	var unknown *net.DNSError
	if w.lookupErr != nil && (!errors.As(w.lookupErr, &unknown) || !unknown.IsNotFound) {
		text += fmt.Sprintf("; DNS says: %v", w.lookupErr)
	}
	return text
}

func (w *waiter) foundWords() string {
	found := 0
	for _, known := range w.found {
		if known {
			found++
		}
	}
	if all := w.total(); found < all {
		return fmt.Sprintf("%d of %s are found, which is enough", found, peersWords(all))
	}
	return fmt.Sprintf("all of %s are found", peersWords(found))
}

// total is the number of peers, this pod included.
func (w *waiter) total() int { return len(w.found) }

// needed is how many peers must be found.
func (w *waiter) needed() (needed int) {
	for _, peers := range w.task.Peers {
		needed += peers.Least
	}
	return needed
}

func peersWords(n int) string {
	if n == 1 {
		return "1 peer"
	}
	return fmt.Sprintf("%d peers", n)
}

func nameWords(names []string) string {
	if more := len(names) - maxNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

func addressWords(addresses []netip.Addr) string {
	all := make([]string, len(addresses))
	for i, address := range addresses {
		all[i] = address.String()
	}
	return strings.Join(all, ", ")
}
