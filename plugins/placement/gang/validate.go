// SPDX-License-Identifier: Apache-2.0

package gang

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

const (
	maxMembers = 1 << 16
	// maxPipelineMembers is less, as flows of several sizes are counted in fractions.
	maxPipelineMembers = 1 << 13
	maxStage           = 64
)

// Validate returns what is wrong with a demand for a topology.
func (d *Demand) Validate(t *tree.Topology) error {
	if err := d.checkWhole(t); err != nil {
		return fmt.Errorf("read the demand: %w", err)
	}
	members := 0
	for i := range d.Roles {
		role := &d.Roles[i]
		if err := role.check(t, d.Pattern); err != nil {
			return fmt.Errorf("read the demand: role %q: %w", role.Name, err)
		}
		members += len(role.Pending) + len(role.Placed)
	}
	if members > maxMembers || d.Pattern == Pipeline && members > maxPipelineMembers {
		return fmt.Errorf("read the demand: %d members are too many to plan for", members)
	}
	return nil
}

func (d *Demand) checkWhole(t *tree.Topology) error {
	top := len(t.Tiers()) - 1
	switch {
	case d.Pattern < Single || d.Pattern > Pipeline:
		return fmt.Errorf("pattern %d is not known", d.Pattern)
	case d.ParameterBytes < 0 || math.IsInf(d.ParameterBytes, 0) || math.IsNaN(d.ParameterBytes):
		return fmt.Errorf("%v bytes of parameters, want 0 or more", d.ParameterBytes)
	case d.GroupSize < 0 || d.GroupSize > maxMembers:
		return fmt.Errorf("parallel groups of %d ranks", d.GroupSize)
	case min(d.Parallelism.Pipeline, d.Parallelism.Sharding, d.Parallelism.Sep, d.Parallelism.Tensor, d.Parallelism.Expert) < 0,
		max(d.Parallelism.Pipeline, d.Parallelism.Sharding, d.Parallelism.Sep, d.Parallelism.Tensor, d.Parallelism.Expert) > maxMembers:
		return fmt.Errorf("parallelism %+v, want degrees from 0 to %d", d.Parallelism, maxMembers)
	case d.HighestTier < 0 || d.HighestTier > top:
		return fmt.Errorf("highest tier %d, want %d (node) to %d, or 0 for no limit", d.HighestTier, tree.NodeTier, top)
	case d.Colocation < Preferred || d.Colocation > None:
		return fmt.Errorf("colocation %d is not known", d.Colocation)
	case d.ColocationTier < 0 || d.ColocationTier > top:
		return fmt.Errorf("colocation tier %d, want %d (node) to %d", d.ColocationTier, tree.NodeTier, top)
	}
	return nil
}

func (r *Role) check(t *tree.Topology, pattern Pattern) error {
	if err := tree.CheckAmounts(r.Request, len(t.Resources())); err != nil {
		return err
	}
	for i, amount := range r.Request {
		if amount < 0 {
			return fmt.Errorf("it requests %d %s", amount, t.Resources()[i])
		}
	}
	if t.GPUs(r.Request) > maxMembers {
		return fmt.Errorf("%d GPUs for one pod", t.GPUs(r.Request))
	}
	switch {
	case r.CommRole < NoTraffic || r.CommRole > PipelineWorker:
		return fmt.Errorf("communication role %d is not known", r.CommRole)
	case r.CommRole == PipelineWorker && pattern == Pipeline && (r.Stage < 1 || r.Stage > maxStage):
		return fmt.Errorf("stage %d of pipeline workers, want 1 to %d", r.Stage, maxStage)
	case r.Minimum < 0:
		return fmt.Errorf("minimum %d", r.Minimum)
	case r.Minimum > len(r.Pending)+len(r.Placed):
		return fmt.Errorf("its minimum is %d and it has %d members", r.Minimum, len(r.Pending)+len(r.Placed))
	case r.Eligible != nil && !r.Eligible.For(t):
		return errors.New("its eligible nodes are of another topology")
	case r.Penalty != nil && len(r.Penalty) != t.Nodes():
		return fmt.Errorf("%d penalties, want one for each of the %d nodes", len(r.Penalty), t.Nodes())
	}
	for _, penalty := range r.Penalty {
		if penalty < 0 {
			return fmt.Errorf("penalty %d is below 0", penalty)
		}
	}
	return r.checkMembers(t)
}

func (r *Role) checkMembers(t *tree.Topology) error {
	for i, index := range r.Pending {
		if index < 0 || i > 0 && index <= r.Pending[i-1] {
			return fmt.Errorf("pending member %d is out of order", index)
		}
	}
	for i, member := range r.Placed {
		_, pending := slices.BinarySearch(r.Pending, member.Index)
		switch {
		case member.Index < 0 || i > 0 && member.Index <= r.Placed[i-1].Index:
			return fmt.Errorf("placed member %d is out of order", member.Index)
		case pending:
			return fmt.Errorf("member %d is both pending and placed", member.Index)
		case member.Node < 0 || int(member.Node) >= t.Nodes():
			return fmt.Errorf("member %d is on node %d, which the topology does not have", member.Index, member.Node)
		}
	}
	return nil
}
