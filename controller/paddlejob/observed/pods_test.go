// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

var noon = time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)

// at is a time so many seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

type mark func(*corev1.Pod)

func podWith(phase corev1.PodPhase, marks ...mark) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "j-worker-0", Labels: map[string]string{vcbatch.TaskSpecKey: "worker"}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: phase},
	}
	for _, m := range marks {
		m(pod)
	}
	return pod
}

// target gives a pod the condition DisruptionTarget.
func target(status corev1.ConditionStatus, reason string, since int) mark {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions,
			corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at(-9))},
			corev1.PodCondition{Type: corev1.DisruptionTarget, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(at(since))})
	}
}

// deleted is a pod whose deletion was requested then, with 30 s to end.
func deleted(since int) mark {
	return func(pod *corev1.Pod) {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: at(since + 30)}, ptr.To[int64](30)
	}
}

func reported(pod *corev1.Pod) { pod.Annotations[v1.OutOfSyncAnnotation] = "true" }

func nodeLost(pod *corev1.Pod) { pod.Status.Reason = "NodeLost" }

// ends adds a container that ended then with a code.
func ends(code int32, then int) mark {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(at(then))}}})
	}
}

func attempt(number string) mark {
	return func(pod *corev1.Pod) { pod.Annotations[vcbatch.JobRetryCountKey] = number }
}

func TestDisruption(t *testing.T) {
	t.Parallel()
	const preempted, yes = "PreemptionByScheduler", corev1.ConditionTrue
	for name, tc := range map[string]struct {
		pod   *corev1.Pod
		since time.Time
		want  bool
	}{
		"runs":                                     {pod: podWith(corev1.PodRunning)},
		"failed":                                   {pod: podWith(corev1.PodFailed, ends(1, 0))},
		"preempted":                                {pod: podWith(corev1.PodRunning, target(yes, preempted, 5)), since: at(5), want: true},
		"the condition is false":                   {pod: podWith(corev1.PodRunning, target(corev1.ConditionFalse, preempted, 5))},
		"preempted, and succeeded":                 {pod: podWith(corev1.PodSucceeded, target(yes, preempted, 5), deleted(5))},
		"evicted by the API":                       {pod: podWith(corev1.PodRunning, target(yes, "EvictionByEvictionAPI", 5), deleted(7)), since: at(5), want: true},
		"evicted by its node":                      {pod: podWith(corev1.PodFailed, target(yes, "TerminationByKubelet", 5), ends(137, 6)), since: at(5), want: true},
		"preempted, and failed then":               {pod: podWith(corev1.PodFailed, target(yes, preempted, 5), ends(143, 6)), since: at(5), want: true},
		"at the same second":                       {pod: podWith(corev1.PodFailed, target(yes, preempted, 5), ends(143, 5)), since: at(5), want: true},
		"failed, and preempted then":               {pod: podWith(corev1.PodFailed, target(yes, preempted, 5), ends(1, 4))},
		"one container failed before":              {pod: podWith(corev1.PodFailed, target(yes, preempted, 5), ends(143, 6), ends(1, 4))},
		"one succeeded before":                     {pod: podWith(corev1.PodFailed, target(yes, preempted, 5), ends(143, 6), ends(0, 4)), since: at(5), want: true},
		"preempted by another, stopped by Volcano": {pod: podWith(corev1.PodRunning, target(yes, preempted, 5), deleted(5), reported), since: at(5), want: true},
		"deleted by somebody":                      {pod: podWith(corev1.PodRunning, deleted(5)), since: at(5), want: true},
		"deleted by somebody, and failed then":     {pod: podWith(corev1.PodFailed, deleted(5), ends(143, 6)), since: at(5), want: true},
		"failed, and deleted then":                 {pod: podWith(corev1.PodFailed, deleted(5), ends(1, 4))},
		"deleted by Volcano":                       {pod: podWith(corev1.PodRunning, deleted(5), reported)},
		"deleted without a time to end": {pod: podWith(corev1.PodRunning, deleted(5), func(pod *corev1.Pod) { pod.DeletionGracePeriodSeconds = nil }),
			since: at(35), want: true},
		"its node is lost":                    {pod: podWith(corev1.PodRunning, nodeLost), want: true},
		"its node does not answer":            {pod: podWith(corev1.PodUnknown), want: true},
		"its node's taint":                    {pod: podWith(corev1.PodRunning, target(yes, "DeletionByTaintManager", 300)), want: true},
		"its node is gone":                    {pod: podWith(corev1.PodFailed, target(yes, "DeletionByPodGC", 300)), want: true},
		"its node is lost, and it had failed": {pod: podWith(corev1.PodFailed, target(yes, "DeletionByPodGC", 300), ends(1, 4)), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			since, ok := Disruption(tc.pod)
			require.Equal(t, tc.want, ok)
			require.True(t, tc.since.Equal(since), "%s", since)
		})
	}
}

