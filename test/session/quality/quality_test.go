// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

func TestDrawnClustersAreWhatTheirScenariosSay(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Scenarios() {
		for index := range 2 {
			in := Draw(&s, 5, index)
			total := float64(len(in.Fleet)) * 8
			require.InDelta(t, s.Load, 1-float64(in.Fleet.Free().GPU)/total, 0.001, "%s", in)
			require.True(t, holdsJob(in.Fleet, &s.Job), "%s", in)
			racks := 0
			for _, rack := range in.Fleet.Racks() {
				if holdsJob(rack, &s.Job) {
					racks++
				}
			}
			require.Equal(t, s.OneRackHolds, racks > 0, "%s: %d racks have capacity", in, racks)
			for i := range in.Fleet {
				require.True(t, in.Fleet[i].Free().Holds(cluster.Amounts{}), "%s: %s is overfull", in, in.Fleet[i].Name)
			}
			require.Equal(t, in, Draw(&s, 5, index))
		}
		require.False(t, names[s.Name], "two scenarios are called %q", s.Name)
		names[s.Name] = true
		require.NotEqual(t, Draw(&s, 5, 0).Fleet, Draw(&s, 6, 0).Fleet)
	}
}

// Two nodes with 4 GPUs and 20 cores each: 4 workers take all cores of one node; 3 leave 5, which is too little for a
// server of 8; 2 leave 10, which is not.
func TestHoldsJobIsExact(t *testing.T) {
	nodes := cluster.Shape{Nodes: 2, PerRack: 2, RacksPerBlock: 1, Capacity: cluster.Amounts{CPU: 20, Memory: 512, GPU: 4}}.Fleet()
	for _, c := range []struct {
		servers, workers int
		want             bool
	}{{1, 6, true}, {1, 7, false}, {2, 4, true}, {2, 5, false}, {3, 2, true}, {4, 0, true}, {5, 0, false}, {0, 8, true}, {0, 9, false}} {
		job := cluster.ServersAndWorkers("j", c.servers, c.workers, server, worker)
		require.Equal(t, c.want, holdsJob(nodes, &job), "%d servers, %d workers", c.servers, c.workers)
	}
	ring := cluster.Ring("j", 4, ranks(2))
	require.False(t, holdsJob(nodes, &ring), "12 cores each")
}

// tiny returns a scenario that runs in milliseconds.
func tiny(job cluster.Job, fits bool) Scenario {
	return Scenario{
		Name: "tiny " + job.Name, Job: job, Load: 0.5, OneRackHolds: fits, others: mixed,
		Shape: cluster.Shape{Nodes: 16, PerRack: 4, RacksPerBlock: 2, Capacity: machine},
	}
}

func tinies() []Scenario {
	return []Scenario{
		tiny(cluster.ServersAndWorkers("ps", 3, 10, server, worker), true),
		tiny(cluster.ServersAndWorkers("ps-wide", 4, 24, server, worker), false),
		tiny(cluster.Ring("ring", 12, ranks(1)), true),
	}
}

func TestMeasureComparesEveryBaselineInEveryScenario(t *testing.T) {
	var progress strings.Builder
	rows, summary, err := measure(tinies(), Settings{Seed: 2, Clusters: 2}, &progress)
	require.NoError(t, err)
	require.Len(t, rows, 3*4)
	require.Equal(t, 3, summary.Compared)
	for _, row := range rows {
		require.Equal(t, 2, row.Clusters)
		require.Equal(t, 2, row.PluginPlaced)
		require.GreaterOrEqual(t, row.CostRatio*(1+rounding), 1.0, "%+v", row)
	}
	require.Equal(t, "network-topology-aware", rows[3].Baseline)
	require.Equal(t, 3, strings.Count(progress.String(), "\n"))
}

func placed(cost, rack float64) Outcome { return Outcome{Placed: true, Cost: cost, Rack: rack} }

func TestMeansAreOfTheClustersThatAllPlaced(t *testing.T) {
	rows := compare("s", []string{"stock", "other", "plugin"}, [][]Outcome{
		{placed(8, 4), placed(6, 3), placed(4, 2)},
		{placed(4, 2), placed(4, 1), placed(2, 0)},
		{placed(1000, 1), {}, placed(1, 1)},
		{{}, placed(7, 1), {}},
	})
	require.Len(t, rows, 2)
	require.Equal(t, Row{
		Scenario: "s", Baseline: "stock", CostRatio: 2, Cost: 6, PluginCost: 3, CrossRack: 3, PluginRack: 1, Clusters: 4, Compared: 2, Placed: 3, PluginPlaced: 3,
	}, rows[0])
	require.InDelta(t, 5./3, rows[1].CostRatio, 1e-12)
	require.Equal(t, 3, rows[1].Placed)
}

