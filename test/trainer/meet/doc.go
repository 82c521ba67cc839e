// SPDX-License-Identifier: Apache-2.0

// Package meet is the trainer's wire protocol: one JSON object a line, over TCP.
//
// A process that listens at an endpoint runs a [Hub]. The members of a group connect to it, and each sends its name, the
// peer that it looks for and what it knows of the job. Then the members exchange data: each sends its own, and receives that of all
// members once all have sent it.
package meet

import "encoding/json"

// Group is a set of processes that exchange data.
type Group struct {
	// Name is what a member is called, for example TRAINER.
	Name string
	Size int
	// Job is what must be equal for all members, for example the endpoints of all servers.
	Job string
	// Round is different for each group that an elastic job forms.
	Round string
}

// ByArrival is the rank of a member whose rank is the order in which it came.
const ByArrival = -1

// request is what a member sends: first a hello with Group, Rank and To, then Data for each Key, and Bye at the end.
type request struct {
	Group *Group `json:",omitempty"`
	Rank  int
	// To is the endpoint that the member connects to.
	To   string          `json:",omitempty"`
	Key  string          `json:",omitempty"`
	Data json.RawMessage `json:",omitempty"`
	Bye  bool            `json:",omitempty"`
}

// reply is what a hub answers.
type reply struct {
	// All is the data of all members in the order of their ranks.
	All   []json.RawMessage `json:",omitempty"`
	Error string            `json:",omitempty"`
	// Lost reports that a member has gone or has not come.
	Lost bool `json:",omitempty"`
	// Retry reports that the hub is in another round.
	Retry bool `json:",omitempty"`
}
