// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// disrupted returns a condition of pods that are taken from their node.
func disrupted(reason string) []corev1.PodCondition {
	return []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason},
	}
}

func TestIsNodeFault(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		status   corev1.PodStatus
		deleting bool
		want     bool
	}{
		"runs":                        {corev1.PodStatus{Phase: corev1.PodRunning}, false, false},
		"is deleted":                  {corev1.PodStatus{Phase: corev1.PodRunning}, true, false},
		"succeeded":                   {corev1.PodStatus{Phase: corev1.PodSucceeded}, false, false},
		"failed":                      {corev1.PodStatus{Phase: corev1.PodFailed}, false, true},
		"killed with its gang":        {corev1.PodStatus{Phase: corev1.PodFailed}, true, false},
		"evicted by the kubelet":      {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, false, true},
		"taken by a taint":            {corev1.PodStatus{Phase: corev1.PodRunning, Conditions: disrupted("DeletionByTaintManager")}, true, true},
		"drained":                     {corev1.PodStatus{Phase: corev1.PodRunning, Conditions: disrupted("EvictionByEvictionAPI")}, false, true},
		"preempted":                   {corev1.PodStatus{Phase: corev1.PodRunning, Conditions: disrupted(corev1.PodReasonPreemptionByScheduler)}, false, false},
		"preempted, and died of that": {corev1.PodStatus{Phase: corev1.PodFailed, Conditions: disrupted(corev1.PodReasonPreemptionByScheduler)}, false, false},
		"disruption withdrawn": {corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse, Reason: "DeletionByTaintManager"},
		}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: test.status}
			if test.deleting {
				pod.DeletionTimestamp = &now
			}
			require.Equal(t, test.want, isNodeFault(pod))
		})
	}
}

func TestHistory_PodChanged(t *testing.T) {
	status := func(node string, phase corev1.PodPhase) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = node, phase }
	}
	unmarked := func(pod *corev1.Pod) { pod.Labels, pod.Annotations[paddlejob.ResourceAnnotation] = nil, "" }
	none := func(*corev1.Pod) {}
	for name, test := range map[string]struct {
		old, pod, both func(*corev1.Pod)
		want           *Record
	}{
		"bound":    {status("", corev1.PodPending), status("n1", corev1.PodPending), none, &Record{Nodes: map[string]string{"j-worker-0": "n1"}, FailedNodes: []string{"n0"}}},
		"runs":     {status("n1", corev1.PodPending), status("n1", corev1.PodRunning), none, &Record{FailedNodes: []string{"n0"}}},
		"failed":   {status("n1", corev1.PodRunning), status("n1", corev1.PodFailed), none, &Record{FailedNodes: []string{"n0", "n1"}}},
		"was seen": {status("n1", corev1.PodFailed), status("n1", corev1.PodFailed), none, &Record{FailedNodes: []string{"n0"}}},
		"no node":  {status("", corev1.PodPending), status("", corev1.PodFailed), none, &Record{FailedNodes: []string{"n0"}}},
		"is done":  {status("n1", corev1.PodRunning), status("n1", corev1.PodSucceeded), none, &Record{}},
		"no group": {status("n1", corev1.PodRunning), status("n1", corev1.PodFailed), func(pod *corev1.Pod) {
			delete(pod.Annotations, scheduling.KubeGroupNameAnnotationKey)
		}, &Record{FailedNodes: []string{"n0"}}},
		"a known job without marks": {status("n1", corev1.PodRunning), status("n1", corev1.PodFailed), func(pod *corev1.Pod) {
			pod.Labels, pod.Annotations[paddlejob.ResourceAnnotation] = nil, ""
			delete(pod.Annotations, paddlejob.ResourceAnnotation)
		}, &Record{FailedNodes: []string{"n0", "n1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := New()
			m.RecordFailure("ns/j", "n0")
			old, pod := pods("j", 1)[0], pods("j", 1)[0]
			test.old(old)
			test.pod(pod)
			test.both(old)
			test.both(pod)
			m.podChanged(old, pod)
			have, ok := m.Get("ns/j")
			require.True(t, ok)
			require.Equal(t, 1, m.jobs.Len())
			require.Equal(t, test.want.FailedNodes, have.FailedNodes)
			require.Len(t, have.Nodes, len(test.want.Nodes))
			for name, node := range test.want.Nodes {
				require.Equal(t, node, have.Nodes[name])
			}
		})
	}
	t.Run("a job that is not Paddle's", func(t *testing.T) {
		m := New()
		pod := plainPods("j", "worker", 1)[0]
		status("n1", corev1.PodFailed)(pod)
		unmarked(pod)
		delete(pod.Annotations, paddlejob.ResourceAnnotation)
		m.podChanged(&corev1.Pod{}, pod)
		require.Zero(t, m.jobs.Len())
	})
}

