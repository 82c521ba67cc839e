// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func onHosts(s *v1.PaddleJobSpec) { s.Intranet = v1.Host }

// few are the ports of two jobs of three pods.
var few = render.Config{HostPorts: render.Ports{First: 20000, Count: 120}}

func takenBy(ports ...render.Ports) change {
	return func(v *view.View) { v.TakenPorts = func() []render.Ports { return ports } }
}

func startsAt(first int) change {
	return func(v *view.View) { v.VolcanoJob.Annotations[keys.FirstPort] = strconv.Itoa(first) }
}

// announced gives each pod what it would be told of ports that begin at first.
func announced(first int) change {
	return func(v *view.View) {
		for _, pod := range v.Pods {
			for key, value := range render.Told(v.Job, first, pod) {
				pod.Annotations[key] = value
			}
		}
	}
}

func unlabelled(v *view.View) { delete(v.VolcanoJob.Labels, keys.Intranet) }

func placed(v *view.View) {
	with(render.RolePS, view.Starting)(v)
	with(render.RoleWorker, view.Starting, view.Starting)(v)
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
	v := submitted(takenBy(render.Ports{First: 20000, Count: 60}))
	onHosts(&v.Job.Spec)
	job := volcanoJobOf(t, Decide(v, few))
	require.NotContains(t, job.Annotations, keys.FirstPort)
	require.Equal(t, "Host", job.Labels[keys.Intranet])
	require.Zero(t, PortsOf(job))

	takenBy(render.Ports{First: 20055, Count: 6})(v)
	plan := Decide(v, few)
	require.Equal(t, gist{stalled: ReasonNoPorts, lookAgain: unwatched}, gistOf(plan), "its gang would hold nodes, and wait there")
	require.Contains(t, plan.Stalled.Message, "20000-20119")

	other := volcanoJobOf(t, Decide(submitted(), few))
	require.NotContains(t, other.Labels, keys.Intranet)

	taken := takenBy(render.Ports{First: 20000, Count: 60})
	for name, pods := range map[string]change{
		"no pod": func(*view.View) {}, "a server": with(render.RolePS, view.Starting), "but one": func(v *view.View) {
			with(render.RolePS, view.Starting)(v)
			with(render.RoleWorker, view.Starting, view.Unplaced)(v)
		},
	} {
		_, writes := moved(Decide(createdFrom(t, few, onHosts, taken, pods), few))
		require.False(t, writes, name)
	}
	first, _ := moved(Decide(createdFrom(t, few, onHosts, taken, placed), few))
	require.Equal(t, 20060, first)
	v = createdFrom(t, few, onHosts, taken, placed, startsAt(20060))
	require.Equal(t, render.Ports{First: 20060, Count: 60}, PortsOf(v.VolcanoJob))
	for _, action := range Decide(v, few).Actions {
		if apply, ok := action.(ApplyPodGroup); ok {
			require.NotContains(t, apply.PodGroup.Annotations, keys.FirstPort, "it need not be written again for that")
		}
	}
}

