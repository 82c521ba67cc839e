// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

var (
	machine = cluster.Amounts{CPU: 96, Memory: 768, GPU: 8}
	rank    = cluster.Amounts{CPU: 6, Memory: 32, GPU: 1}
	server  = cluster.Amounts{CPU: 8, Memory: 32}
	worker  = cluster.Amounts{CPU: 5, Memory: 32, GPU: 1}
)

// hosts are drawn as the GPUs that they have left: racks end in |, blocks in ;. Each GPU that is taken takes what a rank asks for.
func hosts(t *testing.T, drawn string) *Cluster {
	t.Helper()
	var fleet cluster.Fleet
	var free []cluster.Amounts
	racks := 0
	for b, blockText := range strings.Split(drawn, ";") {
		for rackText := range strings.SplitSeq(blockText, "|") {
			racks++
			for gpus := range strings.FieldsSeq(rackText) {
				left, err := strconv.Atoi(gpus)
				require.NoError(t, err)
				fleet = append(fleet, cluster.Node{
					Name: fmt.Sprintf("host-%02d", len(fleet)), Rack: fmt.Sprintf("rack-%d", racks), Block: fmt.Sprintf("block-%d", b), Capacity: machine,
				})
				free = append(free, less(machine, rank, int(machine.GPU)-left))
			}
		}
	}
	c := New(fleet, nil)
	c.Free = free
	return c
}

func ring(pods, gpus int) *workload.Job {
	k := int64(gpus)
	request := cluster.Amounts{CPU: rank.CPU * k, Memory: rank.Memory * k, GPU: rank.GPU * k}
	return &workload.Job{Job: cluster.Ring("ring", pods, request), GPUs: pods * gpus, Compute: 1, Steps: 1, ModelBytes: 1e9}
}

func servers(servers, workers int) *workload.Job {
	return &workload.Job{Job: cluster.ServersAndWorkers("ps", servers, workers, server, worker), GPUs: workers, Compute: 1, Steps: 1, ModelBytes: 1e9}
}

// counts returns the pods on each host by role, as "host:pods"; wait if the job waits.
func counts(at Placement) string {
	if at == nil {
		return "wait"
	}
	var roles []string
	for _, pods := range at {
		var text []string
		for i := 0; i < len(pods); {
			n := 1
			for i+n < len(pods) && pods[i+n] == pods[i] {
				n++
			}
			text = append(text, fmt.Sprintf("%d:%d", pods[i], n))
			i += n
		}
		roles = append(roles, strings.Join(text, " "))
	}
	return strings.Join(roles, ", ")
}

func TestRules(t *testing.T) {
	const (
		mixed = "4 2 | 3 3 ; 8 1 | 8 8"
		small = "3 3 | 3 3"
	)
	for _, tc := range []struct {
		what, hosts string
		job         *workload.Job
		kueue, kai  string
	}{
		{"the tightest host", mixed, ring(4, 1), "0:4", "0:4"},
		{"KAI begins with the fullest block", "8 6 | 8 8 ; 7 1 | 1 1", ring(6, 1), "1:6", "4:6"},
		{"the tightest rack, the fullest host of it first", mixed, ring(9, 1), "4:8 5:1", "4:8 5:1"},
		// Hosts 6 and 7 are last in KAI's order of 8, with 80,000 and 100,000.
		{"one rack holds all", mixed, ring(12, 1), "6:8 7:4", "7:8 6:4"},
		// KAI's order is 1 0 2 3 5 4 6 7, and hosts 4, 6 and 7 have 70,000, 80,000 and 100,000.
		{"Kueue chooses among hosts of both racks", mixed, ring(20, 1), "4:8 6:8 7:4", "7:8 6:8 4:4"},
		{"several blocks", mixed, ring(30, 1), "0:4 1:2 4:8 6:8 7:8", "7:8 6:8 4:8 5:1 3:3 2:2"},
		{"too large", mixed, ring(38, 1), "wait", "wait"},
		{"pods of several GPUs", mixed, ring(3, 8), "4:1 6:1 7:1", "7:1 6:1 4:1"},
		{"pods of 4 GPUs", mixed, ring(3, 4), "6:2 7:1", "7:2 6:1"},
		{"no host has capacity for a pod", small, ring(1, 4), "wait", "wait"},
		{"one server with its workers", mixed, servers(1, 4), "0:1, 0:4", "0:1, 0:4"},
		// 54 CPUs of host 5 are the fewest that hold both servers. KAI takes the sum of what both roles ask for.
		{"several servers", mixed, servers(2, 8), "5:2, 4:8", "4:2, 4:8"},
	} {
		at, err := Kueue(false)(hosts(t, tc.hosts), tc.job)
		require.NoError(t, err)
		require.Equal(t, tc.kueue, counts(at), "Kueue: %s", tc.what)
		at, err = KAI(false)(hosts(t, tc.hosts), tc.job)
		require.NoError(t, err)
		require.Equal(t, tc.kai, counts(at), "KAI: %s", tc.what)
	}
}