// Volcano's Job controller deletes a pod that failed within a second.
func TestHistory_Watch(t *testing.T) {
	lost := pods("j", 2)
	lost[0].Spec.NodeName, lost[0].Status.Phase = "n1", corev1.PodRunning
	lost[1].Spec.NodeName, lost[1].Status.Phase = "n2", corev1.PodFailed
	client := fake.NewClientset(lost[0], lost[1])
	factory := informers.NewSharedInformerFactory(client, 0)
	m := New()
	m.Watch(nil)
	m.Watch(factory)
	m.Watch(factory)
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	failed := func() []string {
		have, _ := m.Get("ns/j")
		return have.FailedNodes
	}
	require.Eventually(t, func() bool { return len(failed()) == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"n2"}, failed(), "it failed before the scheduler began")

	changed := lost[0].DeepCopy()
	changed.Status.Phase = corev1.PodFailed
	_, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), changed, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, client.CoreV1().Pods(namespace).Delete(t.Context(), changed.Name, metav1.DeleteOptions{}))
	require.Eventually(t, func() bool { return len(failed()) == 2 }, time.Minute, time.Millisecond)
	have, _ := m.Get("ns/j")
	require.Equal(t, []string{"n2", "n1"}, have.FailedNodes)
	require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n2"}, have.Nodes)
}

func TestHistory_ObserveEnded(t *testing.T) {
	task := func(pod *corev1.Pod, node string, phase corev1.PodPhase) *api.TaskInfo {
		pod.Spec.NodeName, pod.Status.Phase = node, phase
		return api.NewTaskInfo(pod)
	}
	gang, other := pods("a", 3), plainPods("b", "x", 1)
	a := api.NewJobInfo("ns/a", task(gang[2], "n3", corev1.PodFailed), task(gang[0], "n1", corev1.PodFailed), task(gang[1], "n2", corev1.PodRunning))
	a.PodGroup = &api.PodGroup{}
	a.AddTaskInfo(task(pods("a", 5)[4], "", corev1.PodFailed)) // deleted before it had a node
	b := api.NewJobInfo("ns/b", task(other[0], "n1", corev1.PodFailed))
	b.PodGroup = &api.PodGroup{}
	m := New()
	m.ObserveEnded(map[api.JobID]*api.JobInfo{a.UID: a, b.UID: b})
	have, _ := m.Get("ns/a")
	require.Equal(t, []string{"n1", "n3"}, have.FailedNodes)
	require.False(t, m.knows("ns/b"))

	a.AddTaskInfo(task(pods("a", 4)[3], "n4", corev1.PodSucceeded))
	m.ObserveEnded(map[api.JobID]*api.JobInfo{a.UID: a, b.UID: b})
	have, _ = m.Get("ns/a")
	require.Empty(t, have.FailedNodes)
}

func TestHistory_ObserveBindings(t *testing.T) {
	bound := pods("a", 2)
	a, first := api.NewJobInfo("ns/a"), api.NewTaskInfo(bound[0])
	first.NodeName, first.Status = "n1", api.Binding
	a.AddTaskInfo(first)
	a.AddTaskInfo(api.NewTaskInfo(bound[1]))
	b := api.NewJobInfo("ns/b", api.NewTaskInfo(pods("b", 1)[0]))
	m := New()
	for i := range 100 {
		m.recordPlacement("ns/a", fmt.Sprintf("a-worker-old-%d", i), "n9")
	}
	m.ObserveBindings(map[api.JobID]*api.JobInfo{a.UID: a, b.UID: b}, map[api.JobID]paddlejob.Gang{"ns/a": nil, "ns/b": nil, "ns/deleted": nil})
	have, _ := m.Get("ns/a")
	require.Equal(t, map[string]string{"a-worker-0": "n1"}, have.Nodes)
	require.False(t, m.knows("ns/b"))
}

// plainPods returns pods {job}-{task}-{i} of a Volcano Job without a mark of Paddle.
func plainPods(job, task string, n int) []*corev1.Pod {
	made := make([]*corev1.Pod, n)
	for i := range made {
		name := fmt.Sprintf("%s-%s-%d", job, task, i)
		made[i] = util.BuildPod(namespace, name, "", corev1.PodPending, corev1.ResourceList{}, job, map[string]string{}, nil)
	}
	return made
}

// pods returns workers with the marks of our controller.
func pods(job string, n int) []*corev1.Pod {
	made := plainPods(job, "worker", n)
	for _, pod := range made {
		pod.Labels[paddlejob.JobNameLabel] = job
		pod.Annotations[paddlejob.ResourceAnnotation] = "worker"
	}
	return made
}

const namespace = "ns"