func TestARestartGivesPortsBack(t *testing.T) {
	for name, c := range map[string]struct {
		phase vcbatch.JobPhase
		pods  []change
		back  bool
	}{
		"the old pods are going":      {phase: vcbatch.Restarting, pods: []change{with(render.RoleWorker, view.Leaving, view.Leaving), announced(20000)}},
		"one that has its ports":      {phase: vcbatch.Restarting, pods: []change{with(render.RolePS, view.Running), announced(20000)}},
		"the old pods have ended":     {phase: vcbatch.Restarting, pods: []change{with(render.RoleWorker, view.Failed, view.Succeeded), announced(20000)}, back: true},
		"the old pods are gone":       {phase: vcbatch.Restarting, back: true},
		"aborting":                    {phase: vcbatch.Aborting, back: true},
		"aborted":                     {phase: vcbatch.Aborted, back: true},
		"the new ones wait":           {phase: vcbatch.Pending, pods: []change{with(render.RoleWorker, view.Unplaced, view.Unplaced)}, back: true},
		"an old one among new ones":   {phase: vcbatch.Pending, pods: []change{with(render.RolePS, view.Leaving), announced(20000), with(render.RoleWorker, view.Unplaced, view.Unplaced)}},
		"the new ones are placed":     {phase: vcbatch.Running, pods: []change{placed}},
		"one that starts again alone": {phase: vcbatch.Running, pods: []change{with(render.RolePS, view.Running), announced(20000), with(render.RoleWorker, view.Unplaced, view.Unplaced)}},
	} {
		t.Run(name, func(t *testing.T) {
			v := createdFrom(t, few, onHosts, append([]change{startsAt(20000)}, c.pods...)...)
			v.VolcanoJob.Status.State.Phase = c.phase
			first, writes := moved(Decide(v, few))
			require.Zero(t, first)
			require.Equal(t, c.back, writes)
			delete(v.VolcanoJob.Annotations, keys.FirstPort)
			if c.back {
				_, writes = moved(Decide(v, few))
				require.False(t, writes, "once")
			}
		})
	}
	byIP := createdFrom(t, few, asSubmitted, startsAt(20000))
	_, writes := moved(Decide(byIP, few))
	require.False(t, writes, "it has none")
}

func TestPortsAreFreeAgainAtTheEnd(t *testing.T) {
	v := createdFrom(t, few, onHosts, startsAt(20060))
	for phase, has := range map[vcbatch.JobPhase]bool{
		"": true, vcbatch.Pending: true, vcbatch.Running: true, vcbatch.Restarting: true, vcbatch.Aborted: true, vcbatch.Completing: true,
		vcbatch.Terminating: true, vcbatch.Completed: false, vcbatch.Failed: false, vcbatch.Terminated: false,
	} {
		v.VolcanoJob.Status.State.Phase = phase
		require.Equal(t, has, PortsOf(v.VolcanoJob).Count == 60, phase)
	}
	v.VolcanoJob.Status.State.Phase = vcbatch.Running
	for _, text := range []string{"", "x", "-5", "0"} {
		v.VolcanoJob.Annotations[keys.FirstPort] = text
		require.Zero(t, PortsOf(v.VolcanoJob))
	}
}

func TestPortsOfPods(t *testing.T) {
	for name, c := range map[string]struct {
		changes []change
		moves   int
		tells   int
		writes  bool
	}{
		"nobody placed yet":                     {},
		"placed":                                {changes: []change{startsAt(20000), placed}, tells: 3},
		"some are told":                         {changes: []change{startsAt(20000), with(render.RolePS, view.Starting), announced(20000), with(render.RoleWorker, view.Starting, view.Starting)}, tells: 2},
		"the last are told":                     {changes: []change{startsAt(20000), takenBy(render.Ports{First: 20000, Count: 60}), with(render.RoleWorker, view.Starting, view.Starting), announced(20000), with(render.RolePS, view.Starting)}, tells: 1},
		"all are told":                          {changes: []change{startsAt(20000), placed, announced(20000)}, writes: true},
		"another has them too, and placed":      {changes: []change{startsAt(20000), takenBy(render.Ports{First: 20040, Count: 20}), placed}, moves: 20060},
		"another's are near":                    {changes: []change{startsAt(20000), takenBy(render.Ports{First: 20060, Count: 60}), placed}, tells: 3},
		"who was told never moves":              {changes: []change{startsAt(20000), takenBy(render.Ports{First: 20000, Count: 60}), placed, announced(20000)}, writes: true},
		"whose told part never moves":           {changes: []change{startsAt(20000), takenBy(render.Ports{First: 20000, Count: 60}), with(render.RolePS, view.Starting), announced(20000)}},
		"somebody took the choice away":         {changes: []change{startsAt(0), placed, announced(20020)}, moves: 20020},
		"somebody changed the choice":           {changes: []change{startsAt(20000), placed, announced(20020)}, moves: 20020},
		"somebody took the label off":           {changes: []change{startsAt(20000), placed, announced(20000), unlabelled}, moves: 20000},
		"somebody took the label off before":    {changes: []change{startsAt(20000), placed, unlabelled, takenBy(render.Ports{First: 20000, Count: 60})}, moves: 20060},
		"somebody took the label off early":     {changes: []change{startsAt(20000), placed, unlabelled, takenBy(render.Ports{First: 20060, Count: 60})}, moves: 20000},
		"part is told, and it was changed":      {changes: []change{startsAt(20060), with(render.RolePS, view.Starting), announced(20000)}, moves: 20000},
		"somebody took it away before it began": {changes: []change{startsAt(0), placed, takenBy(render.Ports{First: 20000, Count: 60})}, moves: 20060},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Decide(createdFrom(t, few, onHosts, c.changes...), few)
			require.Nil(t, plan.Stalled)
			moves, tells := 0, 0
			for _, action := range plan.Actions {
				switch a := action.(type) {
				case MovePorts:
					moves = a.First
				case AnnouncePods:
					tells = len(a.Pods)
					require.Equal(t, render.Ports{First: 20000, Count: 60}, a.Ports)
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
			require.Equal(t, c.tells, tells)
			require.Equal(t, c.writes, environmentIn(plan) != nil)
		})
	}
}

