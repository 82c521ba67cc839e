// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

var (
	machine = Amounts{CPU: 64, Memory: 512, GPU: 8}
	server  = Amounts{CPU: 8, Memory: 16}
	worker  = Amounts{CPU: 5, Memory: 32, GPU: 1}
	small   = Shape{Nodes: 12, PerRack: 3, RacksPerBlock: 2, Capacity: machine}
)

func start(t *testing.T, setup Setup, fleet Fleet, jobs ...*Job) *Scheduler {
	t.Helper()
	s, err := New(setup)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.AddFleet(fleet, 1))
	for _, job := range jobs {
		s.AddJob(job)
	}
	return s
}

func setups() []Setup {
	return []Setup{
		Stock(), Paddle(nil), Paddle(map[string]string{"server-tasks": "holder"}), TaskTopology(), TaskTopologyTogether(), NetworkTopology(),
	}
}

func TestEverySetupBindsAGangWhereItFits(t *testing.T) {
	for _, setup := range setups() {
		t.Run(setup.configuration(), func(t *testing.T) {
			fleet := small.Fleet()
			for i := range fleet {
				fleet[i].Running = []Amounts{{CPU: 20, Memory: 100, GPU: 4}, {CPU: 4, Memory: 4}}
			}
			ps := ServersAndWorkers("ps", 4, 12, server, worker)
			ring := Ring("ring", 6, Amounts{CPU: 12, Memory: 64, GPU: 2})
			other := Ring("other", 3, worker)
			other.Mode = Other
			s := start(t, setup, fleet, &ps, &ring, &other)
			took, err := s.Session()
			require.NoError(t, err)
			require.Positive(t, took.Allocate)
			require.Greater(t, took.Whole(), took.Allocate)

			free := map[string]Amounts{}
			for i := range fleet {
				free[fleet[i].Name] = fleet[i].Free()
			}
			for _, job := range []*Job{&ps, &ring, &other} {
				require.True(t, s.Placed(job), "%s: %v", job.Name, s.Bound(job))
				bound := s.Bound(job)
				for _, role := range job.Roles {
					for i := range role.Pods {
						node := bound[job.PodName(role.Task, i)]
						require.True(t, free[node].Holds(role.Request), "%s on %q", job.PodName(role.Task, i), node)
						free[node] = free[node].Minus(role.Request)
					}
				}
			}
		})
	}
}

func TestAGangThatDoesNotFitIsNotBoundInPart(t *testing.T) {
	job := ServersAndWorkers("ps", 4, 97, server, worker)
	s := start(t, Stock(), small.Fleet(), &job)
	_, err := s.Session()
	require.NoError(t, err)
	require.Empty(t, s.Bound(&job))
	require.False(t, s.Placed(&job))
	require.NotNil(t, s.Bound(&job))
	require.Nil(t, s.Bound(&Job{Name: "unknown"}))
}

func TestTheOlderJobIsFirst(t *testing.T) {
	young, old := Ring("a", 8, Amounts{CPU: 8, Memory: 8, GPU: 8}), Ring("b", 8, Amounts{CPU: 8, Memory: 8, GPU: 8})
	old.Age = 60
	s := start(t, Stock(), small.Fleet(), &young, &old)
	_, err := s.Session()
	require.NoError(t, err)
	require.True(t, s.Placed(&old))
	require.False(t, s.Placed(&young))
}

// The session sees four racks of three nodes in two blocks, and the top that Volcano adds.
func TestHyperNodesHaveThreeTiers(t *testing.T) {
	s := start(t, Stock(), small.Fleet())
	ssn := framework.OpenSession(s.cache, s.tiers, nil)
	defer framework.CloseSession(ssn)
	require.True(t, ssn.HyperNodesReadyToSchedule)
	require.Equal(t, []string{"rack-0000", "rack-0001", "rack-0002", "rack-0003"}, slices.Sorted(maps.Keys(ssn.HyperNodesSetByTier[1])))
	require.Equal(t, []string{"block-000", "block-001"}, slices.Sorted(maps.Keys(ssn.HyperNodesSetByTier[2])))
	require.Equal(t, api.HyperNodeTierNameMap{"rack": 1, "block": 2}, ssn.HyperNodeTierNameMap)
	require.Equal(t, "block-001", ssn.HyperNodes["rack-0002"].Parent)
	require.Len(t, ssn.RealNodesList["rack-0002"], 3)
	require.Len(t, ssn.RealNodesList["block-001"], 6)
	require.Len(t, ssn.NodeList, 12)
}

