// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// figures of a scheduler: seconds of gangs, and a slowdown.
type figures struct{ seconds, slowdown float64 }

// runsOf are runs in which everything takes a scheduler so long, each seed a little longer than the one before.
func runsOf(s *Settings, of map[string]figures) []Run {
	var all []Run
	for _, c := range s.cases() {
		r := Run{Case: c}
		r.GangJCTMean = of[c.Scheduler].seconds * float64(1+c.Seed)
		r.GangSlowdown = 1 + (of[c.Scheduler].slowdown-1)*float64(1+c.Seed)
		r.Crossing = 1e12 * r.GangJCTMean
		all = append(all, r)
	}
	return all
}

// good are figures with which no bar is missed.
func good() map[string]figures {
	return map[string]figures{
		stock: {30, 1.5}, hardAny: {20, 1.03}, kueuePreferred: {12, 1.04}, oracle: {9, 1.005}, alone: {8, 1.002},
		bytesFirst: {10, 1.01}, busiestFirst: {8, 1.02},
	}
}

func small() Settings {
	s := Default()
	s.Schedulers = slices.Sorted(maps.Keys(good()))
	return s
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
	s := small()
	compared := compare(&s, runsOf(&s, good()))
	// Three loads; the plugin by bytes against five and against busiest, busiest against five.
	require.Len(t, compared, 3*11*3)
	found := 0
	for _, c := range compared {
		if c.Load == 0.85 && c.Measure == gangJCT {
			found++
			want := good()[c.Baseline].seconds / good()[c.Plugin].seconds
			require.InDelta(t, want, c.Median, 1e-9)
			require.Len(t, c.Ratios, 5)
			require.InDelta(t, want, c.Low, 1e-9)
			require.InDelta(t, want, c.High, 1e-9)
			require.InDelta(t, 1-2.0/32, c.Probability, 1e-9)
		}
	}
	require.Equal(t, 11, found)
}

func TestBestIsTheStrongestOpponentOfEachMeasure(t *testing.T) {
	s := small()
	s.Loads, s.Seeds = []float64{0.85}, []uint64{1, 2, 3}
	all := strongest(&s, runsOf(&s, good()))
	require.Len(t, all, 2*3)
	opponents := map[string]string{}
	for _, b := range all {
		if b.Plugin == bytesFirst {
			opponents[b.Measure] = b.Opponent
		}
	}
	require.Equal(t, map[string]string{gangJCT: kueuePreferred, gangSlowdown: hardAny, crossing: kueuePreferred}, opponents)
	for _, b := range all {
		if b.Plugin != bytesFirst || b.Measure != gangSlowdown {
			continue
		}
		require.InDeltaSlice(t, []float64{1.02, 1.03, 1.04}, b.Is.Seeds, 1e-9)
		require.InDeltaSlice(t, []float64{1.06, 1.09, 1.12}, b.OpponentIs.Seeds, 1e-9)
		require.InDeltaSlice(t, []float64{1.06 / 1.02, 1.09 / 1.03, 1.12 / 1.04}, b.Ratio.Seeds, 1e-9)
		require.InDelta(t, 1.0/3, b.Excess.Median, 1e-9)
		require.InDeltaSlice(t, []float64{1.02 / 1.01, 1.03 / 1.015, 1.04 / 1.02}, b.Oracle.Seeds, 1e-9)
		require.InDelta(t, 1.03/1.006, b.Alone.Median, 1e-9)
	}
}

// A seed that one scheduler was not played with does not count.
func TestBestIsOfWholeSeeds(t *testing.T) {
	s := small()
	all := slices.DeleteFunc(runsOf(&s, good()), func(r Run) bool { return r.Scheduler == stock && r.Seed == 2 })
	for _, b := range strongest(&s, all) {
		require.Len(t, b.Is.Seeds, 4)
	}
	require.Empty(t, strongest(&s, nil))
}

func TestWithoutOpponentsOrReferencesThereIsNoneToCompareWith(t *testing.T) {
	s := small()
	s.Schedulers = []string{bytesFirst, alone}
	require.Empty(t, strongest(&s, runsOf(&s, good())))
	s.Schedulers = []string{bytesFirst, stock}
	for _, b := range strongest(&s, runsOf(&s, good())) {
		require.Nil(t, b.Oracle)
		require.Nil(t, b.Alone)
	}
	s.Schedulers = []string{stock, taskTopology}
	require.Empty(t, compare(&s, runsOf(&s, good())))
	require.Zero(t, bars.Missed(newReport(s, nil).Bars))
}

