// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// changer makes random changes to a cluster.
type changer struct {
	*rand.Rand
	*cluster
	pods int
}

func (r *changer) some(names []string) string { return names[r.IntN(len(names))] }

// change makes one change to the cluster.
func (r *changer) change() {
	name := fmt.Sprint("n", r.IntN(8))
	switch kind := r.IntN(20); {
	case kind < 8:
		if _, ok := r.nodes[name]; ok {
			r.pods++
			r.pod(name, fmt.Sprint("p", r.pods), map[string]string{gpu: strconv.Itoa(r.IntN(4)), "cpu": r.some([]string{"0", "100m", "7"})})
		}
	case kind < 13:
		if running := r.cluster.pods[name]; len(running) > 0 {
			r.removePod(name, running[r.IntN(len(running))].Name)
		}
	case kind < 15:
		labels := map[string]string{productLabel: r.some([]string{"NVIDIA-L40S", "NVIDIA-H20"})}
		for _, key := range []string{rackKey, blockKey, CliqueLabel} {
			if value := r.IntN(3); value > 0 {
				labels[key] = strconv.Itoa(value)
			}
		}
		r.node(name, map[string]string{gpu: r.some([]string{"0", "4", "8"})}, labels)
	case kind < 16:
		delete(r.nodes, name)
		delete(r.cluster.pods, name)
	case kind < 18:
		var members []string
		for range r.IntN(4) {
			members = append(members, fmt.Sprint("n", r.IntN(8)))
		}
		r.hyper(fmt.Sprint("h", r.IntN(4)), 1+r.IntN(3), r.some([]string{"", "rack", "row"}), members...)
	case kind < 19:
		delete(r.hypers, fmt.Sprint("h", r.IntN(4)))
	default:
		r.scalars = []string{r.some([]string{"pods", "rdma/hca", gpu})}
	}
}

// placeTasks places tasks and takes some of them back, as a session does, and lets the network know.
func (r *changer) placeTasks(t *testing.T, n *Cache, v SessionView) {
	type placed struct {
		node string
		task *api.TaskInfo
	}
	var tasks []placed
	for i := range r.IntN(6) {
		node := r.some(sortedKeys(v.Nodes))
		if len(tasks) > 0 && r.IntN(3) == 0 {
			last := tasks[len(tasks)-1]
			tasks = tasks[:len(tasks)-1]
			require.NoError(t, v.Nodes[last.node].RemoveTask(last.task))
			n.Refresh(v.Nodes[last.node])
			continue
		}
		task := r.pod("", fmt.Sprint("t", i), map[string]string{gpu: strconv.Itoa(r.IntN(9)), "cpu": "1"})
		task.Status = []api.TaskStatus{api.Allocated, api.Releasing, api.Pipelined}[r.IntN(3)]
		require.NoError(t, v.Nodes[node].AddTask(task))
		n.Refresh(v.Nodes[node])
		tasks = append(tasks, placed{node, task})
	}
	mark := n.Topology().Begin()
	for _, info := range v.Nodes {
		n.SetFuture(info)
	}
	n.Topology().Rollback(mark)
}

// Whatever happened before, the network knows what one knows that sees the cluster for the first time.
func TestSync_AgreesWithANewCache(t *testing.T) {
	for seed := range uint64(60) {
		r := &changer{Rand: rand.New(rand.NewPCG(seed, 4)), cluster: newCluster()}
		options := withGPUs()
		options.Labels = []string{rackKey, blockKey}
		n := New(options)
		for step := range 40 {
			for range r.IntN(4) {
				r.change()
			}
			c, last := r.cluster, n.Topology()
			rebuilt := c.sync(t, n)
			require.Equal(t, rebuilt, last != n.Topology(), "seed %d, step %d", seed, step)
			if len(r.nodes) == 0 {
				continue
			}
			requireLikeNew(t, c, n)
			v := c.session()
			r.placeTasks(t, n, v)
			requireSound(t, n, len(r.nodes))
			fresh := New(options)
			_, err := fresh.Sync(v)
			require.NoError(t, err)
			for id := range placement.DomainID(len(r.nodes)) {
				is := byName(n, n.Topology().Free(id))
				for name, amount := range byName(fresh, fresh.Topology().Free(id)) {
					require.Equal(t, amount, is[name], "seed %d, step %d, %s of %s", seed, step, name, n.Topology().DomainName(id))
				}
			}
		}
	}
}
