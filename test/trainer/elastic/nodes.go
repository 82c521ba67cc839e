// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

const (
	// ttl is how long etcd keeps a node that does not renew its lease.
	ttl = 6 * time.Second
	// look is the time between two looks at etcd.
	look = 200 * time.Millisecond
	// doneFor is how long etcd keeps that a job is done, for nodes that come too late.
	doneFor = time.Minute
)

// member is this node among the nodes of the job.
type member struct {
	*process.Process
	launcher *rules.ElasticLauncher
	etcd     *etcd
	prefix   string
	endpoint string
	lease    int64
}

// register makes the node known until its lease ends. The context that it returns ends when the lease cannot be renewed.
func register(ctx context.Context, p *process.Process, launcher *rules.ElasticLauncher) (*member, context.Context, error) {
	m := &member{Process: p, launcher: launcher, etcd: newEtcd(p.Net, launcher.Etcd), prefix: "/paddle/" + launcher.Job + "/"}
	low, high, _ := rules.PortRange(p.Env)
	var err error
	if m.endpoint, err = p.Net.Free(ctx, launcher.Host, low, high); err == nil {
		m.lease, err = m.etcd.grant(ctx, ttl)
	}
	if err == nil {
		err = m.etcd.put(ctx, m.prefix+"nodes/"+rand.Text(), m.endpoint, m.lease)
	}
	if err != nil {
		return nil, nil, err
	}
	kept, cancel := context.WithCancelCause(ctx)
	go func() {
		for wire.Sleep(kept, ttl/3) == nil {
			if err := m.etcd.keep(kept, m.lease); err != nil {
				cancel(err)
			}
		}
	}()
	return m, kept, nil
}

// deregister makes the other nodes see at once that this one leaves.
func (m *member) deregister(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = m.etcd.revoke(ctx, m.lease) // without it the others wait for the lease to end
	m.etcd.close()
}

// job is what etcd has of the job: its nodes from the oldest to the youngest, and the hash of the trained model.
type job struct {
	nodes []entry
	done  string
}

func (m *member) read(ctx context.Context) (j job, err error) {
	entries, err := m.etcd.list(ctx, m.prefix)
	for _, e := range entries {
		if strings.HasPrefix(string(e.Key), m.prefix+"nodes/") {
			j.nodes = append(j.nodes, e)
		} else {
			j.done = string(e.Value)
		}
	}
	slices.SortFunc(j.nodes, func(a, b entry) int { return cmp.Compare(a.Created, b.Created) })
	return j, err
}

// round is the nodes that train together, in the order of their ranks. A node that starts again has another key.
type round struct{ keys, endpoints []string }

// chosen returns the oldest nodes, as many as may train.
func (j *job) chosen(most int) (r round) {
	for _, e := range j.nodes[:min(len(j.nodes), most)] {
		r.keys, r.endpoints = append(r.keys, string(e.Key)), append(r.endpoints, string(e.Value))
	}
	return r
}

var (
	errDone    = errors.New("the job is done")
	errChanged = errors.New("the job's nodes have changed")
)

// meet waits until enough nodes are there and stay the same, and this one is among them.
func (m *member) meet(ctx context.Context) (round, error) {
	timeout := time.Duration(m.launcher.Timeout) * time.Second
	var seen round
	begin, since := time.Now(), time.Now()
	for {
		j, err := m.read(ctx)
		if err != nil {
			return round{}, err
		}
		if j.done != "" {
			return round{}, fmt.Errorf("%w: model sha256 %s", errDone, j.done)
		}
		now := j.chosen(m.launcher.Most)
		if !slices.Equal(now.keys, seen.keys) {
			m.Say("elastic: %d nodes, of %d to %d", len(j.nodes), m.launcher.Least, m.launcher.Most)
			seen, since = now, time.Now()
		}
		count := len(now.keys)
		enough := count == m.launcher.Most || count >= m.launcher.Least && time.Since(since) >= timeout
		if enough && slices.Contains(now.endpoints, m.endpoint) {
			return now, nil
		}
		if count < m.launcher.Least && time.Since(begin) > m.Net.Deadline+timeout {
			return round{}, fmt.Errorf("wrong world size: %d nodes, of at least %d, within %s", count, m.launcher.Least, m.Net.Deadline+timeout)
		}
		if err := wire.Sleep(ctx, look); err != nil {
			return round{}, err
		}
	}
}

// watch ends a round when its nodes are no longer those of the job.
func (m *member) watch(ctx context.Context, r round, end context.CancelCauseFunc) {
	for wire.Sleep(ctx, look) == nil {
		j, err := m.read(ctx)
		if err == nil && j.done == "" && !slices.Equal(j.chosen(m.launcher.Most).keys, r.keys) {
			end(errChanged)
		}
	}
}