// A host holds 8 ranks where nothing runs, a rack of two hosts 16, and both racks 32.
func TestRequiredLevels(t *testing.T) {
	for _, tc := range []struct {
		what, hosts string
		job         *workload.Job
		want        string // of Kueue; KAI differs in the order of hosts
		waits       bool
	}{
		{"a host", "3 3 | 3 5", ring(5, 1), "3:5", false},
		{"no host has capacity now", "3 3 | 3 3", ring(4, 1), "wait", true},
		{"a rack", "8 2 | 8 1", ring(10, 1), "0:8 1:2", false},
		{"no rack has capacity now", "5 5 | 8 1", ring(12, 1), "wait", true},
		{"all hosts", "8 5 | 8 1", ring(18, 1), "0:8 1:2 2:8", false},
		{"larger than the cluster", "8 8 | 8 8", ring(33, 1), "wait", true},
	} {
		at, err := Kueue(true)(hosts(t, tc.hosts), tc.job)
		require.NoError(t, err)
		require.Equal(t, tc.want, counts(at), tc.what)
		at, err = KAI(true)(hosts(t, tc.hosts), tc.job)
		require.NoError(t, err)
		require.Equal(t, tc.waits, at == nil, "KAI: %s", tc.what)
	}
}

func TestALeaderTakesCapacityFromItsWorkers(t *testing.T) {
	c := hosts(t, "4 5")
	c.Free[0].CPU = 20 // all for workers
	at, err := Kueue(false)(c, servers(1, 4))
	require.NoError(t, err)
	require.Equal(t, "1:1, 1:4", counts(at))
	c.Free[1].CPU = 20
	at, err = Kueue(false)(c, servers(1, 4))
	require.NoError(t, err)
	require.Equal(t, "0:1, 0:2 1:2", counts(at))
	c.Free[0].CPU, c.Free[1].CPU = 7, 7
	at, err = Kueue(false)(c, servers(1, 2))
	require.NoError(t, err)
	require.Nil(t, at, "no host has capacity for the server")
}

func TestTier(t *testing.T) {
	c := hosts(t, "0 0 | 0 0 ; 0 0 | 0 0")
	for want, job := range map[int]*workload.Job{host: ring(8, 1), rack: ring(9, 1), block: ring(17, 1), root: ring(33, 1)} {
		require.Equal(t, want, c.Tier(&job.Job), "what runs now does not count")
	}
	require.Equal(t, host, c.Tier(&servers(7, 8).Job), "96 CPUs")
	require.Equal(t, rack, c.Tier(&servers(8, 8).Job), "104 CPUs")
	require.Equal(t, root, c.Tier(&ring(99, 1).Job))
}

func TestPack(t *testing.T) {
	c := hosts(t, "8 4 | 8 4")
	together := pack(c.tree[root][0], c.Free, &servers(2, 12).Job, false)
	require.Equal(t, "1:2, 0:8 1:4", counts(together), "host 1 has 52 CPUs left for servers, host 0 has 56")
	apart := pack(c.tree[root][0], c.Free, &servers(2, 12).Job, true)
	require.Equal(t, "0:1 1:1, 0:8 1:4", counts(apart))
	require.Nil(t, pack(c.tree[rack][0], c.Free, &ring(13, 1).Job, false))
	require.Equal(t, "2:8 3:1", counts(pack(c.tree[rack][1], c.Free, &ring(9, 1).Job, false)))
}

func TestAlone(t *testing.T) {
	c := hosts(t, "0 0 | 0 0 ; 0 0 | 0 0")
	widths := [root]float64{1e9, 2e9, 4e9}
	for _, tc := range []struct {
		what string
		job  *workload.Job
		step float64
		tier [root]float64
	}{
		{"on one host", ring(8, 1), 1, [root]float64{}},
		{"two hosts", ring(16, 1), 1 + 1.875, [root]float64{2 * 1.875e9}},
		{"the same in pods of 8 GPUs", ring(2, 8), 1 + 1.875, [root]float64{2 * 1.875e9}},
		{"four hosts of a block", ring(32, 1), 1 + 1.9375, [root]float64{4 * 1.9375e9, 2 * 1.9375e9}},
		{"all", ring(64, 1), 1 + 1.96875, [root]float64{8 * 1.96875e9, 4 * 1.96875e9, 2 * 1.96875e9}},
		{"one host holds the server and 8 workers", servers(1, 8), 1, [root]float64{}},
		// The one server sends to 4 workers elsewhere at least: 4e9 leave each host.
		{"a server and 12 workers", servers(1, 12), 1 + 4, [root]float64{2 * 4e9}},
		// With 8 workers on each host and a server each: 0.5e9 (8 + 8). Both servers on one of them: 0.5e9 (2 8) as well.
		{"two servers and 16 workers", servers(2, 16), 1 + 8, [root]float64{2 * 8e9}},
	} {
		least := c.Alone(tc.job, widths)
		require.InDelta(t, tc.step, least.Step, 1e-9, tc.what)
		for tier, bytes := range tc.tier {
			require.InDelta(t, bytes, least.Bytes[tier], 1, "%s: tier %d", tc.what, tier)
		}
	}
}
