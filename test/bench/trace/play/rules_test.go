// SPDX-License-Identifier: Apache-2.0

package play

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/opponents"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

func rules() map[string]opponents.Rule {
	return map[string]opponents.Rule{
		"kueue": opponents.Kueue(false), "kueue, required": opponents.Kueue(true), "kai": opponents.KAI(false), "kai, required": opponents.KAI(true),
		"crux": opponents.Crux, "oracle": opponents.Oracle(50, opponents.Kueue(false), opponents.KAI(false), opponents.Crux),
	}
}

func several(pods, gpus int) *workload.Job {
	job := ring(0, pods*gpus, 0, 10)
	k := int64(gpus)
	job.Job = cluster.Ring("several", pods, cluster.Amounts{CPU: workload.Rank.CPU * k, Memory: workload.Rank.Memory * k, GPU: k})
	return job
}

func withServers(servers, workers, gpus int) *workload.Job {
	job := several(workers, gpus)
	job.Job = cluster.ServersAndWorkers("servers", servers, workers, cluster.Amounts{CPU: 8, Memory: 32}, job.Roles[0].Request)
	return job
}

// onSite returns a cluster of a fleet on which rules can be asked.
func onSite(t *testing.T, fleet cluster.Fleet) (*opponents.Cluster, network) {
	t.Helper()
	c := opponents.New(fleet, nil)
	n := network{newPlayer(site.New(fleet, site.Usual), &workload.Drawn{Jobs: []*workload.Job{ring(0, 1, 0, 1)}}, 1, 0), c}
	c.Network = n
	return c, n
}

// taken returns a fleet of two blocks of two racks, with perRack hosts in a rack. gpus has how many GPUs of each host are used.
func taken(perRack int, gpus ...int64) cluster.Fleet {
	fleet := cluster.Shape{Nodes: len(gpus), PerRack: perRack, RacksPerBlock: 2, Capacity: site.Machine}.Fleet()
	for i, n := range gpus {
		fleet[i].Running = []cluster.Amounts{{CPU: 6 * n, Memory: 32 * n, GPU: n}}
	}
	return fleet
}

// run lets a job run on a cluster.
func run(t *testing.T, c *opponents.Cluster, job *workload.Job, at opponents.Placement) {
	t.Helper()
	traffic, err := c.Network.At(job, at)
	require.NoError(t, err)
	for r, hosts := range at {
		for _, h := range hosts {
			c.Free[h] = c.Free[h].Minus(job.Roles[r].Request)
		}
	}
	c.Running = append(c.Running, opponents.Running{Job: job, Traffic: traffic})
}

// Each rack has two hosts with 4 GPUs left. What runs in the first racks sends over the NICs there.
func TestCruxTakesTheLeastCongestedPlace(t *testing.T) {
	for _, tc := range []struct {
		what    string
		compute [2]float64 // of the jobs in the first two racks; 0 is none
		want    int
	}{
		{"nothing runs", [2]float64{}, 0},
		{"one rack is in use", [2]float64{1, 0}, 2},
		// Both compute for a while and send for 0.07 s. The job of the first rack has less intensity and sends more often.
		{"the one that sends more seldom", [2]float64{0.1, 10}, 2},
		{"the same the other way round", [2]float64{10, 0.1}, 0},
	} {
		// Racks of two hosts; the last rack of both blocks is full.
		c, _ := onSite(t, taken(2, 0, 0, 0, 0, 8, 8, 8, 8))
		for i, compute := range tc.compute {
			filler := several(2, 4)
			filler.Compute = 1e9
			if compute > 0 {
				filler.Compute = compute
			}
			at := opponents.Placement{{2 * i, 2*i + 1}}
			if compute == 0 {
				for h := range 2 {
					one := several(1, 4)
					run(t, c, one, opponents.Placement{{2*i + h}})
				}
				continue
			}
			run(t, c, filler, at)
		}
		at, err := opponents.Crux(c, several(2, 4))
		require.NoError(t, err)
		require.Equal(t, opponents.Placement{{tc.want, tc.want + 1}}, at, tc.what)
	}
}

