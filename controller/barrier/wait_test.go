// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// world is a clock that passes only when somebody sleeps, and names that resolve from some moment on.
type world struct {
	mu   sync.Mutex
	now  time.Duration
	dns  map[string][]record
	asks map[string]int
	err  error // instead of "no such host"
	// slept is called with each time that is reached.
	slept func(now time.Duration)
	// cancel ends a wait that should have ended long ago.
	cancel func()
}

// record is what a name resolves to from some moment on.
type record struct {
	from time.Duration
	ip   string
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Unix(0, 0).Add(w.now)
}

func (w *world) Sleep(_ context.Context, d time.Duration) {
	w.mu.Lock()
	w.now += d
	now := w.now
	w.mu.Unlock()
	if w.slept != nil {
		w.slept(now)
	}
	if now > time.Hour {
		w.cancel()
	}
}

func (w *world) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asks == nil {
		w.asks = map[string]int{}
	}
	w.asks[host]++
	var ip string
	for _, r := range w.dns[host] {
		if r.from <= w.now {
			ip = r.ip
		}
	}
	if ip == "" {
		if w.err != nil {
			return nil, w.err
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if ip == none {
		return nil, nil
	}
	return []netip.Addr{netip.MustParseAddr(ip)}, nil
}

// none stands for an answer without addresses.
const none = "none"

// at is a name that resolves to one IP from some moment on.
func at(from time.Duration, ip string) []record { return []record{{from, ip}} }

// run waits as the pod wide-worker-1, which is 10.0.0.9, and gives what it said, and when it ended.
func run(ctx context.Context, w *world, task *Task) (sentence []string, after time.Duration, err error) {
	var out bytes.Buffer
	if task.Own == "" {
		task.Own = "wide-worker-1.wide"
	}
	task.IPs = []netip.Addr{netip.MustParseAddr("10.0.0.9")}
	if task.Timeout == 0 {
		task.Timeout = time.Minute
	}
	ctx, w.cancel = context.WithCancel(ctx)
	defer w.cancel()
	err = Wait(ctx, task, w.lookup, w, &out)
	for line := range strings.Lines(out.String()) {
		sentence = append(sentence, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "paddle-barrier: "))
	}
	return sentence, w.now, err
}

// hosts are the names of so many pods of a role.
func hosts(role string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("wide-%s-%d.wide", role, i)
	}
	return all
}

func servers(n, least int) Peers { return Peers{hosts("ps", n), least} }
func workers(n, least int) Peers { return Peers{hosts("worker", n), least} }

func requireCode(t *testing.T, code int, err error, words ...string) {
	t.Helper()
	var why *failure
	require.ErrorAs(t, err, &why)
	require.Equal(t, code, why.code, why.text)
	for _, word := range words {
		require.Contains(t, why.text, word)
	}
}

func TestWaitUntilAllNamesResolve(t *testing.T) {
	w := &world{dns: map[string][]record{
		"wide-ps-0.wide": at(0, "10.0.0.1"), "wide-ps-1.wide": at(1200*time.Millisecond, "10.0.0.2"),
		"wide-worker-0.wide": at(6210*time.Millisecond, "10.0.0.3"), "wide-worker-1.wide": at(0, "10.0.0.9"),
	}}
	sentence, after, err := run(t.Context(), w, &Task{Peers: []Peers{servers(2, 2), workers(2, 2)}})
	require.NoError(t, err)
	require.GreaterOrEqual(t, after, 6210*time.Millisecond)
	require.LessOrEqual(t, after, 6410*time.Millisecond, "it goes on within 200 ms")
	require.Equal(t, []string{
		"waiting until the names of 4 peers resolve, for 1m0s at most; this pod is wide-worker-1.wide, 10.0.0.9",
		"1 of 4 peers not found yet: wide-worker-0.wide",
		"all of 4 peers are found, after 6.3s",
	}, sentence)
	require.Equal(t, 1, w.asks["wide-ps-0.wide"], "what is found is not looked up again")
}

func TestWaitForNothing(t *testing.T) {
	for name, peers := range map[string][]Peers{
		"names that are there":   {workers(2, 2)},
		"IPs, and its own":       {{Hosts: []string{"10.0.0.8", "10.0.0.9"}, Least: 2}},
		"two pods on one node":   {{Hosts: []string{"10.0.0.9", "10.0.0.9"}, Least: 2}},
		"names that need not be": {workers(2, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{dns: map[string][]record{"wide-worker-0.wide": at(0, "10.0.0.3"), "wide-worker-1.wide": at(0, "10.0.0.9")}}
			sentence, after, err := run(t.Context(), w, &Task{Own: peers[0].Hosts[1], Peers: peers})
			require.NoError(t, err)
			require.Zero(t, after)
			require.NotEmpty(t, sentence)
		})
	}
	w := &world{}
	sentence, _, err := run(t.Context(), w, &Task{Own: "10.0.0.9", Peers: []Peers{{Hosts: []string{"10.0.0.8", "10.0.0.9"}, Least: 2}}})
	require.NoError(t, err)
	require.Equal(t, []string{"peers are known by their IPs, and this pod is 10.0.0.9 itself: nothing to wait for"}, sentence)
	require.Empty(t, w.asks)
}

