// SPDX-License-Identifier: Apache-2.0

package ps

import "github.com/paddle-volcano/paddle-volcano/test/trainer/model"

// Hello is what a client says to a server first. Each side must reckon with the same job.
type Hello struct {
	// Role and Index are the client's.
	Role  string
	Index int
	// Server is whom it takes itself to talk to, Servers all of them, and World the number of trainers.
	Server   int
	Servers  []string
	World    int
	Settings model.Settings
	Steps    int
}

// Welcome is a server's answer.
type Welcome struct {
	// Started says that the server has parameters, after Step steps.
	Started bool
	Step    int
}

// Version is a server's shard after Step steps, and the mean loss of the last one's clicks.
type Version struct {
	Step   int
	Params []float64
	Loss   float64
	Worlds []model.Segment
}

// Push is the gradient of one part of a trainer's clicks, as far as it belongs to the server's shard. The loss comes with
// the middle.
type Push struct {
	Rank, Step int
	Part       model.Part
	Sums       []int64
	Loss       int64
}

// Nothing is what calls take or return that have nothing to say.
type Nothing bool

// MiddleTask is what a trainer has the middle of the model do for a step, and Backward the answer.
type MiddleTask struct {
	Rank, Step int
	Forward    model.Forward
}
