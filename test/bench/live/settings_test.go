// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
)

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*Settings){
		`unknown form "job"`:                        func(s *Settings) { s.Forms = []string{"job"} },
		"no form is given":                          func(s *Settings) { s.Forms = nil },
		`unknown scheduler "mine"`:                  func(s *Settings) { s.Schedulers = []string{"mine"} },
		"build of paddle-scheduler: exec: \"./no\"": func(s *Settings) { s.Schedulers = []string{"./no"} },
		`unknown form "./no"`:                       func(s *Settings) { s.Forms = []string{"./no"} },
		"limit makes the bindings of paddle":        func(s *Settings) { s.Schedulers = []string{Stock, Limit} },
		"watches makes the bindings of paddle":      func(s *Settings) { s.Schedulers = []string{ReadingLimit} },
		`gangs "20": want a number of gangs`:        func(s *Settings) { s.Gangs = []string{"20"} },
		`gangs "0x20": want a number`:               func(s *Settings) { s.Gangs = []string{"0x20"} },
		`gangs "2x2x2": want a number of`:           func(s *Settings) { s.Gangs = []string{"2x2x2"} },
		"no gangs are given":                        func(s *Settings) { s.Gangs = nil },
		"nodes, rounds, concurrency and scale m":    func(s *Settings) { s.Nodes = []int{5, 0} },
		"nodes, rounds, concurrency and scale":      func(s *Settings) { s.Rounds = 0 },
		"nodes, rounds, concurrency and":            func(s *Settings) { s.Concurrency = 0 },
		"nodes, rounds, concurrency":                func(s *Settings) { s.Scale = 0 },
		"and takeovers not below":                   func(s *Settings) { s.Takeovers = -1 },
		"jobs come and go for -1s":                  func(s *Settings) { s.Churn = -time.Second },
		"and run for 0s":                            func(s *Settings) { s.Churn, s.RunFor = time.Second, 0 },
		"patience is 0s":                            func(s *Settings) { s.Patience = 0 },
	} {
		s := Default()
		require.NoError(t, s.check())
		spoil(&s)
		require.ErrorContains(t, s.check(), want)
	}
}

func TestCasesAreByCluster(t *testing.T) {
	t.Parallel()
	s := Default()
	cases, err := s.cases()
	require.NoError(t, err)
	require.Len(t, cases, 3*3*4)
	require.Equal(t, "500 nodes, 3200x1 as podgroup", cases[0].String())
	require.Equal(t, Case{Nodes: 5000, Form: load.PaddleJobs, Asked: "500x20", Gangs: 200, Gang: 20, Pods: 4000}, cases[33])
	s.Quick()
	require.NoError(t, s.check())
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schedulers []string
		form       string
		round      int
		want       []string
	}{
		{Schedulers(), load.PodGroups, 0, []string{Stock, Tuned, Paddle, Limit, ReadingLimit, KubeScheduler}},
		{Schedulers(), load.PodGroups, 1, []string{Tuned, Paddle, Limit, ReadingLimit, KubeScheduler, Stock}},
		{Schedulers(), load.PodGroups, 7, []string{KubeScheduler, Stock, Tuned, Paddle, Limit, ReadingLimit}},
		{Schedulers(), load.VolcanoJobs, 0, []string{Stock, Tuned, Paddle}},
		{Schedulers(), load.PaddleJobs, 1, []string{Tuned, Paddle, Stock}},
		{[]string{Paddle, Limit}, load.PodGroups, 1, []string{Paddle, Limit}},
		{[]string{KubeScheduler}, load.VolcanoJobs, 0, nil},
		{[]string{"./a", Paddle, Limit, "./b"}, load.PodGroups, 0, []string{Paddle, Limit, "./a", "./b"}},
		{[]string{"./a", Paddle, Limit, "./b"}, load.PaddleJobs, 1, []string{"./a", "./b", Paddle}},
	} {
		require.Equal(t, c.want, order(c.schedulers, c.form, c.round), "%+v", c)
	}
}