func TestAddressesOfDeletedPods(t *testing.T) {
	_, after, err := run(t.Context(), &world{}, &Task{Own: "10.0.0.7", Peers: []Peers{{Hosts: []string{"10.0.0.8", "10.0.0.7"}, Least: 2}}})
	requireCode(t, ExitStale, err, "10.0.0.7", "10.0.0.9", "deleted pods")
	require.Zero(t, after, "there is nothing to wait for")

	// In DNS the address of the pod before may linger: it is waited for, but not forever.
	w := &world{dns: map[string][]record{
		"wide-worker-0.wide": at(0, "10.0.0.3"),
		"wide-worker-1.wide": {{0, "10.0.0.4"}, {3 * time.Second, "10.0.0.9"}},
	}}
	_, after, err = run(t.Context(), w, &Task{Peers: []Peers{workers(2, 2)}})
	require.NoError(t, err)
	require.InDelta(t, 3, after.Seconds(), 0.2)
	w = &world{dns: map[string][]record{"wide-worker-0.wide": at(0, "10.0.0.3"), "wide-worker-1.wide": at(0, "10.0.0.4")}}
	sentence, after, err := run(t.Context(), w, &Task{Peers: []Peers{workers(2, 2)}})
	requireCode(t, ExitStale, err, "the name wide-worker-1.wide is that of 10.0.0.4", "10.0.0.9")
	require.InDelta(t, 60, after.Seconds(), 0.2)
	require.Contains(t, sentence, "1 of 2 peers not found yet: wide-worker-1.wide; wide-worker-1.wide resolves to 10.0.0.4, which is not this pod")
	// As long as others are missing too, there is more to it than that.
	_, _, err = run(t.Context(), w, &Task{Peers: []Peers{servers(1, 1), workers(2, 2)}})
	requireCode(t, ExitTimeout, err, "2 of 3 peers not found yet: wide-ps-0.wide, wide-worker-1.wide; wide-worker-1.wide resolves to 10.0.0.4")
	// Its name is gone altogether: that is no longer another pod's.
	w = &world{dns: map[string][]record{"wide-worker-0.wide": at(0, "10.0.0.3"), "wide-worker-1.wide": {{0, "10.0.0.4"}, {time.Second, ""}}}}
	_, _, err = run(t.Context(), w, &Task{Peers: []Peers{workers(2, 2)}})
	requireCode(t, ExitTimeout, err)
}

func TestTimeout(t *testing.T) {
	w := &world{dns: map[string][]record{"wide-worker-1.wide": at(0, "10.0.0.9")}}
	sentence, after, err := run(t.Context(), w, &Task{Timeout: 12 * time.Second, Peers: []Peers{servers(12, 12), workers(2, 2)}})
	requireCode(t, ExitTimeout, err, "gave up after 12s: 13 of 14 peers not found yet: wide-ps-0.wide, wide-ps-1.wide,",
		"wide-ps-7.wide and 5 more")
	require.InDelta(t, 12, after.Seconds(), 0.2)
	require.Len(t, sentence, 3, "a line at the start, and one every 5 s: %v", sentence)
	require.NotContains(t, err.Error(), "no such host")

	w.err = errors.New("lookup wide-ps-0.wide: connection refused")
	_, _, err = run(t.Context(), w, &Task{Timeout: 12 * time.Second, Peers: []Peers{servers(1, 1), workers(2, 2)}})
	requireCode(t, ExitTimeout, err, "DNS says: lookup wide-ps-0.wide: connection refused")
	w.err = &net.DNSError{Err: "i/o timeout", Name: "wide-ps-0.wide", Server: "10.0.0.10:53", IsTimeout: true}
	_, _, err = run(t.Context(), w, &Task{Timeout: 12 * time.Second, Peers: []Peers{servers(1, 1), workers(2, 2)}})
	requireCode(t, ExitTimeout, err, "DNS says: lookup wide-ps-0.wide on 10.0.0.10:53: i/o timeout")
	w.dns["wide-worker-0.wide"] = at(0, none)
	_, _, err = run(t.Context(), w, &Task{Timeout: 12 * time.Second, Peers: []Peers{workers(2, 2)}})
	requireCode(t, ExitTimeout, err, "gave up after 12s: 1 of 2 peers not found yet: wide-worker-0.wide")
}

