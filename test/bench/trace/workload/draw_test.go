// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

func settings() Settings {
	return Settings{Seed: 1, Load: 0.8, GPUs: 128, Jobs: 200, Cap: 3600, Mix: Realistic, PSShare: -1, Sparse: 1}
}

func draw(t *testing.T, s Settings) *Drawn {
	t.Helper()
	d, err := Draw(philly.Rows(), s)
	require.NoError(t, err)
	return d
}

func TestTheWindowHasTheLoadThatIsAskedFor(t *testing.T) {
	for _, change := range []func(*Settings){
		func(*Settings) {},
		func(s *Settings) { s.Mix = OneGPU },
		func(s *Settings) { s.Cap = 0 },
		func(s *Settings) { s.Bursts = true },
	} {
		s := settings()
		change(&s)
		d := draw(t, s)
		around := s.Cap
		if around == 0 {
			around = d.Window
		}
		offered, measured, last := 0.0, 0, -around
		for i, job := range d.Jobs {
			require.Equal(t, i, job.ID)
			require.GreaterOrEqual(t, job.Arrival, last)
			last = job.Arrival
			require.Equal(t, job.Arrival >= 0 && job.Arrival < d.Window, job.Measured)
			if s.Cap > 0 {
				require.LessOrEqual(t, job.Ideal(), s.Cap*(1+1e-9))
			}
			if job.Measured {
				measured++
				offered += float64(job.GPUs) * job.Ideal()
			}
		}
		require.GreaterOrEqual(t, measured, s.Jobs, "a service is several")
		require.InEpsilon(t, s.Load, offered/(d.Window*float64(s.GPUs)), 1e-9)
		require.Negative(t, d.Jobs[0].Arrival)
		require.Greater(t, last, d.Window)
		require.Less(t, last, d.Window+around/2)
	}
}

func TestTheSameSeedGivesTheSameJobs(t *testing.T) {
	s := settings()
	first, again := draw(t, s), draw(t, s)
	require.Equal(t, first, again)
	dense := s
	dense.Load = 0.4
	sparse := draw(t, dense)
	require.InEpsilon(t, 2*first.Window, sparse.Window, 1e-9, "half of the load takes twice the time")
	other := s
	other.Seed = 2
	require.NotEqual(t, first.Window, draw(t, other).Window)
}

func TestWhatRowsBecomeInPodsOfOneGPU(t *testing.T) {
	s := settings()
	s.Mix, s.Cap = OneGPU, 60
	for _, c := range []struct {
		row     philly.Row
		mode    cluster.Mode
		servers int
		bytes   float64
	}{
		{philly.Row{GPUs: 1, Model: "LM", Duration: 100, Step: 2}, cluster.Collective, 0, 56e6},
		{philly.Row{GPUs: 2, Model: "LM", Duration: 100, Step: 2}, cluster.PS, 1, 56e6},
		{philly.Row{GPUs: 16, Model: "Recommendation", Duration: 100, Step: 2}, cluster.PS, 4, 32.4e6},
		{philly.Row{GPUs: 16, Model: "ResNet-50", Duration: 100, Step: 2}, cluster.Collective, 0, 102.4e6},
	} {
		jobs, err := s.jobs(row{c.row, 1}, 7, 5)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		job := jobs[0]
		require.Equal(t, c.mode, job.Mode)
		require.Equal(t, int64(c.row.GPUs), job.Demand().GPU)
		require.Equal(t, c.servers+c.row.GPUs, job.Pods())
		require.InEpsilon(t, c.bytes, job.ModelBytes, 1e-9)
		require.InDelta(t, 30, job.Steps, 1e-9, "60 of its 100 s")
		require.InDelta(t, 60, job.Ideal(), 1e-9)
	}
}

// shapes are what 4,000 throws make of a row: the share of each mode, pods, GPUs of the last role's pod, and degrees.
type shape struct {
	mode              cluster.Mode
	jobs, pods        int
	gpus              int64
	tensor, pipelined int
}

func shapes(t *testing.T, s *Settings, r philly.Row) map[shape]float64 {
	t.Helper()
	const throws = 4000
	found := map[shape]float64{}
	for seed := range uint64(throws) {
		jobs, err := s.jobs(row{r, seed}, 0, 0)
		require.NoError(t, err)
		gpus := int64(0)
		for _, job := range jobs {
			gpus += job.Demand().GPU
			require.InEpsilon(t, min(r.Duration, s.Cap), job.Ideal(), 1e-9)
		}
		require.EqualValues(t, r.GPUs, gpus)
		job := jobs[0]
		found[shape{job.Mode, len(jobs), job.Pods(), job.Roles[len(job.Roles)-1].Request.GPU, job.Tensor, job.Pipeline}] += 1.0 / throws
	}
	return found
}

