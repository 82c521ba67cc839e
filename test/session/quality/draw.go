// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Instance is one cluster drawn for a scenario.
type Instance struct {
	*Scenario
	Fleet cluster.Fleet
	// Seed and Index draw it again.
	Seed  uint64
	Index int
}

// Draw a cluster for a scenario: the same one for the same seed and index.
func Draw(s *Scenario, seed uint64, index int) *Instance {
	const attempts = 100
	for attempt := range uint64(attempts) {
		rng := rand.New(rand.NewPCG(seed, s.number<<32|uint64(index)<<8|attempt))
		d := drawing{Rand: rng, Scenario: s, fleet: s.Shape.Fleet()}
		if d.draw() {
			return &Instance{Scenario: s, Fleet: d.fleet, Seed: seed, Index: index}
		}
	}
	panic(fmt.Sprintf("scenario %q: no cluster of %d has room for its job, or the load is out of reach", s.Name, attempts))
}

// String names the instance.
func (in *Instance) String() string {
	return fmt.Sprintf("seed %d, %s, cluster %d", in.Seed, in.Name, in.Index)
}

// drawing is a cluster while it is drawn.
type drawing struct {
	*rand.Rand
	*Scenario
	fleet cluster.Fleet
	racks []cluster.Fleet
	// weights of racks: some are busier than others.
	weights []float64
	// kept is the rack that is to keep room for the job; -1 if none is.
	kept int
}

func (d *drawing) draw() bool {
	d.racks = d.fleet.Racks()
	d.kept = -1
	if d.RackHasRoom {
		d.kept = d.IntN(len(d.racks))
	}
	for range d.racks {
		d.weights = append(d.weights, 0.3+1.4*d.Float64())
	}
	d.strand()
	if !d.load() {
		return false
	}
	if !d.RackHasRoom {
		d.narrow()
	}
	return hasRoom(d.fleet, &d.Job)
}

// strand lets pods without GPUs run on some nodes.
func (d *drawing) strand() {
	for i := range d.fleet {
		if d.Float64() < 0.3 {
			d.run(&d.fleet[i], cluster.Amounts{CPU: 2 + d.Int64N(7), Memory: 16})
		}
	}
}

// load lets pods with GPUs run until the share is reached, and says whether it is. A pod that finds no room is forgotten.
func (d *drawing) load() bool {
	target, held := int64(d.Load*float64(machine.GPU*int64(len(d.fleet)))+0.5), int64(0)
	for range machine.GPU * int64(len(d.fleet)) {
		gpus := min(d.others[d.IntN(len(d.others))], target-held)
		if d.settle(cluster.Amounts{CPU: gpus * (5 + d.Int64N(3)), Memory: 32 * gpus, GPU: gpus}) {
			held += gpus
		}
		if held == target {
			return true
		}
	}
	return false
}

// settle lets a pod run on some node with room.
func (d *drawing) settle(pod cluster.Amounts) bool {
	for range 4 * len(d.fleet) {
		r := d.IntN(len(d.racks))
		if d.Float64()*1.7 > d.weights[r] {
			continue
		}
		node := &d.racks[r][d.IntN(len(d.racks[r]))]
		if !node.Free().Holds(pod) {
			continue
		}
		d.run(node, pod)
		if r != d.kept || hasRoom(d.racks[r], &d.Job) {
			return true
		}
		node.Running = node.Running[:len(node.Running)-1]
	}
	return false
}

// narrow lets pods without GPUs run in each rack that has room for the job, until it has not.
func (d *drawing) narrow() {
	pod := cluster.Amounts{CPU: 4, Memory: 8}
	for _, rack := range d.racks {
		for hasRoom(rack, &d.Job) {
			if node := &rack[d.IntN(len(rack))]; node.Free().Holds(pod) {
				d.run(node, pod)
			}
		}
	}
}

func (*drawing) run(node *cluster.Node, pod cluster.Amounts) {
	node.Running = append(node.Running, pod)
}
