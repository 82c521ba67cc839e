// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

const (
	// ttl is how long a node counts as alive that says nothing.
	ttl = 6 * time.Second
	// look lies between two looks at etcd.
	look = 200 * time.Millisecond
)

// member is this node among the job's.
type member struct {
	*process.Process
	launcher *rules.ElasticLauncher
	etcd     *etcd
	prefix   string
	own      node
	lease    int64
	// stop ends the keeping of the lease, and stopped is closed when it has.
	stop    context.CancelCauseFunc
	stopped chan struct{}
}

// register makes the node known for as long as it lives. The context that it returns ends when the lease does.
func register(ctx context.Context, p *process.Process, launcher *rules.ElasticLauncher) (*member, context.Context, error) {
	m := &member{Process: p, launcher: launcher, etcd: newEtcd(p.Net, launcher.Etcd), prefix: "/paddle/" + launcher.Job + "/"}
	low, high, _ := rules.PortRange(p.Env)
	endpoint, err := p.Net.Free(ctx, launcher.Host, low, high)
	if err != nil {
		return nil, nil, err
	}
	m.own = node{ID: rand.Text(), Endpoint: endpoint}
	if m.lease, err = m.etcd.grant(ctx, ttl); err != nil {
		return nil, nil, err
	}
	if err := m.tell(ctx); err != nil {
		return nil, nil, err
	}
	kept, cancel := context.WithCancelCause(ctx)
	m.stop, m.stopped = cancel, make(chan struct{})
	go func() {
		defer close(m.stopped)
		for wire.Sleep(kept, ttl/3) == nil {
			if err := m.etcd.keep(kept, m.lease); err != nil {
				cancel(err)
			}
		}
	}()
	return m, kept, nil
}

// end stops keeping the lease, and tells the others at once that the node has gone, also when it was told to go. A crash
// tells nobody.
func (m *member) end(ctx context.Context, err error) {
	m.stop(nil)
	<-m.stopped
	defer m.etcd.close()
	if errors.Is(err, train.ErrCrash) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = m.etcd.revoke(ctx, m.lease) // without it they wait for the lease to end
}

func (m *member) tell(ctx context.Context) error {
	text, err := json.Marshal(m.own)
	if err != nil {
		return err
	}
	return m.etcd.put(ctx, m.prefix+nodesKey+m.own.ID, string(text), m.lease)
}

// leave says that the node is in a round no more.
func (m *member) leave(ctx context.Context, round int64) error {
	m.own.Left = round
	return m.tell(ctx)
}

// errDone says that the others have finished the job.
var errDone = errors.New("the job is done")

// meet waits for a round that the node is in. The oldest node plans it, once enough are there and stay the same.
func (m *member) meet(ctx context.Context) (plan, error) {
	timeout := time.Duration(m.launcher.Timeout) * time.Second
	var seen []string
	since, begin := time.Now(), time.Now()
	for {
		j, err := read(ctx, m.etcd, m.prefix)
		switch {
		case err != nil:
			return plan{}, err
		case j.done != "":
			return plan{}, fmt.Errorf("%w: model sha256 %s", errDone, j.done)
		case j.plan.round > m.own.Left && slices.Contains(j.plan.IDs, m.own.ID):
			return j.plan, nil
		}
		nodes := j.chosen(m.launcher.Most)
		if now := ids(nodes); !slices.Equal(now, seen) {
			m.Say("elastic: %d nodes, of %d to %d", len(j.nodes), m.launcher.Least, m.launcher.Most)
			seen, since = now, time.Now()
		}
		enough := len(nodes) == m.launcher.Most || len(nodes) >= m.launcher.Least && time.Since(since) >= timeout
		switch {
		case enough && seen[0] == m.own.ID && j.free(m.launcher.Most):
			if err := m.plan(ctx, nodes, j.plan.round); err != nil {
				return plan{}, err
			}
			continue
		case len(nodes) < m.launcher.Least && time.Since(begin) > m.Net.Deadline+timeout:
			return plan{}, fmt.Errorf("wrong world size: %d nodes, of at least %d, within %s", len(nodes), m.launcher.Least, m.Net.Deadline+timeout)
		}
		if err := wire.Sleep(ctx, look); err != nil {
			return plan{}, err
		}
	}
}

// plan writes the next round, unless somebody else has.
func (m *member) plan(ctx context.Context, nodes []node, last int64) error {
	next := plan{IDs: ids(nodes)}
	for _, n := range nodes {
		next.Endpoints = append(next.Endpoints, n.Endpoint)
	}
	text, err := json.Marshal(next)
	if err == nil {
		_, err = m.etcd.swap(ctx, m.prefix+planKey, string(text), last)
	}
	return err
}

// errChanged ends a round whose nodes are no longer those of the job.
var errChanged = errors.New("the job's nodes have changed")

// watch ends a round when it is over.
func (m *member) watch(ctx context.Context, round int64, end context.CancelCauseFunc) {
	for wire.Sleep(ctx, look) == nil {
		if j, err := read(ctx, m.etcd, m.prefix); err == nil && (j.plan.round != round || j.over(m.launcher.Most)) && j.done == "" {
			end(errChanged)
		}
	}
}