func TestEachBarCanBeMissed(t *testing.T) {
	s := small()
	require.Len(t, newReport(s, runsOf(&s, good())).Bars, 6)
	require.Empty(t, missed(newReport(s, runsOf(&s, good()))))
	for _, tc := range []struct {
		what      string
		scheduler string
		figures   figures
		missed    []string
	}{
		{"the best opponent is faster", kueuePreferred, figures{9, 1.04}, []string{
			"trace at 85 %: gang_jct_mean_s, kueue-tas by the plugin, lower bound of 5 seeds",
			"trace at 85 %: crossing_bytes, kueue-tas by the plugin, lower bound of 5 seeds",
		}},
		{"more than half of the excess", kueuePreferred, figures{12, 1.015}, []string{
			"trace at 85 %: gang_slowdown_mean, excess by that of kueue-tas, median",
		}},
		{"the plugin is slowed down", bytesFirst, figures{10, 1.02}, []string{
			"trace at 85 %: gang_slowdown_mean, median", "trace at 85 %: gang_slowdown_mean, excess by that of network-topology-aware-hard-any, median",
		}},
	} {
		all := good()
		all[tc.scheduler] = tc.figures
		require.Equal(t, tc.missed, missed(newReport(s, runsOf(&s, all))), tc.what)
	}
	all := runsOf(&s, good())
	for i := range all {
		if all[i].Scheduler == oracle {
			all[i].GangSlowdown = 0.9
		}
	}
	require.Empty(t, missed(newReport(s, all)), "no slowdown is below 1")
}

func TestNothingDividedByNothingIsEqual(t *testing.T) {
	s := small()
	s.Seeds = []uint64{0}
	for _, c := range compare(&s, runsOf(&s, nil)) {
		require.Equal(t, []float64{1}, c.Ratios)
	}
}

func TestEverySchedulerCanBePlayed(t *testing.T) {
	s := Default()
	for _, name := range slices.Concat(Schedulers(), slices.Collect(maps.Keys(s.setups()))) {
		_, err := s.setup(name)
		require.NoError(t, err)
	}
	require.Len(t, Schedulers(), 9+5+2+2)
	for name := range s.setups() {
		require.Equal(t, strings.HasPrefix(name, "paddle"), isPaddle(name))
		require.False(t, isReference(name))
	}
	_, err := s.setup("kube-scheduler")
	require.ErrorContains(t, err, packedGPUs)
}

// Volcano's plugin names a HyperNode's tier from 1.
func TestHardSetUpsAskForTheLowestTierThatHoldsAJob(t *testing.T) {
	s := Default()
	for _, tc := range []struct{ pods, sized int }{{1, 1}, {8, 1}, {64, 1}, {65, 2}, {128, 2}, {888, 3}} {
		job := cluster.Ring("ring", tc.pods, cluster.Amounts{CPU: 6, Memory: 32, GPU: 1})
		for name, want := range map[string]int{hardBlocks: 2, hardPacked: 2, hardSized: tc.sized, hardAny: 3, anyPacked: 3} {
			group := &scheduling.PodGroup{}
			s.setups()[name].Dress(&job, group)
			require.Equal(t, scheduling.HardNetworkTopologyMode, group.Spec.NetworkTopology.Mode)
			require.Equal(t, want, *group.Spec.NetworkTopology.HighestTierAllowed, "%s: %d pods", name, tc.pods)
		}
	}
}

// The set-ups of the plugin have arguments that it takes.
func TestArgumentsOfThePlugin(t *testing.T) {
	s := Default()
	for _, name := range []string{bytesFirst, busiestFirst, bytesUntold, busiestUntold, bytesUnpacked} {
		var plugins []struct{ Arguments map[string]any }
		require.NoError(t, yaml.Unmarshal([]byte(s.setups()[name].Before), &plugins))
		require.Len(t, plugins, 1)
		arguments, errs := config.Decode(plugins[0].Arguments, nil)
		require.Empty(t, errs, name)
		require.Equal(t, strings.HasPrefix(name, busiestFirst), arguments.Objective == placement.BusiestFirst, name)
		require.Equal(t, !strings.HasSuffix(name, "-untold"), len(arguments.TierBandwidths) > 0, name)
		require.Equal(t, name != bytesUnpacked, len(s.setups()[name].Binpack) > 0, name)
	}
}
