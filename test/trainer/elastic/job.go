// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Keys of a job in etcd, behind its prefix.
const (
	nodesKey = "nodes/"
	planKey  = "plan"
	doneKey  = "done"
)

// node is one that is alive.
type node struct {
	ID       string
	Endpoint string
	// Left is the last round that it was in and is no more.
	Left    int64
	created int64
}

// plan is a round: who is in it, in the order of their ranks. Its number is the revision at which it was written.
type plan struct {
	IDs       []string
	Endpoints []string
	round     int64
}

// job is what etcd knows of a job at one time.
type job struct {
	// nodes are in the order of their age.
	nodes []node
	plan  plan
	// done is the trained model's hash, empty before.
	done string
}

// read reads all that etcd knows of a job.
func read(ctx context.Context, e *etcd, prefix string) (job, error) {
	var j job
	entries, err := e.list(ctx, prefix)
	if err != nil {
		return j, err
	}
	for _, entry := range entries {
		name := strings.TrimPrefix(string(entry.Key), prefix)
		switch {
		case name == doneKey:
			j.done = string(entry.Value)
		case name == planKey:
			err = json.Unmarshal(entry.Value, &j.plan)
			j.plan.round = entry.Changed
		case strings.HasPrefix(name, nodesKey):
			n := node{created: entry.Created}
			err = json.Unmarshal(entry.Value, &n)
			j.nodes = append(j.nodes, n)
		}
		if err != nil {
			return j, fmt.Errorf("etcd has %s=%s: %w", entry.Key, entry.Value, err)
		}
	}
	slices.SortFunc(j.nodes, func(a, b node) int { return cmp.Compare(a.created, b.created) })
	return j, nil
}

// chosen are the nodes that may be in a round: the oldest, and no more than fit.
func (j *job) chosen(most int) []node { return j.nodes[:min(len(j.nodes), most)] }

func ids(nodes []node) []string {
	found := make([]string, 0, len(nodes))
	for _, n := range nodes {
		found = append(found, n.ID)
	}
	return found
}

// over says whether the job's present round has to end: other nodes are there than in it, or one of them has left it.
func (j *job) over(most int) bool {
	nodes := j.chosen(most)
	return !slices.Equal(ids(nodes), j.plan.IDs) || slices.ContainsFunc(nodes, func(n node) bool { return n.Left >= j.plan.round })
}

// free says whether all nodes have left the present round, so that another can be planned.
func (j *job) free(most int) bool {
	return !slices.ContainsFunc(j.chosen(most), func(n node) bool { return slices.Contains(j.plan.IDs, n.ID) && n.Left < j.plan.round })
}
