// SPDX-License-Identifier: Apache-2.0

package play

import "github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"

// meter adds up amounts over time, within the window.
type meter struct {
	window, now float64
	// sums of amount times seconds.
	held, computing, fragmentedNode, fragmentedRack float64
}

func newMeter(window float64) *meter { return &meter{window: window} }

// seconds of the window that pass until a time.
func (m *meter) seconds(until float64) float64 {
	passed := min(until, m.window) - m.now
	if passed <= 0 {
		return 0
	}
	m.now += passed
	return passed
}

// measure adds what has been the case since the last time.
func (p *player) measure(until float64) {
	seconds := p.meter.seconds(until)
	if seconds == 0 {
		return
	}
	held, computing := 0.0, 0.0
	p.engine.Computing(func(id int, share float64) {
		gpus := float64(p.drawn.Jobs[id].GPUs)
		held += gpus
		computing += gpus * share
	})
	node, rack := p.site.Fragmentation(workload.Rank)
	m := p.meter
	m.held += seconds * held
	m.computing += seconds * computing
	m.fragmentedNode += seconds * node
	m.fragmentedRack += seconds * rack
}
