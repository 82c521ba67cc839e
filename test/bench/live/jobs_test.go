// SPDX-License-Identifier: Apache-2.0

package live

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
)

// The name by which the controller is known is that of the shipped manifest.
func TestControllerUserIsTheShippedOne(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/v1/operator.yaml")
	require.NoError(t, err)
	parts := strings.Split(controllerUser, ":")
	require.Contains(t, string(text), "kind: ServiceAccount\nmetadata:\n  name: "+parts[3]+"\n  namespace: "+parts[2]+"\n")
}

func TestWritesOfEverybody(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]int{"create jobs": 3, "update paddlejobs/status": 5, "delete pods": 1}, written(times.Calls{
		"a": {"create jobs": 1, "list jobs": 7, "update paddlejobs/status": 5}, "b": {"create jobs": 2, "delete pods": 1, "watch pods": 1, "get pods": 4},
	}))
}

func TestJobReport(t *testing.T) {
	t.Parallel()
	s := JobSettings{Jobs: 10, Nodes: 3}
	used := func(seconds float64) map[string]usage.Process {
		return map[string]usage.Process{"etcd": {CPU: seconds}}
	}
	r := s.report([]JobRound{
		{Kind: kindBare, Ready: 5, AllRunning: 5, Processes: used(1)}, {Kind: kindVolcano, Ready: 10, AllRunning: 20, Processes: used(2)},
		{Kind: KindPaddle, Ready: 12, AllRunning: 25, Ended: 7, Processes: used(3), RSS: 300, Writes: map[string]int{"create jobs": 10, "patch podgroups": 20}, Events: 50},
		{Kind: KindPaddle, Ready: 13, AllRunning: 25}, {Kind: kindVolcano, Ready: 10, AllRunning: 20}, {Kind: kindVolcano, Ready: 90, AllRunning: 100},
	})
	require.Equal(t, []float64{12.5, 10, 1.25, 300, 3, 5}, []float64{r.PaddleJob, r.VolcanoJob, r.Ratio, r.RSS, r.Writes, r.Events})
	require.Equal(t, []float64{5, 2.5}, []float64{r.Bare, r.BareRatio})
	require.Equal(t, []float64{4, 5}, []float64{r.PaddleJobRate, r.VolcanoJobRate}, "of 100 pods")
	results := func(r *JobReport) (all []string) {
		for _, bar := range r.Bars {
			all = append(all, bar.Result())
		}
		return all
	}
	require.Equal(t, []string{"slice", "slice", "met", "met"}, results(r))
	require.Equal(t, map[string][]float64{kindBare: {1}, kindVolcano: {2}, KindPaddle: {3}}, r.ProcessorSeconds()["etcd"])
	s.Jobs = barJobs
	require.Equal(t, []string{"met", "missed", "met", "met"},
		results(s.report([]JobRound{{Kind: kindBare, Ready: 10}, {Kind: kindVolcano, Ready: 10}, {Kind: KindPaddle, Ready: 12, RSS: 300}})))
	require.Equal(t, []string{"missed", "met", "missed", "missed"}, results(s.report([]JobRound{
		{Kind: kindBare, Ready: 10}, {Kind: kindVolcano, Ready: 10}, {Kind: KindPaddle, Ready: 14, Writes: map[string]int{"create jobs": 9000}, Events: 6000},
	})))
}

func TestKindsTakeTurns(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{kindBare, kindVolcano, KindPaddle, KindPaddle, kindVolcano, kindVolcano, KindPaddle}, (&JobSettings{Rounds: 3}).turns())
}

func TestJobSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for _, spoil := range []func(*JobSettings){
		func(s *JobSettings) { s.Jobs = 0 }, func(s *JobSettings) { s.Nodes = 0 }, func(s *JobSettings) { s.Rounds = 0 }, func(s *JobSettings) { s.Patience = 0 },
	} {
		s := DefaultJobs()
		require.NoError(t, s.check())
		spoil(&s)
		require.Error(t, s.check())
	}
}
