// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
)

// runs in which everything takes a scheduler so long, each seed a little longer than the one before.
func runs(s *Settings, seconds map[string]float64) []Run {
	var all []Run
	for _, c := range s.cases() {
		r := Run{Case: c}
		r.GangJCTMean = seconds[c.Scheduler] * float64(1+c.Seed)
		r.Crossing = 1e12 * r.GangJCTMean
		all = append(all, r)
	}
	return all
}

func missed(r *Report) (names []string) {
	for _, bar := range r.Bars {
		if !bar.Met {
			names = append(names, bar.Name)
		}
	}
	return names
}

func TestRatiosAreOfTheSameSeed(t *testing.T) {
	s := Default()
	all := runs(&s, map[string]float64{stock: 30, taskTopology: 20, networkTopology: 12, bytesFirst: 10, busiestFirst: 8})
	compared := compare(&s, all)
	// Three loads; ours by bytes against three and against busiest, busiest against three.
	require.Len(t, compared, 3*7*2)
	found := 0
	for _, c := range compared {
		if c.Load == 0.85 && c.Measure == gangJCT {
			found++
			want := map[[2]string]float64{
				{stock, bytesFirst}: 3, {taskTopology, bytesFirst}: 2, {networkTopology, bytesFirst}: 1.2, {busiestFirst, bytesFirst}: 0.8,
				{stock, busiestFirst}: 3.75, {taskTopology, busiestFirst}: 2.5, {networkTopology, busiestFirst}: 1.5,
			}[[2]string{c.Baseline, c.Ours}]
			require.InDelta(t, want, c.Median, 1e-9)
			require.Len(t, c.Ratios, 5)
			require.InDelta(t, want, c.Low, 1e-9)
			require.InDelta(t, want, c.High, 1e-9)
			require.InDelta(t, 1-2.0/32, c.Probability, 1e-9)
		}
	}
	require.Equal(t, 7, found)
}

func TestEachBarCanBeMissed(t *testing.T) {
	s := Default()
	good := map[string]float64{stock: 30, taskTopology: 20, networkTopology: 12, bytesFirst: 10, busiestFirst: 8}
	r := newReport(s, runs(&s, good))
	require.Len(t, r.Bars, 6)
	require.Empty(t, missed(r))

	all := runs(&s, good)
	for i := range all {
		if all[i].Load == 0.85 && all[i].Seed == 3 && all[i].Scheduler == networkTopology {
			all[i].GangJCTMean /= 2
		}
	}
	require.Equal(t, []string{"trace at 85 %: gang_jct_mean_s, network-topology-aware by ours, lower bound of 5 seeds"}, missed(newReport(s, all)))

	all = runs(&s, good)
	for i := range all {
		if all[i].Scheduler == bytesFirst {
			all[i].Crossing *= 2
		}
	}
	require.Len(t, missed(newReport(s, all)), 2, "twice as much is still less than stock's")
}

func TestWithoutOursNothingIsCompared(t *testing.T) {
	s := Default()
	s.Schedulers = []string{stock, taskTopology}
	require.Empty(t, compare(&s, runs(&s, map[string]float64{stock: 1, taskTopology: 2})))
	require.Zero(t, bars.Missed(newReport(s, nil).Bars))
}

func TestNothingDividedByNothingIsEqual(t *testing.T) {
	s := Default()
	s.Seeds = []uint64{0}
	for _, c := range compare(&s, runs(&s, nil)) {
		require.Equal(t, []float64{1}, c.Ratios)
	}
}

func TestEverySchedulerHasASetup(t *testing.T) {
	s := Default()
	names := map[string]bool{}
	for _, name := range Schedulers() {
		setup, err := s.setup(name)
		require.NoError(t, err)
		names[setup.Name] = true
	}
	require.Len(t, names, 4, "both of ours are called alike there")
	for name := range tuned() {
		setup, err := s.setup(name)
		require.NoError(t, err)
		require.Equal(t, name, setup.Name)
		require.Equal(t, strings.HasSuffix(name, "-untold") || name == bytesPacked, isOurs(name))
	}
	_, err := s.setup("kube-scheduler")
	require.ErrorContains(t, err, packedGPUs)
}
