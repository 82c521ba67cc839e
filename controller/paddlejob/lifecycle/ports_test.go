// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func onHosts(s *v1.PaddleJobSpec) { s.Intranet = v1.Host }

// few are the ports of two jobs of three pods.
var few = builder.Config{HostPorts: builder.Ports{First: 20000, Count: 120}}

func takenBy(ports ...builder.Ports) change {
	return func(obs *observed.State) { obs.TakenPorts = func() []builder.Ports { return ports } }
}

func startsAt(first int) change {
	return func(obs *observed.State) { obs.VolcanoJob.Annotations[v1.FirstPortAnnotation] = strconv.Itoa(first) }
}

// announced gives each pod the annotations of ports that begin at first.
func announced(first int) change {
	return func(obs *observed.State) {
		for _, pod := range obs.Pods {
			for key, value := range builder.PodAnnotations(obs.Job, first, pod) {
				pod.Annotations[key] = value
			}
		}
	}
}

func unlabelled(obs *observed.State) { delete(obs.VolcanoJob.Labels, v1.IntranetAnnotation) }

func placed(obs *observed.State) {
	with(builder.RolePS, observed.Starting)(obs)
	with(builder.RoleWorker, observed.Starting, observed.Starting)(obs)
}

// moved is where a plan has the ports begin, and whether it writes that at all.
func moved(plan Plan) (first int, writes bool) {
	for _, action := range plan.Actions {
		if move, ok := action.(MovePorts); ok {
			return move.First, true
		}
	}
	return 0, false
}

// A job may wait in its queue for days.
func TestPortsAreChosenWhenTheGangIsPlaced(t *testing.T) {
	obs := submitted(takenBy(builder.Ports{First: 20000, Count: 60}))
	onHosts(&obs.Job.Spec)
	job := volcanoJobOf(t, Decide(obs, few))
	require.NotContains(t, job.Annotations, v1.FirstPortAnnotation)
	require.Equal(t, "Host", job.Labels[v1.IntranetAnnotation])
	require.Zero(t, PortsOf(job))

	takenBy(builder.Ports{First: 20055, Count: 6})(obs)
	plan := Decide(obs, few)
	require.Equal(t, gist{stalled: ReasonNoPorts, requeueAfter: pollInterval}, gistOf(plan), "its gang would hold nodes, and wait there")
	require.Contains(t, plan.Stalled.Message, "20000-20119")

	other := volcanoJobOf(t, Decide(submitted(), few))
	require.NotContains(t, other.Labels, v1.IntranetAnnotation)

	taken := takenBy(builder.Ports{First: 20000, Count: 60})
	for name, pods := range map[string]change{
		"no pod": func(*observed.State) {}, "a server": with(builder.RolePS, observed.Starting), "but one": func(obs *observed.State) {
			with(builder.RolePS, observed.Starting)(obs)
			with(builder.RoleWorker, observed.Starting, observed.Unscheduled)(obs)
		},
	} {
		_, writes := moved(Decide(createdFrom(t, few, onHosts, taken, pods), few))
		require.False(t, writes, name)
	}
	first, _ := moved(Decide(createdFrom(t, few, onHosts, taken, placed), few))
	require.Equal(t, 20060, first)
	obs = createdFrom(t, few, onHosts, taken, placed, startsAt(20060))
	require.Equal(t, builder.Ports{First: 20060, Count: 60}, PortsOf(obs.VolcanoJob))
	for _, action := range Decide(obs, few).Actions {
		if apply, ok := action.(ApplyPodGroup); ok {
			require.NotContains(t, apply.PodGroup.Annotations, v1.FirstPortAnnotation, "it need not be written again for that")
		}
	}
}