func TestNowhereToMove(t *testing.T) {
	plan := Decide(createdFrom(t, few, onHosts, startsAt(20000), placed, takenBy(render.Ports{First: 20000, Count: 120})), few)
	require.Equal(t, ReasonNoPorts, plan.Stalled.Reason)
	require.Equal(t, unwatched, plan.LookAgain)
	require.Nil(t, environmentIn(plan))
	unchosen := createdFrom(t, few, onHosts, placed, takenBy(render.Ports{First: 20000, Count: 120}))
	require.Equal(t, ReasonNoPorts, Decide(unchosen, few).Stalled.Reason)
	takenBy(render.Ports{First: 20000, Count: 60})(unchosen)
	plan = Decide(unchosen, few)
	require.Nil(t, plan.Stalled, "some are free again")
	first, _ := moved(plan)
	require.Equal(t, 20060, first)
}

// Jobs that move because they see each other must not meet again.
func TestTheNextChoiceIsAnother(t *testing.T) {
	cfg := render.Config{}
	seen := map[int]bool{}
	for _, uid := range []string{"a", "b", "c", "d"} {
		v := createdFrom(t, cfg, onHosts, startsAt(25000), placed, takenBy(render.Ports{First: 25000, Count: 60}))
		v.VolcanoJob.UID = types.UID(uid)
		for _, action := range Decide(v, cfg).Actions {
			if move, ok := action.(MovePorts); ok {
				seen[move.First] = true
			}
		}
	}
	require.Len(t, seen, 4)
}

// A kubelet may see the ConfigMap before it sees what its pod was told.
func TestPodsHaveAMomentToHear(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	v := createdFrom(t, few, onHosts, startsAt(20000), placed)
	v.Now = now
	for _, action := range Decide(v, few).Actions {
		if announcing, ok := action.(AnnouncePods); ok {
			for _, one := range announcing.Pods {
				maps.Copy(one.Pod.Annotations, one.Annotations)
			}
		}
	}
	for after, left := range map[time.Duration]time.Duration{
		0: hearing, hearing / 4: hearing * 3 / 4, hearing - 1: 1, hearing: 0, time.Hour: 0, -time.Second: 0,
	} {
		v.Now = now.Add(after)
		plan := Decide(v, few)
		require.Equal(t, left == 0, environmentIn(plan) != nil, after)
		require.Equal(t, left, plan.LookAgain, after)
	}
	// One that comes later, alone, is waited for; a gang that knows its addresses is not.
	v.Now = now.Add(hearing)
	v.Environment = environmentIn(Decide(v, few))
	v.Now = now
	require.Zero(t, Decide(v, few).LookAgain)
	v.Environment = nil
	v.Now = now.Add(time.Hour)
	v.Pods[2].Annotations[keys.AnnouncedAt] = v.Now.Format(time.RFC3339Nano)
	require.Equal(t, hearing, Decide(v, few).LookAgain)
}