// A gang that ends because of a disruption has not failed; a failure before it is one.
func TestDisrupted(t *testing.T) {
	t.Parallel()
	preempted := func(since int) mark { return target(corev1.ConditionTrue, "PreemptionByScheduler", since) }
	lost := target(corev1.ConditionTrue, "DeletionByTaintManager", 300)
	for name, tc := range map[string]struct {
		pods    []*corev1.Pod
		failure *Failure
		want    bool
	}{
		"runs":                          {pods: []*corev1.Pod{podWith(corev1.PodRunning)}},
		"a failure":                     {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 0)), podWith(corev1.PodRunning)}},
		"a preemption":                  {pods: []*corev1.Pod{podWith(corev1.PodRunning, preempted(5)), podWith(corev1.PodRunning)}, want: true},
		"a peer fails then":             {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 6)), podWith(corev1.PodRunning, preempted(5))}, want: true},
		"a peer fails at the same time": {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 5)), podWith(corev1.PodRunning, preempted(5))}, want: true},
		"a peer had failed":             {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 4)), podWith(corev1.PodRunning, preempted(5))}},
		"the first preemption counts":   {pods: []*corev1.Pod{podWith(corev1.PodRunning, preempted(9)), podWith(corev1.PodFailed, ends(1, 6)), podWith(corev1.PodRunning, preempted(5))}, want: true},
		"the first failure counts":      {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 6)), podWith(corev1.PodFailed, ends(1, 4)), podWith(corev1.PodRunning, preempted(5))}},
		"a peer that Volcano stopped":   {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 4), reported), podWith(corev1.PodRunning, preempted(5))}, want: true},
		"peers fail before a lost node": {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 4)), podWith(corev1.PodRunning, lost)}, want: true},
		"a peer's end time not known":   {pods: []*corev1.Pod{podWith(corev1.PodFailed), podWith(corev1.PodRunning, preempted(5))}, want: true},
		"of an earlier attempt":         {pods: []*corev1.Pod{podWith(corev1.PodFailed, ends(1, 6), attempt("1")), podWith(corev1.PodRunning, preempted(5), attempt("0"))}},
		"seen before":                   {failure: &Failure{Reason: ReasonPodEvicted, Attempt: 1}, want: true},
		"seen before, of another":       {failure: &Failure{Reason: ReasonPodEvicted, Attempt: 0}},
		"a failure was seen before":     {failure: &Failure{Reason: ReasonPodFailed, Attempt: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &State{Job: &v1.PaddleJob{}, VolcanoJob: &vcbatch.Job{Status: vcbatch.JobStatus{RetryCount: 1}}, Pods: tc.pods, Failure: tc.failure}
			require.Equal(t, tc.want, v.Disrupted())
		})
	}
}

// What ends because it was stopped has not failed.
func TestFailureSeen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		failure *Failure
		want    bool
	}{
		"runs":                 {pod: podWith(corev1.PodRunning)},
		"failed":               {pod: podWith(corev1.PodFailed), want: true},
		"stopped":              {pod: podWith(corev1.PodFailed, reported)},
		"seen before":          {pod: podWith(corev1.PodRunning), failure: &Failure{Reason: ReasonPodFailed, Attempt: 1}, want: true},
		"seen before, stopped": {pod: podWith(corev1.PodRunning), failure: &Failure{Reason: ReasonPodFailed, Attempt: 1, ByVolcano: true}},
		"seen before, another": {pod: podWith(corev1.PodRunning), failure: &Failure{Reason: ReasonPodFailed}},
		"an eviction":          {pod: podWith(corev1.PodRunning), failure: &Failure{Reason: ReasonPodEvicted, Attempt: 1}},
	} {
		v := &State{Job: &v1.PaddleJob{}, VolcanoJob: &vcbatch.Job{Status: vcbatch.JobStatus{RetryCount: 1}}, Pods: []*corev1.Pod{tc.pod}, Failure: tc.failure}
		require.Equal(t, tc.want, v.FailureSeen(), name)
	}
}

