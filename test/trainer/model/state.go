// SPDX-License-Identifier: Apache-2.0

package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// Segment says how many ranks trained from a step on.
type Segment struct{ From, World int }

// State is training at the beginning of a step: all that is needed to go on, and to work out what it must be.
type State struct {
	Settings
	Step   int
	Params []float64
	Loss   float64
	// Worlds are in the order of their steps, the first from step 0.
	Worlds []Segment
}

// NewState is the state before the first step.
func NewState(settings Settings) State {
	return State{Settings: settings, Params: Init(settings.Seed)}
}

// Grow says that so many ranks train from the state's step on.
func (s *State) Grow(world int) {
	if last := len(s.Worlds) - 1; last < 0 || s.Worlds[last].World != world {
		s.Worlds = append(s.Worlds[:len(s.Worlds):len(s.Worlds)], Segment{From: s.Step, World: world})
	}
}

// Replay takes all steps up to the state's in one process, and returns an error unless they lead to the state.
func (s *State) Replay() (*Replica, error) {
	replica := NewReplica(s.Settings)
	at := 0
	for replica.Step < s.Step {
		for at+1 < len(s.Worlds) && s.Worlds[at+1].From <= replica.Step {
			at++
		}
		if at >= len(s.Worlds) || s.Worlds[at].World < 1 {
			return nil, fmt.Errorf("the state of step %d does not say how many ranks trained: %v", s.Step, s.Worlds)
		}
		replica.Next(s.Worlds[at].World)
	}
	if err := replica.Check(s.Step, s.Params, s.Loss); err != nil {
		return nil, fmt.Errorf("the state of step %d: %w", s.Step, err)
	}
	return replica, nil
}

// Hash identifies parameters by all their bits.
func Hash(params []float64) string {
	hash := sha256.New()
	for _, value := range params {
		_ = binary.Write(hash, binary.LittleEndian, math.Float64bits(value)) // a hash takes everything
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// heldOut is how many clicks a model is judged by.
const heldOut = 512

// Loss judges parameters by clicks that nobody trains on.
func Loss(seed uint64, params []float64) float64 {
	_, _, loss := RunMiddle(params, RunFront(params, draw(seed, heldOutStream, heldOut)))
	return Mean(loss, heldOut)
}