func TestJobsAreWhatTheControllersMake(t *testing.T) {
	job := ServersAndWorkers("ps", 2, 3, server, worker)
	group, pods := job.objects()
	require.Equal(t, "ps-"+string(identity("ps")), group.Name)
	require.EqualValues(t, 5, group.Spec.MinMember)
	require.Equal(t, map[string]int32{"ps": 2, "worker": 3}, group.Spec.MinTaskMember)
	require.Len(t, pods, 5)
	last := pods[4]
	require.Equal(t, "ps-worker-2", last.Name)
	require.Equal(t, "worker", last.Labels["paddle-res-type"])
	require.Equal(t, "ps", last.Labels["batch.paddlepaddle.org/job-name"])
	require.Equal(t, "2", last.Annotations["volcano.sh/task-index"])
	require.Equal(t, "worker", last.Annotations["volcano.sh/task-spec"])
	require.Equal(t, group.Name, last.Annotations["scheduling.k8s.io/group-name"])
	require.Equal(t, "volcano", last.Spec.SchedulerName)
	hybrid := Ring("hybrid", 2, machine)
	hybrid.Tensor, hybrid.Pipeline = 8, 1
	group, _ = hybrid.objects()
	require.Equal(t, "pipeline=1,tensor=8", group.Annotations["batch.paddlepaddle.org/parallelism"])
}

func TestJobsOfOthersBearNoMarkOfPaddle(t *testing.T) {
	job := Ring("mpi", 2, worker)
	job.Mode = Other
	group, pods := job.objects()
	require.EqualValues(t, 2, group.Spec.MinMember)
	text := strings.ToLower(fmt.Sprintf("%+v %+v", group, pods[0]))
	require.NotContains(t, text, "paddle")
	require.NotContains(t, text, "training_role")
}

func TestADressedGroupHasWhatTheSetupAsksFor(t *testing.T) {
	job := ServersAndWorkers("ps", 2, 3, server, worker)
	s := start(t, TaskTopology(), small.Fleet(), &job)
	require.Equal(t, "ps,worker", s.groups["ps"].Annotations["volcano.sh/task-topology-affinity"])
	require.Equal(t, "ps", s.groups["ps"].Annotations["volcano.sh/task-topology-anti-affinity"])
	s = start(t, NetworkTopology(), small.Fleet(), &job)
	require.EqualValues(t, "soft", s.groups["ps"].Spec.NetworkTopology.Mode)
}

func TestJobsComeRunAndGo(t *testing.T) {
	job := Ring("ring", 12, Amounts{CPU: 8, Memory: 8, GPU: 8})
	next := Ring("next", 12, Amounts{CPU: 8, Memory: 8, GPU: 8})
	s := start(t, Paddle(nil), small.Fleet(), &job)
	session(t, s)
	require.True(t, s.Placed(&job))
	s.Run(&job)
	require.True(t, s.Placed(&job))
	s.AddJob(&next)
	session(t, s)
	require.Empty(t, s.Bound(&next), "the cluster is full")
	s.Remove(&job)
	session(t, s)
	require.True(t, s.Placed(&next))
	require.Nil(t, s.Bound(&job))
	require.Eventually(t, func() bool { return s.Jobs() == 1 }, patience, tick)
}

func TestResetLeavesNothing(t *testing.T) {
	job := Ring("ring", 12, Amounts{CPU: 8, Memory: 8, GPU: 8})
	s := start(t, Paddle(nil), small.Fleet(), &job)
	session(t, s)
	before := s.Bound(&job)
	s.Reset()
	require.Zero(t, s.Jobs())
	require.NoError(t, s.AddFleet(small.Fleet(), 2))
	s.AddJob(&job)
	session(t, s)
	require.True(t, s.Placed(&job))
	require.Len(t, s.Bound(&job), len(before))
}

func TestASessionUsesItsSetupsPercentage(t *testing.T) {
	setup := Stock()
	setup.Percentage = 100
	s := start(t, setup, small.Fleet())
	session(t, s)
	require.EqualValues(t, 100, options.ServerOpts.PercentageOfNodesToFind)
	session(t, start(t, Stock(), small.Fleet()))
	require.Zero(t, options.ServerOpts.PercentageOfNodesToFind)
}

func session(t *testing.T, s *Scheduler) {
	t.Helper()
	_, err := s.Session()
	require.NoError(t, err)
}