func TestARestartReleasesPorts(t *testing.T) {
	for name, c := range map[string]struct {
		phase vcbatch.JobPhase
		pods  []change
		back  bool
	}{
		"the old pods are going":       {phase: vcbatch.Restarting, pods: []change{with(builder.RoleWorker, observed.Terminating, observed.Terminating), announced(20000)}},
		"one that has its ports":       {phase: vcbatch.Restarting, pods: []change{with(builder.RolePS, observed.Running), announced(20000)}},
		"the old pods have ended":      {phase: vcbatch.Restarting, pods: []change{with(builder.RoleWorker, observed.Failed, observed.Succeeded), announced(20000)}, back: true},
		"the old pods are gone":        {phase: vcbatch.Restarting, back: true},
		"aborting":                     {phase: vcbatch.Aborting, back: true},
		"aborted":                      {phase: vcbatch.Aborted, back: true},
		"the new ones wait":            {phase: vcbatch.Pending, pods: []change{with(builder.RoleWorker, observed.Unscheduled, observed.Unscheduled)}, back: true},
		"an old one among new ones":    {phase: vcbatch.Pending, pods: []change{with(builder.RolePS, observed.Terminating), announced(20000), with(builder.RoleWorker, observed.Unscheduled, observed.Unscheduled)}},
		"deleted, and not counted yet": {phase: vcbatch.Running},
		"the new ones are placed":      {phase: vcbatch.Running, pods: []change{placed}},
		"one that starts again alone":  {phase: vcbatch.Running, pods: []change{with(builder.RolePS, observed.Running), announced(20000), with(builder.RoleWorker, observed.Unscheduled, observed.Unscheduled)}},
	} {
		t.Run(name, func(t *testing.T) {
			obs := createdFrom(t, few, onHosts, append([]change{startsAt(20000)}, c.pods...)...)
			obs.VolcanoJob.Status.State.Phase = c.phase
			first, writes := moved(Decide(obs, few))
			require.Zero(t, first)
			require.Equal(t, c.back, writes)
			delete(obs.VolcanoJob.Annotations, v1.FirstPortAnnotation)
			if c.back {
				_, writes = moved(Decide(obs, few))
				require.False(t, writes, "once")
			}
		})
	}
	byIP := createdFrom(t, few, asSubmitted, startsAt(20000))
	_, writes := moved(Decide(byIP, few))
	require.False(t, writes, "it has none")
}

// A worker is evicted as the last one ends. Volcano is about to complete the gang, which a write to its Job would keep it from,
// or to start it again.
func TestPortsAreLeftAsPodsEnd(t *testing.T) {
	for _, first := range []int{0, 20000} {
		obs := createdFrom(t, few, onHosts, startsAt(first), with(builder.RoleWorker, observed.Succeeded), announced(20000))
		obs.VolcanoJob.Status.State.Phase = vcbatch.Running
		_, writes := moved(Decide(obs, few))
		require.False(t, writes, first)
	}
}

func TestPortsAreReleasedAtTheEnd(t *testing.T) {
	obs := createdFrom(t, few, onHosts, startsAt(20060))
	for phase, has := range map[vcbatch.JobPhase]bool{
		"": true, vcbatch.Pending: true, vcbatch.Running: true, vcbatch.Restarting: true, vcbatch.Aborted: true, vcbatch.Completing: true,
		vcbatch.Terminating: true, vcbatch.Completed: false, vcbatch.Failed: false, vcbatch.Terminated: false,
	} {
		obs.VolcanoJob.Status.State.Phase = phase
		require.Equal(t, has, PortsOf(obs.VolcanoJob).Count == 60, phase)
	}
	obs.VolcanoJob.Status.State.Phase = vcbatch.Running
	for _, text := range []string{"", "x", "-5", "0"} {
		obs.VolcanoJob.Annotations[v1.FirstPortAnnotation] = text
		require.Zero(t, PortsOf(obs.VolcanoJob))
	}
}

func TestPortsOfPods(t *testing.T) {
	for name, c := range map[string]struct {
		changes   []change
		moves     int
		annotates int
		writes    bool
	}{
		"none placed yet":                       {},
		"placed":                                {changes: []change{startsAt(20000), placed}, annotates: 3},
		"some are annotated":                    {changes: []change{startsAt(20000), with(builder.RolePS, observed.Starting), announced(20000), with(builder.RoleWorker, observed.Starting, observed.Starting)}, annotates: 2},
		"the last are annotated":                {changes: []change{startsAt(20000), takenBy(builder.Ports{First: 20000, Count: 60}), with(builder.RoleWorker, observed.Starting, observed.Starting), announced(20000), with(builder.RolePS, observed.Starting)}, annotates: 1},
		"all are annotated":                     {changes: []change{startsAt(20000), placed, announced(20000)}, writes: true},
		"another has them too, and placed":      {changes: []change{startsAt(20000), takenBy(builder.Ports{First: 20040, Count: 20}), placed}, moves: 20060},
		"another's are near":                    {changes: []change{startsAt(20000), takenBy(builder.Ports{First: 20060, Count: 60}), placed}, annotates: 3},
		"annotated, and never moves":            {changes: []change{startsAt(20000), takenBy(builder.Ports{First: 20000, Count: 60}), placed, announced(20000)}, writes: true},
		"part is annotated, and never moves":    {changes: []change{startsAt(20000), takenBy(builder.Ports{First: 20000, Count: 60}), with(builder.RolePS, observed.Starting), announced(20000)}},
		"somebody took the choice away":         {changes: []change{startsAt(0), placed, announced(20020)}, moves: 20020},
		"somebody changed the choice":           {changes: []change{startsAt(20000), placed, announced(20020)}, moves: 20020},
		"somebody took the label off":           {changes: []change{startsAt(20000), placed, announced(20000), unlabelled}, moves: 20000},
		"somebody took the label off before":    {changes: []change{startsAt(20000), placed, unlabelled, takenBy(builder.Ports{First: 20000, Count: 60})}, moves: 20060},
		"somebody took the label off early":     {changes: []change{startsAt(20000), placed, unlabelled, takenBy(builder.Ports{First: 20060, Count: 60})}, moves: 20000},
		"part is annotated, and it was changed": {changes: []change{startsAt(20060), with(builder.RolePS, observed.Starting), announced(20000)}, moves: 20000},
		"somebody took it away before it began": {changes: []change{startsAt(0), placed, takenBy(builder.Ports{First: 20000, Count: 60})}, moves: 20060},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Decide(createdFrom(t, few, onHosts, c.changes...), few)
			require.Nil(t, plan.Stalled)
			moves, annotates := 0, 0
			for _, action := range plan.Actions {
				switch a := action.(type) {
				case MovePorts:
					moves = a.First
				case AnnouncePods:
					annotates = len(a.Pods)
					require.Equal(t, builder.Ports{First: 20000, Count: 60}, a.Ports)
				case ApplyPodGroup:
					// It has the Job's annotations.
				case WriteEnvironment:
					require.Equal(t, "10.0.1.0:20000", a.ConfigMap.Data["PADDLE_PSERVERS_IP_PORT_LIST"])
					require.Equal(t, "10.0.0.0:20020,10.0.0.1:20040", a.ConfigMap.Data["PADDLE_TRAINER_ENDPOINTS"])
				default:
					require.Fail(t, "unexpected", "%T", a)
				}
			}
			require.Equal(t, c.moves, moves)
			require.Equal(t, c.annotates, annotates)
			require.Equal(t, c.writes, environmentIn(plan) != nil)
		})
	}
}

