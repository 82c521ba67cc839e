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
	panic(fmt.Sprintf("scenario %q: no cluster of %d has capacity for its job, or the load cannot be reached", s.Name, attempts))
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
	// kept is the rack that is to keep capacity for the job; -1 if none is.
	kept int
}

func (d *drawing) draw() bool {
	d.racks = d.fleet.Racks()
	d.kept = -1
	if d.OneRackHolds {
		d.kept = d.IntN(len(d.racks))
	}
	for range d.racks {
		d.weights = append(d.weights, 0.3+1.4*d.Float64())
	}
	d.strand()
	if !d.load() {
		return false
	}
	if !d.OneRackHolds {
		d.narrow()
	}
	return holdsJob(d.fleet, &d.Job)
}

// strand lets pods without GPUs run on some nodes.
func (d *drawing) strand() {
	for i := range d.fleet {
		if d.Float64() < 0.3 {
			d.run(&d.fleet[i], cluster.Amounts{CPU: 2 + d.Int64N(7), Memory: 16})
		}
	}
}

// load lets pods with GPUs run until the share is reached, and reports whether it is. A pod that fits no node is dropped.
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

// settle lets a pod run on some node that fits, and reports whether there is one.
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
		if r != d.kept || holdsJob(d.racks[r], &d.Job) {
			return true
		}
		node.Running = node.Running[:len(node.Running)-1]
	}
	return false
}

// narrow lets pods without GPUs run in each rack with capacity for the job, until it has not enough.
func (d *drawing) narrow() {
	pod := cluster.Amounts{CPU: 4, Memory: 8}
	for _, rack := range d.racks {
		for holdsJob(rack, &d.Job) {
			if node := &rack[d.IntN(len(rack))]; node.Free().Holds(pod) {
				d.run(node, pod)
			}
		}
	}
}

func (*drawing) run(node *cluster.Node, pod cluster.Amounts) {
	node.Running = append(node.Running, pod)
}

// Scenario is a kind of job on a kind of cluster.
type Scenario struct {
	Name string
	Job  cluster.Job
	// Load is the share of all GPUs that others hold.
	Load float64
	// OneRackHolds reports whether some rack holds the whole job, or none does.
	OneRackHolds bool
	Shape        cluster.Shape
	// others are the GPUs of pods that run already, to pick from.
	others []int64
	number uint64
}

var (
	machine = cluster.Amounts{CPU: 64, Memory: 512, GPU: 8}
	server  = cluster.Amounts{CPU: 8, Memory: 32}
	worker  = cluster.Amounts{CPU: 5, Memory: 32, GPU: 1}
)

// ranks of several GPUs each.
func ranks(gpus int64) cluster.Amounts {
	return cluster.Amounts{CPU: 6 * gpus, Memory: 32 * gpus, GPU: gpus}
}

// Racks are 8 nodes of 8 GPUs, blocks 8 racks.
const (
	perRack  = 8
	perBlock = 8
)

// Pods of others: mixed ones; and, where the job asks for whole nodes, such as leave it some.
var (
	mixed = []int64{1, 1, 1, 2, 2, 4, 8}
	whole = []int64{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 2, 1, 1}
)

func blocks(n int) cluster.Shape {
	return cluster.Shape{Nodes: n * perBlock * perRack, PerRack: perRack, RacksPerBlock: perBlock, Capacity: machine}
}

// Scenarios are six sizes of jobs at three loads, where a rack has capacity for the job and where none has. No rack holds
// 512 GPUs.
func Scenarios() []Scenario {
	usual, large := blocks(4), blocks(16)
	kinds := []struct {
		name  string
		job   cluster.Job
		shape cluster.Shape
		other []int64
		fits  []bool
	}{
		{"PS 4+16", cluster.ServersAndWorkers("ps", 4, 16, server, worker), usual, mixed, []bool{true, false}},
		{"PS 8+32", cluster.ServersAndWorkers("ps", 8, 32, server, worker), usual, mixed, []bool{true, false}},
		{"PS 16+64", cluster.ServersAndWorkers("ps", 16, 64, server, worker), usual, mixed, []bool{true, false}},
		{"collective 32", cluster.Ring("ring", 32, ranks(1)), usual, mixed, []bool{true, false}},
		{"collective 64", cluster.Ring("ring", 16, ranks(4)), usual, mixed, []bool{true, false}},
		{"collective 512", cluster.Ring("ring", 64, ranks(8)), large, whole, []bool{false}},
	}
	var all []Scenario
	for _, kind := range kinds {
		for _, load := range []float64{0.5, 0.7, 0.85} {
			for _, fits := range kind.fits {
				words := "a rack has room"
				if !fits {
					words = "no rack has room"
				}
				all = append(all, Scenario{
					Name: fmt.Sprintf("%s, load %.0f %%, %s", kind.name, 100*load, words),
					Job:  kind.job, Load: load, OneRackHolds: fits, Shape: kind.shape, others: kind.other, number: uint64(len(all)),
				})
			}
		}
	}
	return all
}
