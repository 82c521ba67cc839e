// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Scenario is a kind of job on a kind of cluster.
type Scenario struct {
	Name string
	Job  cluster.Job
	// Load is the share of all GPUs that others hold.
	Load float64
	// RackHasRoom says whether some rack holds the whole job, or none does.
	RackHasRoom bool
	Shape       cluster.Shape
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

// Scenarios are six sizes of jobs at three loads, where a rack has room for the job and where none has. No rack holds
// 512 GPUs.
func Scenarios() []Scenario {
	usual, large := blocks(4), blocks(16)
	kinds := []struct {
		name  string
		job   cluster.Job
		shape cluster.Shape
		other []int64
		rooms []bool
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
			for _, room := range kind.rooms {
				words := "a rack has room"
				if !room {
					words = "no rack has room"
				}
				all = append(all, Scenario{
					Name: fmt.Sprintf("%s, load %.0f %%, %s", kind.name, 100*load, words),
					Job:  kind.job, Load: load, RackHasRoom: room, Shape: kind.shape, others: kind.other, number: uint64(len(all)),
				})
			}
		}
	}
	return all
}
