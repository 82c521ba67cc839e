// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"
	"fmt"
	"time"
)

// Settings of a measurement.
type Settings struct {
	// Jobs of Servers and Workers each, on Nodes simulated nodes.
	Jobs, Servers, Workers, Nodes int
	// Rounds of each of the two kinds that are compared: forth and back, so that a machine that gets slower meanwhile is unfair
	// to none.
	Rounds int
	// RunFor is how long workers run once they are placed: longer than it takes until the last pod is, since what is measured is
	// how jobs begin. kwok does not hold a container back until its environment is there either.
	RunFor time.Duration
	// Folder for controller.json; the sandboxes' state is below it as long as they run.
	Folder string
	// Patience is how long a round may go without any progress before it is given up.
	Patience time.Duration
}

// Default is what the bars are for.
func Default() Settings {
	return Settings{
		Jobs: 1000, Servers: 2, Workers: 8, Nodes: 200, Rounds: 3, RunFor: 8 * time.Minute, Folder: "_output/bench", Patience: 2 * time.Minute,
	}
}

func (s *Settings) check() error {
	if s.Jobs < 1 || s.Servers < 1 || s.Workers < 1 || s.Nodes < 1 || s.Rounds < 1 {
		return errors.New("jobs, servers, workers, nodes and rounds must each be 1 or more")
	}
	if s.Patience < time.Second {
		return fmt.Errorf("patience is %s: give a round at least a second", s.Patience)
	}
	return nil
}

func (s *Settings) pods() int { return s.Jobs * (s.Servers + s.Workers) }