func TestWhatRowsBecomeInARealisticMix(t *testing.T) {
	s := settings()
	for _, c := range []struct {
		row  philly.Row
		want map[shape]float64
	}{
		{philly.Row{GPUs: 1, Model: "LM"}, map[shape]float64{{cluster.Collective, 1, 1, 1, 0, 0}: 0.5, {cluster.Other, 1, 1, 1, 0, 0}: 0.5}},
		{philly.Row{GPUs: 4, Model: "ResNet-50"}, map[shape]float64{
			{cluster.Other, 4, 1, 1, 0, 0}: 0.05, {cluster.Other, 1, 1, 4, 0, 0}: 0.19, {cluster.Collective, 1, 1, 4, 0, 0}: 0.76,
		}},
		{philly.Row{GPUs: 4, Model: "LM"}, map[shape]float64{
			{cluster.Other, 4, 1, 1, 0, 0}: 0.05, {cluster.PS, 1, 5, 1, 0, 0}: 0.475, {cluster.PS, 1, 3, 2, 0, 0}: 0.475,
		}},
		{philly.Row{GPUs: 16, Model: "LM"}, map[shape]float64{
			{cluster.PS, 1, 20, 1, 0, 0}: 1.0 / 3, {cluster.PS, 1, 10, 2, 0, 0}: 1.0 / 3, {cluster.PS, 1, 5, 4, 0, 0}: 1.0 / 3,
		}},
		{philly.Row{GPUs: 32, Model: "ResNet-50"}, map[shape]float64{
			{cluster.Collective, 1, 4, 8, 8, 2}: 0.5, {cluster.Other, 1, 4, 8, 0, 0}: 0.1, {cluster.Collective, 1, 4, 8, 0, 0}: 0.4,
		}},
		{philly.Row{GPUs: 24, Model: "Transformer"}, map[shape]float64{
			{cluster.Collective, 1, 3, 8, 8, 1}: 0.5, {cluster.Other, 1, 3, 8, 0, 0}: 0.1, {cluster.Collective, 1, 3, 8, 0, 0}: 0.4,
		}},
	} {
		c.row.Duration, c.row.Step = 100, 2
		found := shapes(t, &s, c.row)
		require.Len(t, found, len(c.want), "%+v", found)
		for of, share := range c.want {
			require.InDelta(t, share, found[of], 0.03, "%+v of %+v", of, c.row)
		}
	}
}

func TestServersByShareAndNotByModel(t *testing.T) {
	s := settings()
	s.PSShare, s.Sparse = 0.25, 0.1
	servers := 0.0
	for of, share := range shapes(t, &s, philly.Row{GPUs: 16, Model: "ResNet-50", Duration: 100, Step: 2}) {
		if of.mode == cluster.PS {
			servers += share
		}
	}
	require.InDelta(t, 0.25, servers, 0.03)
	s.PSShare = 1
	jobs, err := s.jobs(row{philly.Row{GPUs: 16, Model: "ResNet-50", Duration: 100, Step: 2}, 1}, 0, 0)
	require.NoError(t, err)
	require.InEpsilon(t, 10.24e6, jobs[0].ModelBytes, 1e-9)
}

// 13.4 GB of gradients in halves, divided among 8 ranks and 2 stages; a copy passes 131,072 tokens of 4,096 on, an eighth by each rank.
func TestALanguageModelsTraffic(t *testing.T) {
	job := Job{GPUs: 32, Job: cluster.Ring("llm", 4, request(Rank, 8))}
	job.nest()
	require.InEpsilon(t, 13.4e9/16, job.Hybrid.Gradients, 1e-9)
	require.InEpsilon(t, 131072*4096*2/8.0, job.Hybrid.Activations, 1e-9)
	require.InEpsilon(t, 8.23, job.Compute, 1e-3)
}

func TestEveryModelOfTheTraceIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range philly.Rows() {
		require.Contains(t, models, row.Model)
		seen[row.Model] = true
	}
	require.Len(t, seen, len(models))
	s := settings()
	_, err := s.jobs(row{philly.Row{GPUs: 1, Model: "GPT", Duration: 1, Step: 1}, 1}, 0, 0)
	require.ErrorContains(t, err, "GPT")
}

func TestWrongDraws(t *testing.T) {
	for _, spoil := range []func(*Settings){
		func(s *Settings) { s.Jobs = 0 },
		func(s *Settings) { s.Load = 0 },
		func(s *Settings) { s.Cap = -1 },
		func(s *Settings) { s.GPUs = 63 }, // the largest gang has 64
		func(s *Settings) { s.Mix = "colour" },
		func(s *Settings) { s.PSShare = 1.1 },
		func(s *Settings) { s.Sparse = 0 },
		func(s *Settings) { s.Bursts, s.Jobs = true, 2000 },
	} {
		s := settings()
		spoil(&s)
		_, err := Draw(philly.Rows(), s)
		require.Error(t, err)
	}
}
