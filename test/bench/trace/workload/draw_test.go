// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

func settings() Settings { return Settings{Seed: 1, Load: 0.8, GPUs: 128, Jobs: 200, Cap: 3600} }

func draw(t *testing.T, s Settings) *Drawn {
	t.Helper()
	d, err := Draw(philly.Rows(), s)
	require.NoError(t, err)
	return d
}

func TestTheWindowHasTheLoadThatIsAskedFor(t *testing.T) {
	s := settings()
	d := draw(t, s)
	offered, measured, last := 0.0, 0, -s.Cap
	for i, job := range d.Jobs {
		require.Equal(t, i, job.ID)
		require.GreaterOrEqual(t, job.Arrival, last)
		last = job.Arrival
		require.Equal(t, job.Arrival >= 0 && job.Arrival < d.Window, job.Measured)
		require.LessOrEqual(t, job.Ideal(), s.Cap*(1+1e-9))
		if job.Measured {
			measured++
			offered += float64(job.GPUs) * job.Ideal()
		}
	}
	require.Equal(t, s.Jobs, measured)
	require.InEpsilon(t, s.Load, offered/(d.Window*float64(s.GPUs)), 1e-9)
	require.Negative(t, d.Jobs[0].Arrival)
	require.Greater(t, last, d.Window)
	require.Less(t, last, d.Window+s.Cap/2)
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

func TestWhatRowsBecome(t *testing.T) {
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
		job, err := newJob(7, c.row, 5, 60)
		require.NoError(t, err)
		require.Equal(t, c.mode, job.Mode)
		require.Equal(t, int64(c.row.GPUs), job.Demand().GPU)
		require.Equal(t, c.servers+c.row.GPUs, job.Pods())
		require.InEpsilon(t, c.bytes, job.ModelBytes, 1e-9)
		require.InDelta(t, 30, job.Steps, 1e-9, "60 of its 100 s")
		require.InDelta(t, 60, job.Ideal(), 1e-9)
	}
}

func TestEveryModelOfTheTraceIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range philly.Rows() {
		require.Contains(t, models, row.Model)
		seen[row.Model] = true
	}
	require.Len(t, seen, len(models))
	_, err := newJob(0, philly.Row{GPUs: 1, Model: "GPT", Duration: 1, Step: 1}, 0, 1)
	require.ErrorContains(t, err, "GPT")
}

func TestWrongDraws(t *testing.T) {
	for _, spoil := range []func(*Settings){
		func(s *Settings) { s.Jobs = 0 },
		func(s *Settings) { s.Load = 0 },
		func(s *Settings) { s.Cap = -1 },
		func(s *Settings) { s.GPUs = 63 }, // the largest gang has 64
	} {
		s := settings()
		spoil(&s)
		_, err := Draw(philly.Rows(), s)
		require.Error(t, err)
	}
}
