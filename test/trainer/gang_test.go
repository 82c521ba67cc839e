// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// pod is one process of a gang, at a separate loopback address.
type pod struct {
	name, ip string
	env      map[string]string
	line     []string
}

// gang is the processes of one job, which resolve names as its cluster does.
type gang struct {
	pods []*pod
	// dns has the addresses of names; lookups that it has no name for fail.
	mu  sync.Mutex
	dns map[string][]string
	dir string
}

var addresses atomic.Int32

// reserved is held for as long as the tests run.
var reserved net.Listener

// block is the second number of this run's loopback addresses. It is kept by listening, so that another run of these tests
// on the same machine takes another.
var block = sync.OnceValue(func() int {
	for n := 16; n < 255; n++ {
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.%d.0.1:35999", n)); err == nil {
			reserved = listener
			return n
		}
	}
	panic("no loopback addresses are free")
})

// newIP returns a loopback address that no other process of the tests has.
func newIP() string {
	n := addresses.Add(1)
	return fmt.Sprintf("127.%d.%d.%d", block(), n/250+1, n%250+1)
}

func newGang(t *testing.T) *gang { return &gang{dns: map[string][]string{}, dir: t.TempDir()} }

// add adds a pod with a name in the gang's domain.
func (g *gang) add(name string, line ...string) *pod {
	p := &pod{name: name, ip: newIP(), line: line, env: map[string]string{"MODEL_DIR": g.dir, "TRAINER_DEADLINE": "20s"}}
	g.dns[name+".job"] = []string{p.ip}
	g.pods = append(g.pods, p)
	return p
}

// set sets a variable of all pods.
func (g *gang) set(name, value string) *gang {
	for _, p := range g.pods {
		p.env[name] = value
	}
	return g
}

func (g *gang) resolve(_ context.Context, host string) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if found, ok := g.dns[host]; ok {
		return found, nil
	}
	return nil, fmt.Errorf("lookup %s: no such host", host)
}

// ended is how a process ended.
type ended struct {
	pod  *pod
	code int
	log  string
}

// logbook is a log that several goroutines write.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
	// seen is called with each line.
	seen func(line string)
}

func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen != nil {
		l.seen(string(line))
	}
	return l.text.Write(line)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start runs one pod; the channel gets its end.
func (g *gang) start(ctx context.Context, p *pod, seen func(line string)) <-chan ended {
	done := make(chan ended, 1)
	go func() {
		book := &logbook{seen: seen}
		proc := &process.Process{Env: maps.Clone(p.env), Dir: g.dir, Out: book,
			Net: &wire.Net{IP: p.ip, Resolve: g.resolve, Deadline: time.Minute}}
		err := Run(ctx, proc, p.line)
		done <- ended{pod: p, code: exit(ctx, err, book), log: book.String()}
	}()
	return done
}

func (p *pod) isServer() bool { return strings.HasPrefix(p.name, "ps") }

// run runs the whole gang: servers until all others have finished, and all processes until the first has failed, as in a gang that
// restarts.
func (g *gang) run(t *testing.T) map[string]ended {
	t.Helper()
	return g.runUntil(t, func(p *pod) bool { return !p.isServer() }, func(end ended) bool { return end.code != 0 })
}

// runApart runs until each trainer has exited. The other processes do not exit where trainers fail.
func (g *gang) runApart(t *testing.T) map[string]ended {
	t.Helper()
	return g.runUntil(t, func(p *pod) bool { return strings.HasPrefix(p.name, "worker") }, func(ended) bool { return false })
}

// runUntil runs the gang until all that count have finished, or it is over.
func (g *gang) runUntil(t *testing.T, counts func(*pod) bool, over func(ended) bool) map[string]ended {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ends := make(chan ended)
	left := 0
	for _, p := range g.pods {
		if counts(p) {
			left++
		}
		go func() { ends <- <-g.start(ctx, p, nil) }()
	}
	all := map[string]ended{}
	for range g.pods {
		end := <-ends
		all[end.pod.name] = end
		if counts(end.pod) {
			left--
		}
		if left == 0 || over(end) {
			stop()
		}
	}
	return all
}

