// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// status is one of generation 1 with some conditions, given as type, status, reason, message.
func status(changes ...func(*v1.PaddleJobStatus)) *v1.PaddleJobStatus {
	s := &v1.PaddleJobStatus{ObservedGeneration: 1, Phase: v1.Pending}
	condition(v1.ConditionStalled, false, "Proceeding", "")(s)
	for _, c := range changes {
		c(s)
	}
	return s
}

func condition(kind string, is bool, reason, text string) func(*v1.PaddleJobStatus) {
	return func(s *v1.PaddleJobStatus) {
		state := metav1.ConditionFalse
		if is {
			state = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: kind, Status: state, Reason: reason, Message: text, ObservedGeneration: s.ObservedGeneration,
		})
	}
}

func phaseIs(p v1.Phase) func(*v1.PaddleJobStatus) {
	return func(s *v1.PaddleJobStatus) {
		if s.Phase = p; p == v1.Completed || p == v1.Failed {
			tell(s, p)
		}
	}
}
func restarted(n int32) func(*v1.PaddleJobStatus) {
	return func(s *v1.PaddleJobStatus) { s.Restarts = n }
}
func generation(n int64) func(*v1.PaddleJobStatus) {
	return func(s *v1.PaddleJobStatus) { s.ObservedGeneration = n }
}

func TestEvents(t *testing.T) {
	t.Parallel()
	start, end := metav1.NewTime(now.Add(-90*time.Second)), metav1.NewTime(now)
	warning := []builder.Cause{{Reason: "Odd", Message: "it is odd"}}
	for name, tc := range map[string]struct {
		before, after *v1.PaddleJobStatus
		warnings      []builder.Cause
		want          []string
	}{
		"nothing new":      {before: status(), after: status(), warnings: warning},
		"first sight":      {before: &v1.PaddleJobStatus{}, after: status(), warnings: warning, want: []string{"Warning Odd: it is odd"}},
		"a new generation": {before: status(), after: status(generation(2)), warnings: warning, want: []string{"Warning Odd: it is odd"}},
		"stalls": {
			before: status(), after: status(condition(v1.ConditionStalled, true, "Bad", "fix it")), want: []string{"Warning Bad: fix it"},
		},
		"stalls on": {
			before: status(condition(v1.ConditionStalled, true, "Bad", "fix it")),
			after:  status(condition(v1.ConditionStalled, true, "Bad", "fix it")),
		},
		"stalls over something else": {
			before: status(condition(v1.ConditionStalled, true, "Bad", "fix it")),
			after:  status(condition(v1.ConditionStalled, true, "Bad", "fix that")), want: []string{"Warning Bad: fix that"},
		},
		"stalls after an edit too": {
			before: status(condition(v1.ConditionStalled, true, "Bad", "fix it")),
			after:  status(generation(2), condition(v1.ConditionStalled, true, "Bad", "fix it")), want: []string{"Warning Bad: fix it"},
		},
		"continues": {before: status(condition(v1.ConditionStalled, true, "Bad", "fix it")), after: status()},
		"replaced":  {before: status(), after: status(condition(v1.ConditionCreated, false, "Replacing", "again")), want: []string{"Normal Replacing: again"}},
		"created":   {before: status(), after: status(condition(v1.ConditionCreated, true, "VolcanoJobCreated", ""))},
		"edited too late": {
			before: status(condition(v1.ConditionCreated, true, "VolcanoJobCreated", "")),
			after:  status(condition(v1.ConditionCreated, true, "SpecChangeNotApplied", "too late")),
			want:   []string{"Warning SpecChangeNotApplied: too late"},
		},
		"edited too late again": {
			before: status(condition(v1.ConditionCreated, true, "SpecChangeNotApplied", "too late")),
			after:  status(generation(2), condition(v1.ConditionCreated, true, "SpecChangeNotApplied", "too late")),
			want:   []string{"Warning SpecChangeNotApplied: too late"},
		},
		"placed": {
			before: status(condition(v1.ConditionScheduled, false, "Placing", "")),
			after:  status(condition(v1.ConditionScheduled, true, "GangPlaced", "")),
		},
		"a launcher that cannot start the gang": {
			before: status(), after: status(condition(v1.ConditionLauncherUsable, false, "AddressPrefix", "addresses differ")),
			want: []string{"Warning AddressPrefix: addresses differ"},
		},
		"the same launcher": {
			before: status(condition(v1.ConditionLauncherUsable, false, "AddressPrefix", "addresses differ")),
			after:  status(condition(v1.ConditionLauncherUsable, false, "AddressPrefix", "addresses differ")),
		},
		"another launcher": {
			before: status(condition(v1.ConditionLauncherUsable, false, "AddressPrefix", "addresses differ")), after: status(),
		},
		"being placed": {before: status(), after: status(condition(v1.ConditionScheduled, false, "Placing", ""))},
		"no capacity": {
			before: status(condition(v1.ConditionScheduled, false, "Placing", "")),
			after:  status(condition(v1.ConditionScheduled, false, "WaitingForGang", "no node")), want: []string{"Warning WaitingForGang: no node"},
		},
		"still no capacity": {
			before: status(condition(v1.ConditionScheduled, false, "WaitingForGang", "no node")),
			after:  status(condition(v1.ConditionScheduled, false, "WaitingForGang", "no GPU")),
		},
		"for another reason": {
			before: status(condition(v1.ConditionScheduled, false, "InsufficientResources", "no node")),
			after:  status(condition(v1.ConditionScheduled, false, "TopologyConstraint", "no rack")), want: []string{"Warning TopologyConstraint: no rack"},
		},
		"an image is not there": {
			before: status(condition(v1.ConditionRunning, false, "PodsStarting", "")),
			after:  status(condition(v1.ConditionRunning, false, "ImagePullFailed", "1 of 2 pods cannot start")), want: []string{"Warning ImagePullFailed: 1 of 2 pods cannot start"},
		},
		"an elastic job is held": {
			before: status(), after: status(condition(v1.ConditionCreated, true, "QuotaExceeded", "no more")), want: []string{"Warning QuotaExceeded: no more"},
		},
		"runs": {
			before: status(), after: status(condition(v1.ConditionRunning, true, "Training", "")), want: []string{"Normal Running: all pods of the gang run"},
		},
		"does not run yet": {before: status(), after: status(condition(v1.ConditionRunning, false, "PodsStarting", ""))},
		"restarts": {
			before: status(), after: status(restarted(1), condition(v1.ConditionRestarting, true, "PodFailed", "it fell")),
			want: []string{"Warning Restarting: it fell"},
		},
		"restarts again": {
			before: status(restarted(1), condition(v1.ConditionRestarting, true, "PodFailed", "it fell")),
			after:  status(restarted(2), condition(v1.ConditionRestarting, true, "PodFailed", "it fell again")),
			want:   []string{"Warning Restarting: it fell again"},
		},
		"completes": {
			before: status(), after: status(phaseIs(v1.Completed), func(s *v1.PaddleJobStatus) { s.StartTime, s.CompletionTime = &start, &end }),
			want: []string{"Normal Completed: every worker has succeeded after 1m30s of training"},
		},
		"completes, unobserved": {
			before: status(), after: status(phaseIs(v1.Completed)), want: []string{"Normal Completed: every worker has succeeded"},
		},
		"fails": {
			before: status(), after: status(phaseIs(v1.Failed), condition(v1.ConditionFailed, true, "PodFailed", "it fell")),
			want: []string{"Warning Failed: it fell"},
		},
		"has ended": {before: status(phaseIs(v1.Completed)), after: status(phaseIs(v1.Completed))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reported []string
			for _, e := range Events(tc.before, tc.after, tc.warnings) {
				reported = append(reported, e.Type+" "+e.Reason+": "+e.Message)
			}
			require.Equal(t, tc.want, reported)
		})
	}
}