// draw a job that may not fit.
func draw(rng *rand.Rand) *workload.Job {
	gpus := 1 << rng.IntN(4)
	switch rng.IntN(3) {
	case 0:
		return several(1+rng.IntN(24/gpus), gpus)
	case 1:
		return withServers(1+rng.IntN(6), 1+rng.IntN(24/gpus), gpus)
	default:
		return ring(0, 1+rng.IntN(40), 0, 10)
	}
}

// On random clusters gangs are whole, and no host is overcommitted. A rule that does not wait for a level places what one host
// holds. No rule is below the bound, and the oracle is at least as good as the rules that it chooses from.
func TestRulesKeepTheirPromises(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	placed := map[string]int{}
	widths := [site.Tiers]float64{}
	for tier, gbps := range site.Usual {
		widths[tier] = gbps * 1e9 / 8
	}
	for i := range 300 {
		gpus := make([]int64, 12)
		for h := range gpus {
			gpus[h] = rng.Int64N(9)
		}
		fleet := taken(3, gpus...)
		sums := map[string]float64{}
		first := draw(rng)
		first.ID = 1
		job := draw(rng)
		for name, rule := range rules() {
			c, n := onSite(t, fleet)
			if at, err := opponents.Crux(c, first); err == nil && at != nil {
				run(t, c, first, at)
			}
			at, err := rule(c, job)
			require.NoError(t, err, name)
			if at == nil {
				continue
			}
			placed[name]++
			legal(t, c, job, at, fmt.Sprintf("%d: %s", i, name))
			sums[name] = toCome(t, c, job, at)
			traffic, err := c.Network.At(job, at)
			require.NoError(t, err)
			alone := c.Network.Steps([]opponents.Traffic{traffic})[0]
			least := c.Alone(job, widths)
			require.LessOrEqual(t, least.Step, alone*(1+1e-9), name)
			p, err := n.site.Place(job, c.Named(job, at))
			require.NoError(t, err)
			for tier := range least.Bytes {
				require.LessOrEqual(t, least.Bytes[tier], p.Bytes[tier]*(1+1e-9), name)
			}
		}
		for _, name := range []string{"kueue", "kai", "crux"} {
			if sum, ok := sums[name]; ok {
				require.LessOrEqual(t, sums["oracle"], sum*(1+1e-9), "%d: the oracle by %s", i, name)
				require.Positive(t, sums["oracle"])
			}
		}
	}
	for name := range rules() {
		require.Greater(t, placed[name], 50, name)
	}
}

func legal(t *testing.T, c *opponents.Cluster, job *workload.Job, at opponents.Placement, what string) {
	t.Helper()
	require.Len(t, at, len(job.Roles), what)
	held := make([]cluster.Amounts, len(c.Free))
	for r := range job.Roles {
		require.Len(t, at[r], job.Roles[r].Pods, what)
		for _, h := range at[r] {
			held[h] = held[h].Plus(job.Roles[r].Request)
		}
	}
	for h := range held {
		require.True(t, c.Free[h].Holds(held[h]), "%s: host %d", what, h)
	}
}

// toCome returns the sum of slowdowns to come of all jobs.
func toCome(t *testing.T, c *opponents.Cluster, job *workload.Job, at opponents.Placement) (sum float64) {
	t.Helper()
	var all []opponents.Traffic
	jobs := []*workload.Job{}
	for _, r := range c.Running {
		all, jobs = append(all, r.Traffic), append(jobs, r.Job)
	}
	traffic, err := c.Network.At(job, at)
	require.NoError(t, err)
	for i, step := range c.Network.Steps(append(all, traffic)) {
		j := append(jobs, job)[i]
		sum += j.Steps * step / j.Ideal()
	}
	return sum
}