// requireTrained checks that all have trained what one process trains for this number of ranks.
func (g *gang) requireTrained(t *testing.T, world int, all map[string]ended) {
	t.Helper()
	want := train.Hash(train.Model([]train.Segment{{World: world}}, 60))
	for _, p := range g.pods {
		end := all[p.name]
		switch {
		case p.isServer():
			require.Contains(t, []int{0, ExitStopped}, end.code, "%s: %s", p.name, end.log)
		case strings.Contains(p.name, "heter"):
			require.Zero(t, end.code, "%s: %s", p.name, end.log)
		default:
			require.Zero(t, end.code, "%s: %s", p.name, end.log)
			require.Contains(t, end.log, "model sha256 "+want, "%s: %s", p.name, end.log)
			require.Contains(t, end.log, "step 60 loss 0.")
		}
	}
	var written train.State
	text, err := os.ReadFile(filepath.Join(g.dir, train.ModelFile))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &written))
	require.Equal(t, want, train.Hash(written.Params))
	require.Equal(t, 60, written.Steps)
}

// psGang returns a job with servers, with gloo unless level is 0, known to each other by IPs or by names.
func psGang(t *testing.T, servers, trainers, level int, names bool) *gang {
	t.Helper()
	g := newGang(t)
	for i := range servers {
		g.add(fmt.Sprintf("ps-%d", i), "trainer")
	}
	for i := range trainers {
		g.add(fmt.Sprintf("worker-%d", i), "trainer")
	}
	address := func(p *pod) string {
		if names {
			return p.name + ".job"
		}
		return p.ip
	}
	var all []string
	for i, p := range g.pods {
		port := strconv.Itoa(36000 + 20*i)
		p.env["POD_IP"], p.env["PADDLE_PORT"], p.env["TRAINING_ROLE"] = address(p), port, rules.Server
		all = append(all, address(p)+":"+port)
		if i >= servers {
			p.env["TRAINING_ROLE"], p.env["PADDLE_TRAINER_ID"] = rules.Trainer, strconv.Itoa(i-servers)
		}
	}
	g.set("PADDLE_PSERVERS_IP_PORT_LIST", strings.Join(all[:servers], ","))
	g.set("PADDLE_TRAINER_ENDPOINTS", strings.Join(all[servers:], ","))
	g.set("PADDLE_TRAINERS_NUM", strconv.Itoa(trainers))
	if level > 0 {
		g.set("PADDLE_WITH_GLOO", strconv.Itoa(level)).set("PADDLE_GLOO_RENDEZVOUS", "3")
		g.set("PADDLE_GLOO_HTTP_ENDPOINT", address(g.pods[0])+":36018")
	}
	return g
}

// collectiveGang returns a job without servers, started by the launcher.
func collectiveGang(t *testing.T, trainers int, names bool) *gang {
	t.Helper()
	g := newGang(t)
	var endpoints, hosts []string
	for i := range trainers {
		p := g.add(fmt.Sprintf("worker-%d", i), "python", "-m", "paddle.distributed.launch", "train.py")
		p.env["POD_IP"] = p.ip
		if names {
			p.env["POD_IP"] = p.name + ".job"
		}
		p.env["PADDLE_TRAINER_ID"], p.env["PADDLE_PORT"], p.env["PADDLE_TRAINING_ROLE"] = strconv.Itoa(i), "36000", rules.Trainer
		p.env["TRAINER_PORTS_NUM"] = "20"
		hosts = append(hosts, p.env["POD_IP"])
		endpoints = append(endpoints, p.env["POD_IP"]+":36000")
	}
	g.set("PADDLE_TRAINER_ENDPOINTS", strings.Join(endpoints, ",")).set("PADDLE_TRAINERS", strings.Join(hosts, ","))
	return g.set("PADDLE_TRAINERS_NUM", strconv.Itoa(trainers))
}