// delayOf is the delay of a change of the status of a job that has no Volcano Job.
func delayOf(before, after *v1.PaddleJobStatus) time.Duration {
	return Delay(&observed.State{Job: &v1.PaddleJob{Status: *before}}, after)
}

// The counts of a job that ends are written with its end, unless that does not come.
func TestDelayOfCountsAtTheEnd(t *testing.T) {
	t.Parallel()
	obs := seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running))
	obs.Job.Status = *next(obs)
	for name, tc := range map[string]struct {
		pods []observed.PodState
		want time.Duration
	}{
		"a worker has succeeded":   {pods: []observed.PodState{observed.Running, observed.Succeeded, observed.Running}, want: columnsDelay},
		"the workers have":         {pods: []observed.PodState{observed.Running, observed.Succeeded, observed.Succeeded}, want: textDelay},
		"and the server is ending": {pods: []observed.PodState{observed.Failed, observed.Succeeded, observed.Succeeded}, want: textDelay},
	} {
		after := seen(vcbatch.Running, pods(tc.pods[0], tc.pods[1:]...))
		after.Job = obs.Job
		require.Equal(t, tc.want, Delay(after, next(after)), name)
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	counted := func(s *v1.PaddleJobStatus) { s.Worker = &v1.ResourceStatus{Pending: 1} }
	shown := func(s *v1.PaddleJobStatus) { s.Worker = &v1.ResourceStatus{Running: 1, Ready: "1/2"} }
	text := condition(v1.ConditionStalled, false, "Proceeding", "another text")
	starts := condition(v1.ConditionRunning, false, "PodsStarting", "")
	waits := condition(v1.ConditionScheduled, false, "WaitingForGang", "")
	admittedGang := condition(v1.ConditionAdmitted, true, "Admitted", "")
	for name, tc := range map[string]struct {
		with []func(*v1.PaddleJobStatus)
		want time.Duration
	}{
		"a text":                        {with: []func(*v1.PaddleJobStatus){text}, want: textDelay},
		"a count":                       {with: []func(*v1.PaddleJobStatus){counted}, want: textDelay},
		"a count and a text":            {with: []func(*v1.PaddleJobStatus){counted, text}, want: textDelay},
		"admitted":                      {with: []func(*v1.PaddleJobStatus){admittedGang}, want: textDelay},
		"why it starts not":             {with: []func(*v1.PaddleJobStatus){starts}, want: textDelay},
		"why it waits":                  {with: []func(*v1.PaddleJobStatus){waits}, want: textDelay},
		"a reason of the plugin":        {with: []func(*v1.PaddleJobStatus){counted, text, condition(v1.ConditionScheduled, false, "InsufficientResources", "none")}},
		"a refusal":                     {with: []func(*v1.PaddleJobStatus){condition(v1.ConditionScheduled, false, "QuotaExceeded", "none")}},
		"a reason of the kubelet":       {with: []func(*v1.PaddleJobStatus){shown, condition(v1.ConditionRunning, false, "ImagePullFailed", "none")}},
		"a reason of most gangs":        {with: []func(*v1.PaddleJobStatus){condition(v1.ConditionScheduled, false, "WaitingForPods", "")}, want: textDelay},
		"a count of kubectl get":        {with: []func(*v1.PaddleJobStatus){shown}, want: columnsDelay},
		"that and a text":               {with: []func(*v1.PaddleJobStatus){shown, text}, want: columnsDelay},
		"that and admitted":             {with: []func(*v1.PaddleJobStatus){shown, admittedGang}, want: columnsDelay},
		"that and why it starts not":    {with: []func(*v1.PaddleJobStatus){shown, starts}, want: columnsDelay},
		"that and why it waits":         {with: []func(*v1.PaddleJobStatus){shown, waits}, want: columnsDelay},
		"the servers' count":            {with: []func(*v1.PaddleJobStatus){func(s *v1.PaddleJobStatus) { s.PS = &v1.ResourceStatus{Ready: "1/2"} }}, want: columnsDelay},
		"the heterogeneous ones' count": {with: []func(*v1.PaddleJobStatus){func(s *v1.PaddleJobStatus) { s.Heter = &v1.ResourceStatus{Ready: "1/2"} }}, want: columnsDelay},
		"placed, not starting":          {with: []func(*v1.PaddleJobStatus){condition(v1.ConditionScheduled, true, "GangPlaced", "")}, want: columnsDelay},
		"placed":                        {with: []func(*v1.PaddleJobStatus){counted, phaseIs(v1.Starting), condition(v1.ConditionScheduled, true, "GangPlaced", "")}, want: columnsDelay},
		"a reason":                      {with: []func(*v1.PaddleJobStatus){condition(v1.ConditionStalled, false, "Other", "")}},
		"a phase":                       {with: []func(*v1.PaddleJobStatus){counted, phaseIs(v1.Running)}},
		"a queue":                       {with: []func(*v1.PaddleJobStatus){func(s *v1.PaddleJobStatus) { s.Queue = "another" }}},
		"restarting":                    {with: []func(*v1.PaddleJobStatus){phaseIs(v1.Restarting)}},
		"a restart":                     {with: []func(*v1.PaddleJobStatus){counted, func(s *v1.PaddleJobStatus) { s.Restarts++ }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := status(condition(v1.ConditionScheduled, false, "Placing", ""))
			after := before.DeepCopy()
			for _, c := range tc.with {
				c(after)
			}
			require.Equal(t, tc.want, delayOf(before, after))
		})
	}
	for name, tc := range map[string]struct {
		from, to v1.Phase
		want     time.Duration
	}{
		"starts again":      {from: v1.Restarting, to: v1.Pending, want: columnsDelay},
		"loses a pod":       {from: v1.Running, to: v1.Starting},
		"is seen first":     {from: "", to: v1.Pending},
		"is to be stopped":  {from: v1.Starting, to: v1.Suspended},
		"ends without news": {from: v1.Starting, to: v1.Completed},
	} {
		before := status(phaseIs(tc.from))
		after := before.DeepCopy()
		after.Phase = tc.to
		require.Equal(t, tc.want, delayOf(before, after), name)
	}
	waiting := status(condition(v1.ConditionScheduled, false, "InsufficientResources", "none"), condition(v1.ConditionRunning, false, "NotScheduled", ""))
	repeated := waiting.DeepCopy()
	condition(v1.ConditionScheduled, false, "InsufficientResources", "other figures")(repeated)
	require.Equal(t, textDelay, delayOf(waiting, repeated), "the figures of a reason")
	condition(v1.ConditionScheduled, false, "Placing", "")(repeated)
	require.Equal(t, textDelay, delayOf(waiting, repeated), "a reason that is no more")

	running := status(phaseIs(v1.Running))
	fewer := running.DeepCopy()
	shown(fewer)
	require.Equal(t, columnsDelay, delayOf(running, fewer), "a count of a job that runs")
	running, fewer = status(phaseIs(v1.Running)), status(phaseIs(v1.Running))
	starts(fewer)
	require.Zero(t, delayOf(running, fewer), "a job that ran")
}
