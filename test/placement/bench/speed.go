// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// Speed is one case against the clock.
type Speed struct {
	Case  string `json:"case"`
	Nodes int    `json:"nodes"`
	Pods  int    `json:"pods"`
	Jobs  int    `json:"jobs"`
	// MS of planning all jobs, and of taking each before the next where there are several: the median of some runs.
	MS float64 `json:"ms"`
	// LeastMS is the fastest run's: what a busy machine disturbs least, to compare fleets with.
	LeastMS float64 `json:"least_ms"`
	// SortMS is what sorting the topology's nodes by free GPUs took in between; Sorts is the time in such sorts, the median
	// over runs of each with the sorts around it.
	SortMS float64 `json:"node_sort_ms"`
	Sorts  float64 `json:"sorts"`
	// CPUSorts is the least processor time of a run in the least sorts: what a busy machine disturbs least. Bytes are what a run
	// allocated, the median.
	CPUSorts float64 `json:"cpu_sorts"`
	Bytes    float64 `json:"bytes"`
	// Warm says that a plan of the same request was made on this topology before, so that the index of what fits is there.
	Warm bool `json:"warm"`
	Runs int  `json:"runs"`
}

// scale is a fleet's size.
type scale struct{ nodes, racks, blocks int }

func (s scale) times(n int) scale { return scale{s.nodes * n, s.racks * n, s.blocks * n} }

var (
	largeFleet = scale{10_000, 320, 20}
	smallFleet = scale{5_000, 160, 10}
)

// Names of the cases that have a bar.
const (
	caseServers = "64 servers + 512 workers"
	caseRing    = "4096 GPUs, 512 pods of 8"
	caseRow     = "1000 jobs of 8 pods in a row"
	// caseWideRow is the same with jobs that no node holds; most of the others fit on one.
	caseWideRow = "1000 rings of 8 pods of 2 GPUs in a row"
	tenfold     = 10
)

// job is a case of one job, or of many in a row.
type job struct {
	name  string
	fleet scale
	jobs  int
	draw  func(i int) *placement.Demand
}

func speedCases(fleets []int) []job {
	server, worker := []int64{8, 32, 0}, []int64{6, 48, 1}
	always := func(d *placement.Demand) func(int) *placement.Demand {
		return func(int) *placement.Demand { return d }
	}
	servers, ring := instances.Servers(2, 6, server, worker), instances.Ring(8, []int64{8, 64, 1})
	var cases []job
	for _, n := range fleets {
		large, small := largeFleet.times(n), smallFleet.times(n)
		cases = append(cases,
			job{caseServers, large, 1, always(instances.Servers(64, 512, server, worker))},
			job{caseRing, large, 1, always(instances.Ring(512, []int64{64, 512, 8}))},
			job{caseRow, small, 1000, func(i int) *placement.Demand {
				if i%2 == 0 {
					return servers
				}
				return ring
			}},
			job{caseWideRow, small, 1000, always(instances.Ring(8, []int64{16, 128, 2}))},
		)
	}
	return cases
}

// Runs of each case, cold ones on a new topology each.
const (
	coldRuns = 9
	warmRuns = 15
	rowRuns  = 3
	// patience is the time, in milliseconds, after which a slow case is not run again.
	patience = 10_000.0
)

// fleets are the multiples of the fleets' sizes to measure on.
func (s Settings) fleets() []int {
	if s.NoTenfold {
		return []int{1}
	}
	return []int{1, tenfold}
}

// measureSpeed runs all cases in one goroutine.
func measureSpeed(s Settings, progress io.Writer) ([]Speed, error) {
	var rows []Speed
	fleets := map[scale]*instances.Fleet{}
	for _, c := range speedCases(s.fleets()) {
		if fleets[c.fleet] == nil {
			fleets[c.fleet] = instances.NewFleet(s.Seed, c.fleet.nodes, c.fleet.racks, c.fleet.blocks)
		}
		result.Say(progress, "speed: %s on %d nodes", c.name, c.fleet.nodes)
		measured, err := c.run(fleets[c.fleet])
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

// run measures a case cold, and warm if it is one job.
func (c job) run(f *instances.Fleet) ([]Speed, error) {
	runs := coldRuns
	if c.jobs > 1 {
		runs = rowRuns
	}
	var t *placement.Topology
	var stick *yardstick
	var cold []reading
	for spent := 0.0; len(cold) < runs && spent < patience; spent += cold[len(cold)-1].ms {
		t = f.Build()
		if stick == nil {
			stick = newYardstick(f, t)
		}
		var err error
		cold = append(cold, stick.between(func() { err = c.plan(t) }))
		if err != nil {
			return nil, err
		}
	}
	rows := []Speed{c.row(cold, false)}
	if c.jobs > 1 {
		return rows, nil
	}
	var warm []reading
	for spent := 0.0; len(warm) < warmRuns && spent < patience; spent += warm[len(warm)-1].ms {
		var err error
		warm = append(warm, stick.between(func() { err = c.plan(t) }))
		if err != nil {
			return nil, err
		}
	}
	return append(rows, c.row(warm, true)), nil
}

// plan all jobs, taking each if there are several.
func (c job) plan(t *placement.Topology) error {
	for i := range c.jobs {
		d := c.draw(i)
		plan, err := placement.Solve(t, d, placement.Options{})
		if err != nil {
			return fmt.Errorf("%s, job %d: %w", c.name, i, err)
		}
		if c.jobs == 1 {
			break
		}
		for _, a := range plan.Assignments {
			if _, err := t.Take(a.Node, d.Roles[a.Role].Request); err != nil {
				return fmt.Errorf("%s, job %d: %w", c.name, i, err)
			}
		}
	}
	return nil
}

func (c job) row(readings []reading, warm bool) Speed {
	pods := 0
	d := c.draw(0)
	for i := range d.Roles {
		pods += len(d.Roles[i].Pending)
	}
	return Speed{
		Case: c.name, Nodes: c.fleet.nodes, Pods: pods, Jobs: c.jobs, Warm: warm, Runs: len(readings),
		MS:       medianOf(readings, func(r reading) float64 { return r.ms }),
		LeastMS:  leastOf(readings, func(r reading) float64 { return r.ms }),
		SortMS:   medianOf(readings, func(r reading) float64 { return r.sort }),
		Sorts:    medianOf(readings, func(r reading) float64 { return r.ms / r.sort }),
		CPUSorts: leastOf(readings, func(r reading) float64 { return r.cpu }) / leastOf(readings, func(r reading) float64 { return r.sort }),
		Bytes:    medianOf(readings, func(r reading) float64 { return r.bytes }),
	}
}