func TestNowhereToMove(t *testing.T) {
	plan := Decide(createdFrom(t, few, onHosts, startsAt(20000), placed, takenBy(builder.Ports{First: 20000, Count: 120})), few)
	require.Equal(t, ReasonNoPorts, plan.Stalled.Reason)
	require.Equal(t, pollInterval, plan.RequeueAfter)
	require.Nil(t, environmentIn(plan))
	unchosen := createdFrom(t, few, onHosts, placed, takenBy(builder.Ports{First: 20000, Count: 120}))
	require.Equal(t, ReasonNoPorts, Decide(unchosen, few).Stalled.Reason)
	takenBy(builder.Ports{First: 20000, Count: 60})(unchosen)
	plan = Decide(unchosen, few)
	require.Nil(t, plan.Stalled, "some are free again")
	first, _ := moved(plan)
	require.Equal(t, 20060, first)
}

// Jobs that move because they see each other must not meet again.
func TestTheNextChoiceIsAnother(t *testing.T) {
	cfg := builder.Config{}
	seen := map[int]bool{}
	for _, uid := range []string{"a", "b", "c", "d"} {
		obs := createdFrom(t, cfg, onHosts, startsAt(25000), placed, takenBy(builder.Ports{First: 25000, Count: 60}))
		obs.VolcanoJob.UID = types.UID(uid)
		for _, action := range Decide(obs, cfg).Actions {
			if move, ok := action.(MovePorts); ok {
				seen[move.First] = true
			}
		}
	}
	require.Len(t, seen, 4)
}

// A kubelet may see the ConfigMap before it sees the annotations of its pod.
func TestEnvironmentWaitsForAnnotations(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	obs := createdFrom(t, few, onHosts, startsAt(20000), placed)
	obs.Now = now
	for _, action := range Decide(obs, few).Actions {
		if announcing, ok := action.(AnnouncePods); ok {
			for _, one := range announcing.Pods {
				maps.Copy(one.Pod.Annotations, one.Annotations)
			}
		}
	}
	for after, left := range map[time.Duration]time.Duration{
		0: announceDelay, announceDelay / 4: announceDelay * 3 / 4, announceDelay - 1: 1, announceDelay: 0, time.Hour: 0, -time.Second: 0,
	} {
		obs.Now = now.Add(after)
		plan := Decide(obs, few)
		require.Equal(t, left == 0, environmentIn(plan) != nil, after)
		require.Equal(t, left, plan.RequeueAfter, after)
	}
	// One that comes later, alone, is waited for; a gang that knows its addresses is not.
	obs.Now = now.Add(announceDelay)
	obs.Environment = environmentIn(Decide(obs, few))
	obs.Now = now
	require.Zero(t, Decide(obs, few).RequeueAfter)
	obs.Environment = nil
	obs.Now = now.Add(time.Hour)
	obs.Pods[2].Annotations[v1.AnnouncedAtAnnotation] = obs.Now.Format(time.RFC3339Nano)
	require.Equal(t, announceDelay, Decide(obs, few).RequeueAfter)
}