func TestStoppedByASignal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &world{slept: func(now time.Duration) {
		if now > 2*time.Second {
			cancel()
		}
	}}
	_, after, err := run(ctx, w, &Task{Peers: []Peers{workers(2, 2)}})
	requireCode(t, ExitStopped, err, "stopped: 2 of 2 peers not found yet")
	require.InDelta(t, 2, after.Seconds(), 0.2)
}

// Where fewer pods are enough the others may be away for hours; but without the first of a role no pod finds another.
func TestFewerAreEnough(t *testing.T) {
	own, first, other := "wide-worker-1.wide", "wide-worker-0.wide", "wide-worker-99.wide"
	for name, c := range map[string]struct {
		names []string
		least int
		lacks string // "" if nothing
	}{
		"the first and its own":         {[]string{own, first}, 2, ""},
		"too few":                       {[]string{own, first}, 3, "98 of 100 peers not found yet: wide-worker-2.wide, wide-worker-3.wide, wide-worker-4.wide, wide-worker-5.wide, wide-worker-6.wide, wide-worker-7.wide, wide-worker-8.wide, wide-worker-9.wide and 90 more; 3 are needed"},
		"one far down the list":         {[]string{own, first, other}, 3, ""},
		"not the first":                 {[]string{own, other}, 2, "; 2 are needed"},
		"not its own":                   {[]string{first, other}, 2, "1 of 100 peers not found yet: wide-worker-1.wide"},
		"not its own, and one more":     {[]string{first, other}, 4, "98 of 100 peers not found yet: wide-worker-1.wide, wide-worker-2.wide, wide-worker-3.wide, wide-worker-4.wide, wide-worker-5.wide, wide-worker-6.wide, wide-worker-7.wide, wide-worker-8.wide and 90 more; 4 are needed"},
		"none but its own":              {[]string{own}, 0, ""},
		"none, and not its own either":  {nil, 0, "1 of 100 peers not found yet: wide-worker-1.wide"},
		"its own is one, not the first": {[]string{own}, 1, "; 1 are needed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{dns: map[string][]record{}}
			for i, name := range c.names {
				w.dns[name] = at(0, fmt.Sprintf("10.0.0.%d", 20+i))
			}
			if _, ok := w.dns[own]; ok {
				w.dns[own] = at(0, "10.0.0.9")
			}
			_, after, err := run(t.Context(), w, &Task{Peers: []Peers{workers(100, c.least)}})
			if c.lacks == "" {
				require.NoError(t, err)
				require.Less(t, after, 2*time.Second)
			} else {
				requireCode(t, ExitTimeout, err, c.lacks)
			}
		})
	}
	w := &world{dns: map[string][]record{first: at(0, "10.0.0.3"), own: at(0, "10.0.0.9")}}
	sentence, _, err := run(t.Context(), w, &Task{Peers: []Peers{workers(100, 4)}, Timeout: 8 * time.Second})
	requireCode(t, ExitTimeout, err, "98 of 100 peers not found yet", "; 4 are needed")
	require.Len(t, sentence, 2)
	w.dns["wide-worker-5.wide"], w.dns["wide-worker-6.wide"] = at(0, "10.0.0.4"), at(0, "10.0.0.5")
	sentence, _, err = run(t.Context(), w, &Task{Peers: []Peers{workers(100, 4)}})
	require.NoError(t, err)
	require.Contains(t, sentence[len(sentence)-1], "4 of 100 peers are found, which is enough, after ")
}

// A thousand names that come all at once are found at once, and those that do not come keep DNS from its work but little.
func TestLoadOnDNS(t *testing.T) {
	w := &world{dns: map[string][]record{}}
	for i, host := range hosts("worker", 1000) {
		w.dns[host] = at(20*time.Second, fmt.Sprintf("10.0.%d.%d", 1+i/250, i%250))
	}
	w.dns["wide-worker-1.wide"] = at(20*time.Second, "10.0.0.9")
	_, after, err := run(t.Context(), w, &Task{Peers: []Peers{workers(1000, 1000)}})
	require.NoError(t, err)
	require.InDelta(t, 20, after.Seconds(), 0.2)
	sum := 0
	for _, n := range w.asks {
		sum += n
	}
	// 16 names each 100 ms, and all once they are there.
	require.LessOrEqual(t, sum, 20*10*16+1000+100)
}
