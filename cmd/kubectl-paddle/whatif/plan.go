// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

// Plan is where a job would go.
type Plan struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Taken is when the cluster was as the plan has it.
	Taken metav1.Time `json:"taken"`
	// Fits says whether the job's gang would start now.
	Fits bool `json:"fits"`
	// Where says it in the scheduler's words.
	Where string `json:"where,omitempty"`
	// Roles are in the order of their names.
	Roles []Role `json:"roles,omitempty"`
	// Traffic is what a step of training sends, from the nodes up.
	Traffic []Traffic `json:"traffic,omitempty"`
	// Unit of the traffic: bytes, or sizes of the model.
	Unit string `json:"unit,omitempty"`
	// Why it does not fit, and what helps.
	Why []story.Sentence `json:"why,omitempty"`
	// Empty says whether it would fit on the cluster if nothing ran there.
	Empty Empty `json:"emptyCluster"`
	// First are jobs that wait too and would take their nodes in the same moment; Blocked says that it would fit if they did not.
	First   []Gang `json:"first,omitempty"`
	Blocked bool   `json:"fitsWithoutThem,omitempty"`
	// Evicted are pods that would have to go, and Gone those that went with their node.
	Evicted []Gang `json:"evicted,omitempty"`
	Gone    []Gang `json:"gone,omitempty"`
	// Notes say what the plan rests on.
	Notes []string `json:"notes,omitempty"`
}

// Units of traffic.
const (
	Bytes = "bytes"
	Sizes = "sizes of the model"
)

// Role is where the pods of one role would go.
type Role struct {
	Name string `json:"name"`
	Pods int    `json:"pods"`
	// Places are in the order of the network.
	Places []Place `json:"places,omitempty"`
}

// Place is a node, with how many pods of a role it has.
type Place struct {
	Node string `json:"node"`
	// Domain is the node's place in the network, from the outside in, such as block-0/rack-3.
	Domain string `json:"domain,omitempty"`
	Pods   int    `json:"pods"`
}

// Traffic is what a step of training sends between the domains of one tier.
type Traffic struct {
	Tier string  `json:"tier"`
	Now  float64 `json:"now"`
	// Best is the same on the empty cluster, if the job fits there.
	Best *float64 `json:"best,omitempty"`
}

// Empty is what would be if nothing ran on the cluster.
type Empty struct {
	Fits  bool             `json:"fits"`
	Where string           `json:"where,omitempty"`
	Why   []story.Sentence `json:"why,omitempty"`
}

// Gang is a job or PodGroup of others, with so many of its pods.
type Gang struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Pods      int    `json:"pods"`
}

// Answer asks the scheduler.
func Answer(q *Question) (*Plan, error) {
	c, err := q.ask()
	if err != nil {
		return nil, err
	}
	p := &Plan{Namespace: c.wanted.Namespace, Name: c.name(simulate.Key(c.wanted)), Taken: c.taken, Notes: c.notes, Gone: c.gangs(c.gone)}
	if p.missing(c, q.Snapshot) {
		return p, nil
	}
	now, err := simulate.Run(&c.Cluster, simulate.Key(c.wanted))
	if err != nil {
		return nil, err
	}
	empty, err := simulate.Run(c.emptied(), simulate.Key(c.wanted))
	if err != nil {
		return nil, err
	}
	p.Notes = append(p.Notes, now.Notes...)
	p.tell(c, now)
	p.compare(c, empty)
	if !p.Fits && len(p.First) > 0 {
		alone, err := simulate.Run(c.alone(), simulate.Key(c.wanted))
		if err != nil {
			return nil, err
		}
		p.Blocked = c.fits(alone)
	}
	return p, nil
}