// Volcano starts a gang again as a whole, unless it misses the eviction.
func TestPartlyRecreated(t *testing.T) {
	t.Parallel()
	pod := func(role string, created int, marks ...mark) *corev1.Pod {
		return podWith(corev1.PodRunning, append([]mark{func(pod *corev1.Pod) {
			pod.Labels[vcbatch.TaskSpecKey] = role
			pod.Annotations[vcbatch.TaskSpecKey] = role
			pod.Annotations[vcbatch.JobRetryCountKey] = "1"
			pod.CreationTimestamp = metav1.NewTime(at(created))
		}}, marks...)...)
	}
	bound := func(then int) mark {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions,
				corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at(then))})
		}
	}
	waits := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(at(0))}}
	}
	earlier := func(pod *corev1.Pod) { pod.Annotations[vcbatch.JobRetryCountKey] = "0" }
	unknown := func(pod *corev1.Pod) { delete(pod.Annotations, vcbatch.JobRetryCountKey) }
	in := func(phase corev1.PodPhase) mark { return func(pod *corev1.Pod) { pod.Status.Phase = phase } }
	policies := []vcbatch.LifecyclePolicy{{}}
	for name, tc := range map[string]struct {
		pods  []*corev1.Pod
		alone bool
		since int // seconds after noon; the Volcano Job's last transition is at 5
		want  bool
	}{
		"no pods":                                             {since: 5},
		"all at once":                                         {pods: []*corev1.Pod{pod("ps", 0, bound(2)), pod("worker", 1, bound(3))}, since: 5},
		"a pod after another was bound":                       {pods: []*corev1.Pod{pod("ps", 0, bound(2)), pod("worker", 13, bound(14))}, since: 13, want: true},
		"a pod that is not bound":                             {pods: []*corev1.Pod{pod("worker", 13, waits), pod("ps", 0, bound(2))}, since: 13, want: true},
		"another clock":                                       {pods: []*corev1.Pod{pod("ps", 0, bound(2)), pod("worker", 12, bound(14))}, since: 12},
		"none is bound":                                       {pods: []*corev1.Pod{pod("ps", 0, waits), pod("worker", 60, waits)}, since: 60},
		"its peer is being deleted":                           {pods: []*corev1.Pod{pod("ps", 0, bound(2), deleted(10)), pod("worker", 60, bound(61))}, since: 60},
		"its peer has succeeded":                              {pods: []*corev1.Pod{pod("worker", 0, bound(2), in(corev1.PodSucceeded)), pod("worker", 60, bound(61))}, since: 60},
		"its peer has failed":                                 {pods: []*corev1.Pod{pod("worker", 0, bound(2), in(corev1.PodFailed)), pod("worker", 60, bound(61))}, since: 60},
		"an earlier attempt's":                                {pods: []*corev1.Pod{pod("worker", 0, bound(2), earlier), pod("ps", 4, bound(6))}, since: 5, want: true},
		"an earlier attempt's, and it is being deleted":       {pods: []*corev1.Pod{pod("worker", 0, bound(2), earlier, deleted(3)), pod("ps", 4, bound(6))}, since: 5},
		"the attempt is not known":                            {pods: []*corev1.Pod{pod("worker", 0, bound(2), unknown), pod("ps", 4, bound(6))}, since: 5},
		"a worker that starts again alone":                    {alone: true, pods: []*corev1.Pod{pod("ps", 0, bound(2)), pod("worker", 60, bound(61))}, since: 60},
		"created slowly":                                      {pods: []*corev1.Pod{pod("ps", 0, bound(2)), pod("worker", 10, bound(11)), pod("worker", 20, bound(21))}, since: 20},
		"two of three":                                        {pods: []*corev1.Pod{pod("ps", 0, bound(2)), pod("worker", 60, bound(61)), pod("worker", 61, bound(62))}, since: 61, want: true},
		"the gang starts without it":                          {pods: []*corev1.Pod{pod("ps", 0, bound(2)), pod("heter", 60, bound(61))}, since: 60},
		"a server, and workers start again alone":             {alone: true, pods: []*corev1.Pod{pod("worker", 0, bound(2)), pod("ps", 60, bound(61))}, since: 60, want: true},
		"an earlier attempt's, and workers start again alone": {alone: true, pods: []*corev1.Pod{pod("worker", 0, bound(2), earlier), pod("ps", 4, bound(6))}, since: 5, want: true},
	} {
		tasks := []vcbatch.TaskSpec{{Name: "ps", Replicas: 1}, {Name: "worker", Replicas: 2}, {Name: "heter", Replicas: 2, MinAvailable: ptr.To[int32](1)}}
		job := &vcbatch.Job{Spec: vcbatch.JobSpec{Policies: policies, Tasks: tasks}, Status: vcbatch.JobStatus{RetryCount: 1}}
		if tc.alone {
			job.Spec.Policies = nil
		}
		job.Status.State.LastTransitionTime = metav1.NewTime(at(5))
		since, partly := (&State{Job: &v1.PaddleJob{}, VolcanoJob: job, Pods: tc.pods}).PartlyRecreated()
		require.Equal(t, tc.want, partly, name)
		require.Equal(t, at(tc.since), since, name)
	}
}