// Jobs of one GPU a pod that send nothing: it does not matter which job runs where, so both must start all jobs at the same times.
func TestRulesAreAskedInTheOrderOfVolcanosSessions(t *testing.T) {
	s := site.New(site.Cut(16), site.Usual)
	drawn, err := workload.Draw(philly.Rows(), workload.Settings{Seed: 7, Load: 1.2, GPUs: s.GPUs(), Jobs: 60, Cap: 300, Mix: workload.OneGPU, PSShare: -1, Sparse: 1})
	require.NoError(t, err)
	for _, job := range drawn.Jobs {
		job.ModelBytes = 0
	}
	compare(t, s, drawn)
}

// Pods of 1 to 8 GPUs on one host are placed in one way only, if at all.
func TestEnqueuedJobsAreThoseOfVolcano(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var jobs []*workload.Job
	at := 0.0
	for id := range 150 {
		at += 3 * rng.ExpFloat64()
		job := several(1, 1+rng.IntN(8))
		job.Job = cluster.Ring(fmt.Sprintf("job-%03d", id), 1, job.Roles[0].Request)
		job.ID, job.Arrival, job.Measured, job.Steps = id, at, true, float64(1+rng.IntN(20))
		jobs = append(jobs, job)
	}
	compare(t, site.New(hosts(1), site.Usual), &workload.Drawn{Jobs: jobs, Window: at})
}

// compare what Volcano and a rule come to.
func compare(t *testing.T, s *site.Site, drawn *workload.Drawn) {
	t.Helper()
	want, err := Play(s, cluster.Stock(), drawn, 1, 0)
	require.NoError(t, err)
	require.Positive(t, want.JCTMean)
	got, err := Rule(site.New(s.Fleet, site.Usual), opponents.Kueue(false), drawn, 1, 0)
	require.NoError(t, err)
	require.Equal(t, want.Sessions, got.Sessions)
	for what, pair := range map[string][2]float64{
		"jct": {want.JCTMean, got.JCTMean}, "gangs": {want.GangJCTMean, got.GangJCTMean}, "wait": {want.GangWaitMean, got.GangWaitMean},
		"p99": {want.GangWaitP99, got.GangWaitP99}, "use": {want.GPUUse, got.GPUUse},
	} {
		require.InDelta(t, pair[0], pair[1], 1e-9*(1+pair[0]), what)
	}
}

func TestNoRuleIsBelowTheBound(t *testing.T) {
	s := site.New(site.Cut(16), site.Usual)
	drawn, err := workload.Draw(philly.Rows(), workload.Settings{Seed: 3, Load: 0.85, GPUs: s.GPUs(), Jobs: 60, Cap: 300, Mix: workload.Realistic, PSShare: -1, Sparse: 1})
	require.NoError(t, err)
	bound := Alone(s, site.Usual, drawn)
	require.GreaterOrEqual(t, bound.Jobs, 60)
	require.GreaterOrEqual(t, bound.GangSlowdown, 1.0)
	require.Zero(t, bound.GangWaitMean)
	for name, rule := range rules() {
		s := site.New(site.Cut(16), site.Usual)
		r, err := Rule(s, rule, drawn, 1, 0)
		require.NoError(t, err, name)
		again, err := Rule(site.New(site.Cut(16), site.Usual), rule, drawn, 1, 0)
		require.NoError(t, err, name)
		require.Equal(t, r, again, "%s is the same each time", name)
		require.Equal(t, bound.Jobs, r.Jobs)
		require.LessOrEqual(t, bound.GangSlowdown, r.GangSlowdown*(1+noise), name)
		require.LessOrEqual(t, bound.GangJCTMean, r.GangJCTMean*(1+noise), name)
		require.LessOrEqual(t, bound.Crossing, r.Crossing*(1+1e-9), name)
	}
}
