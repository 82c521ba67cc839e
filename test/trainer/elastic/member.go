// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
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
