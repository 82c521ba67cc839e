// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// Prompt is how soon a gang that waits is bound once it fits: when the last pod of one that had its place is gone.
type Prompt struct {
	Scheduler string `json:"scheduler"`
	Nodes     int    `json:"nodes"`
	Gang      int    `json:"gang"`
	// Pending pods wait all the time.
	Pending int `json:"pending_pods"`
	// Waits are in seconds, until the last pod of a gang is bound; Sessions sums them up in sessions, of which one began each Session
	// seconds on average.
	Session  float64    `json:"session_s"`
	Sessions times.Wait `json:"wait_sessions"`
	Waits    []float64  `json:"waits"`
}

const (
	// A rack of 16 nodes holds 8 gangs of 16; 12 more wait for it.
	promptRack = "rack-0"
	promptGang = 16
	promptWait = 12
	// period is how long a scheduler waits for the next session at most.
	period = time.Second
)

// prompt measures how soon a waiting gang is bound after another one in a full rack was deleted.
func (p *player) prompt(ctx context.Context, nodes int, who string, samples int) (result Prompt, err error) {
	if err := p.stopIdle(true); err != nil {
		return Prompt{}, err
	}
	l := load.Load{
		Form: load.PodGroups, Gang: promptGang, Scheduler: binderOf(who).pods, Nodes: map[string]string{topology.LabelRack: promptRack},
	}
	fits := p.gpus(promptRack) / promptGang
	if fits == 0 {
		return Prompt{}, fmt.Errorf("rack %s holds no gang of %d: a larger cluster is needed", promptRack, promptGang)
	}
	l.Gangs = fits + promptWait
	p.History = times.New(load.Namespace)
	if err := l.Submit(ctx, p.Plane); err != nil {
		return Prompt{}, err
	}
	work, err := p.ready(ctx, who)
	if err != nil {
		return Prompt{}, err
	}
	end, err := work()
	if err != nil {
		return Prompt{}, err
	}
	if err := p.AwaitPods(ctx, "bound", fits*promptGang, func() int { return p.History.Bound }); err != nil {
		return Prompt{}, err
	}
	before, err := p.sessions(ctx, binderOf(who).component)
	if err != nil {
		return Prompt{}, err
	}
	begin := time.Now()
	waits, err := p.takeOver(ctx, l, samples)
	if err != nil {
		return Prompt{}, err
	}
	after, err := p.sessions(ctx, binderOf(who).component)
	if err != nil {
		return Prompt{}, err
	}
	result = Prompt{
		Scheduler: who, Nodes: nodes, Gang: promptGang, Pending: promptWait * promptGang, Waits: waits,
		Session: time.Since(begin).Seconds() / max(1, after-before),
	}
	wait := times.WaitOf(waits)
	result.Sessions = times.Wait{P50: wait.P50 / result.Session, P99: wait.P99 / result.Session, Max: wait.Max / result.Session}
	return result, errors.Join(end(), load.Clear(ctx, p.Plane))
}

// takeOver has gangs end one by one, the one that came first before the others and each at another moment between two
// sessions, and returns how long the next one waited. For each that is gone another one comes.
func (p *player) takeOver(ctx context.Context, l load.Load, samples int) ([]float64, error) {
	known := map[int]bool{} // those that have or had a place
	next := l.First + l.Gangs
	holders := p.newlyPlaced(l, next, known)
	waits := make([]float64, 0, samples)
	for k := range samples {
		_, part := math.Modf(float64(k) * math.Phi)
		if err := pause(ctx, time.Duration(part*float64(period))); err != nil {
			return nil, err
		}
		holder, want := holders[0], p.History.Bound+l.Gang
		if err := l.Withdraw(ctx, p.Plane, holder); err != nil {
			return nil, err
		}
		if err := p.AwaitPods(ctx, "bound", want, func() int { return p.History.Bound }); err != nil {
			return nil, err
		}
		takers := p.newlyPlaced(l, next, known)
		if len(takers) != 1 {
			return nil, fmt.Errorf("%d gangs are placed whole where one had gone", len(takers))
		}
		holders = append(holders[1:], takers...)
		waits = append(waits, p.History.Placed(l.Name(takers[0])).Sub(p.History.Freed(l.Name(holder))).Seconds())
		one := l
		one.First, one.Gangs = next, 1
		if err := one.Submit(ctx, p.Plane); err != nil {
			return nil, err
		}
		next++
	}
	return waits, nil
}

// newlyPlaced returns the gangs below end that are placed and were not known, in the order in which they were; then they are.
func (p *player) newlyPlaced(l load.Load, end int, known map[int]bool) []int {
	var found []int
	for i := l.First; i < end; i++ {
		if !known[i] && !p.History.Placed(l.Name(i)).IsZero() {
			known[i] = true
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int { return p.History.Placed(l.Name(a)).Compare(p.History.Placed(l.Name(b))) })
	return found
}

// gpus returns how many a rack has.
func (at *site) gpus(rack string) (sum int) {
	for _, node := range at.cluster.Nodes() {
		if node.Labels[topology.LabelRack] == rack {
			sum += load.GPUsOfNode
		}
	}
	return sum
}

// sessions returns how many a scheduler has had.
func (at *site) sessions(ctx context.Context, component string) (float64, error) {
	values, err := at.Metrics(ctx, component)
	return values["volcano_e2e_scheduling_latency_milliseconds_count"], err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
