// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// Minor versions of the API server. The sandbox has the first one.
const (
	kubernetes134 = "1.34"
	kubernetes137 = "1.37"
)

// Settings of a comparison.
type Settings struct {
	// Nodes are as many, of 8 GPUs each. Cases are gangs and their size, such as 50x20.
	Nodes int      `json:"nodes"`
	Cases []string `json:"cases"`
	// Kubernetes is the minor version of the API server.
	Kubernetes string `json:"kubernetes"`
	// Schedulers are some of those for that version. None means all.
	Schedulers []string `json:"schedulers"`
	Rounds     int      `json:"rounds"`
	// Settle is for how long a gang that no rack holds is observed.
	Settle time.Duration `json:"settle_ns"`
	// Folder for the report. The sandboxes' state is below it as long as they run.
	Folder string `json:"-"`
	// Patience is how long a turn may go without any progress before it ends.
	Patience time.Duration `json:"-"`
}

// Default returns the settings of `make bench-peers`.
func Default() Settings {
	return Settings{
		Nodes: 500, Cases: []string{"50x20", "200x4"}, Kubernetes: kubernetes134, Rounds: 3, Settle: 20 * time.Second,
		Folder: "_output/bench", Patience: 2 * time.Minute,
	}
}

// Flags declares the flags of the settings.
func (s *Settings) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for "+s.File())
	flags.IntVar(&s.Nodes, "nodes", s.Nodes, "simulated nodes, of 8 GPUs each")
	flags.StringSliceVar(&s.Cases, "cases", s.Cases, "gangs and their size")
	flags.StringVar(&s.Kubernetes, "kubernetes", s.Kubernetes, "version of the API server: 1.34, or 1.37, for which the report is another file")
	flags.StringSliceVar(&s.Schedulers, "peers", nil, fmt.Sprintf("some of %v, or with Kubernetes 1.37 of %v; none means all", schedulers(kubernetes134), schedulers(kubernetes137)))
	flags.IntVar(&s.Rounds, "rounds", s.Rounds, "rounds of each scheduler in each case")
}

// File returns the name of the report's file.
func (s *Settings) File() string {
	if s.Kubernetes == kubernetes137 {
		return "peers-1.37.json"
	}
	return "peers.json"
}

// Case is a number of gangs of equal size.
type Case struct{ Nodes, Gangs, Gang int }

func (c Case) String() string { return fmt.Sprintf("%d nodes, %dx%d", c.Nodes, c.Gangs, c.Gang) }

func (c Case) pods() int { return c.Gangs * c.Gang }

// complete checks the settings, names the schedulers, and returns the cases.
func (s *Settings) complete() ([]Case, error) {
	known := schedulers(s.Kubernetes)
	if known == nil {
		return nil, fmt.Errorf("kubernetes is %q: want %s or %s", s.Kubernetes, kubernetes134, kubernetes137)
	}
	if len(s.Schedulers) == 0 {
		s.Schedulers = known
	}
	for _, name := range s.Schedulers {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown peer %q: want some of %s", name, strings.Join(known, ", "))
		}
	}
	if s.Rounds < 1 || s.Nodes < 1 || len(s.Cases) == 0 {
		return nil, errors.New("rounds and nodes must each be 1 or more, and cases at least one")
	}
	racks := gpusOfRacks(load.Cluster(s.Nodes).Nodes())
	cases := make([]Case, 0, len(s.Cases))
	for _, text := range s.Cases {
		gangs, gang, err := load.ParseGangs(text)
		if err != nil {
			return nil, err
		}
		// One gang and one GPU less, because one pod is placed before.
		fit, free := -1, -1-gangs*gang
		for _, gpus := range racks {
			fit, free = fit+gpus/gang, free+gpus
		}
		if gangs > fit {
			return nil, fmt.Errorf("gangs %q: the racks of %d nodes hold %d gangs of %d: give more nodes", text, s.Nodes, max(0, fit), gang)
		}
		if largest := slices.Max(racks); free <= largest {
			return nil, fmt.Errorf("gangs %q: they leave %d GPUs of %d nodes, and a gang that no rack holds needs %d: give more nodes", text, free, s.Nodes, largest+1)
		}
		cases = append(cases, Case{Nodes: s.Nodes, Gangs: gangs, Gang: gang})
	}
	return cases, nil
}

// gpusOfRacks returns the number of GPUs of each rack.
func gpusOfRacks(nodes []*corev1.Node) []int {
	racks := map[string]int{}
	for _, node := range nodes {
		racks[node.Labels[topology.LabelRack]] += load.GPUsOfNode
	}
	return slices.Collect(maps.Values(racks))
}

// rotated returns the schedulers in the order of a round. Each round begins with another one.
func rotated(names []string, round int) []string {
	first := round % len(names)
	return slices.Concat(names[first:], names[:first])
}
