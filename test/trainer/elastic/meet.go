// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

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