func TestNothingByNothingIsOne(t *testing.T) {
	require.InDelta(t, 1, ratio(0, 0), 0)
	require.InDelta(t, 7, ratio(7, 0), 0)
	require.InDelta(t, 1, ratio(0.5, 0), 0)
	require.InDelta(t, 0.25, ratio(0, 4), 0)
}

func TestSummaryIsAgainstTheBestOfEachScenario(t *testing.T) {
	s := sum([]Row{
		{Scenario: "a", Baseline: "stock", CostRatio: 8, CrossRack: 5, PluginRack: 3, Compared: 1, Placed: 3, PluginPlaced: 3},
		{Scenario: "a", Baseline: "other", CostRatio: 2, CrossRack: 4, PluginRack: 3, Compared: 1, Placed: 9, PluginPlaced: 3},
		{Scenario: "b", Baseline: "stock", CostRatio: 0.5, CrossRack: 5, PluginRack: 3, Compared: 1, Placed: 4, PluginPlaced: 3},
		{Scenario: "b", Baseline: "other", CostRatio: 4, CrossRack: 2, PluginRack: 3, Compared: 1, PluginPlaced: 3},
		{Scenario: "c", Baseline: "stock", CostRatio: 1, Placed: 1},
	}, "stock")
	require.Equal(t, &Summary{
		Scenarios: 3, Compared: 2, Geomean: 1, Least: 0.5, LeastIn: "b", MoreRackBytes: []string{"b"}, FewerGangs: []string{"b", "c"},
	}, s)
}

// The plugin's placements in sessions are as cheap as what the planner finds with ten times its budget.
func TestNearness(t *testing.T) {
	n, err := nearness(tinies(), Search{Seed: 2, PerScenario: 2, Effort: 10}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, 6, n.Instances)
	require.Empty(t, n.Above)
	require.InDelta(t, 1, n.Mean, limit-1)
	for _, near := range n.All {
		require.True(t, near.Placed)
		require.GreaterOrEqual(t, near.Ratio*(1+rounding), 1.0, "%+v", near)
	}
}

func TestNearnessSumsUp(t *testing.T) {
	in := &Instance{Scenario: &Scenario{Name: "s"}, Seed: 1}
	n := &Nearness{}
	for _, near := range []Near{{Placed: true, Ratio: 1.02}, {Placed: true, Ratio: 1.04}, {Ratio: 1}} {
		n.add(in, near)
	}
	require.InDelta(t, 1.02, n.Mean, 1e-12)
	require.InDelta(t, 1.04, n.Max, 0)
	require.Len(t, n.Above, 2)
}

func TestAPlacementThatIsNotWholeIsAnError(t *testing.T) {
	s := tinies()[0]
	in := Draw(&s, 1, 0)
	topology, err := Topology(in.Fleet)
	require.NoError(t, err)
	_, err = Assignments(topology, &in.Job, map[string]string{"ps-ps-0": "node-00001"})
	require.ErrorContains(t, err, `pod ps-ps-1 is on node ""`)
	plan := make([]placement.Assignment, 0, in.Job.Pods())
	for r := range in.Job.Roles {
		for i := range in.Job.Roles[r].Pods {
			plan = append(plan, placement.Assignment{Role: r, Index: i})
		}
	}
	_, err = weigh(topology, in, plan)
	require.ErrorContains(t, err, "free and is to give", "all pods on one node")
}

func TestQueuesPlaceSomeAndNotAll(t *testing.T) {
	q, err := MeasureQueues(Settings{Seed: 1, Clusters: 1}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, jobsPerQueue, q.Jobs)
	for _, placed := range []int{q.StockPlaced, q.PluginPlaced} {
		require.Greater(t, placed, 3)
		require.Less(t, placed, jobsPerQueue)
	}
	require.Zero(t, q.StockPassedOver)
	require.Empty(t, q.PassedOver)
}

// The second job fits together with the first and is not placed: it was passed over. The third does not fit together with the first.
func TestAJobIsPassedOverIfItFittedAtItsTurn(t *testing.T) {
	fleet := cluster.Shape{Nodes: 2, PerRack: 2, RacksPerBlock: 1, Capacity: machine}.Fleet()
	jobs := []cluster.Job{cluster.Ring("first", 6, ranks(1)), cluster.Ring("second", 10, ranks(1)), cluster.Ring("third", 11, ranks(1))}
	bound := map[string]string{}
	for i := range 6 {
		bound[jobs[0].PodName(cluster.WorkerTask, i)] = fleet[i%2].Name
	}
	left := slices.Clone(fleet)
	occupy(left, &jobs[0], bound)
	require.Equal(t, cluster.Amounts{CPU: 128 - 36, Memory: 1024 - 192, GPU: 10}, left.Free())
	require.Equal(t, int64(16), fleet.Free().GPU, "the fleet itself is not touched")
	require.True(t, holdsJob(left, &jobs[1]))
	require.False(t, holdsJob(left, &jobs[2]))
}
