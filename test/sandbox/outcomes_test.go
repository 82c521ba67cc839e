// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// bound returns a pod that needs no scheduler, because it names its node.
func bound(name string, policy corev1.RestartPolicy, labels, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations},
		Spec: corev1.PodSpec{
			NodeName: "rack-0-node-0", RestartPolicy: policy,
			Containers: []corev1.Container{{Name: "main", Image: "image"}, {Name: "second", Image: "image"}},
		},
	}
}

func ended(phase corev1.PodPhase, exitCode int32, reason string, restarts int32) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		if pod.Status.Phase != phase {
			return fmt.Errorf("it is %s, not %s", pod.Status.Phase, phase)
		}
		for _, c := range pod.Status.ContainerStatuses {
			end := c.State.Terminated
			if end == nil || end.ExitCode != exitCode || end.Reason != reason || c.RestartCount != restarts || c.Ready {
				return fmt.Errorf("container %s ended otherwise", c.Name)
			}
		}
		return nil
	}
}

func restarted(exitCode int32, reason string) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %s, not Running", pod.Status.Phase)
		}
		for _, c := range pod.Status.ContainerStatuses {
			last := c.LastTerminationState.Terminated
			if c.RestartCount < 2 || c.State.Running == nil || last == nil || last.ExitCode != exitCode || last.Reason != reason {
				return fmt.Errorf("container %s was not restarted twice after exit code %d", c.Name, exitCode)
			}
		}
		return nil
	}
}

func running(pod *corev1.Pod) error {
	if pod.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("it is %s, not Running", pod.Status.Phase)
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running == nil || !c.Ready || c.RestartCount != 0 {
			return fmt.Errorf("container %s does not run, or not its first time", c.Name)
		}
	}
	return nil
}

type notes = map[string]string

func (e *env) testOutcomes(t *testing.T) {
	const (
		never, onFailure, always = corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways
		run, code, attempt       = stages.AnnotationRunFor, stages.AnnotationExitCode, stages.AnnotationFailAttempt
		role, task               = "paddle-res-type", batchv1alpha1.TaskSpecKey
		retries                  = batchv1alpha1.JobRetryCountKey
	)
	success := ended(corev1.PodSucceeded, 0, "Completed", 0)
	tests := map[string]struct {
		policy      corev1.RestartPolicy
		labels      map[string]string
		annotations map[string]string
		want        func(*corev1.Pod) error
		// lasts says that the pod is to be so still when all others have ended.
		lasts bool
	}{
		"worker":                     {policy: never, labels: notes{role: "worker"}, want: success},
		"worker-on-failure":          {policy: onFailure, labels: notes{role: "worker"}, want: success},
		"task-worker":                {policy: never, labels: notes{task: "worker"}, want: success},
		"task-trainer":               {policy: never, labels: notes{task: "trainer"}, want: success},
		"server":                     {policy: never, labels: notes{role: "ps"}, want: running, lasts: true},
		"task-server":                {policy: onFailure, labels: notes{task: "pserver"}, want: running, lasts: true},
		"no-role":                    {policy: always, want: running, lasts: true},
		"server-with-time":           {policy: never, labels: notes{role: "ps"}, annotations: notes{run: "1.5s"}, want: success},
		"long-notation":              {policy: never, annotations: notes{run: "0h0m1s500ms"}, want: success},
		"no-time-at-all":             {policy: never, annotations: notes{run: "0s"}, want: success},
		"worker-for-ever":            {policy: never, labels: notes{role: "worker"}, annotations: notes{run: "forever"}, want: running, lasts: true},
		"exit-zero":                  {policy: never, annotations: notes{run: "1s", code: "0"}, want: success},
		"exit-zero-for-ever":         {policy: never, annotations: notes{code: "0"}, want: running, lasts: true},
		"fails":                      {policy: never, annotations: notes{run: "1s", code: "3"}, want: ended(corev1.PodFailed, 3, "Error", 0)},
		"server-fails":               {policy: never, labels: notes{role: "ps"}, annotations: notes{code: "137"}, want: ended(corev1.PodFailed, 137, "Error", 0)},
		"fails-in-place":             {policy: onFailure, annotations: notes{run: "1s", code: "1"}, want: restarted(1, "Error")},
		"fails-always":               {policy: always, annotations: notes{run: "1s", code: "1"}, want: restarted(1, "Error")},
		"done-always":                {policy: always, annotations: notes{run: "1s"}, want: restarted(0, "Completed")},
		"fails-once-in-place":        {policy: onFailure, annotations: notes{run: "1s", code: "1", attempt: "0"}, want: ended(corev1.PodSucceeded, 0, "Completed", 1)},
		"fails-second-time-in-place": {policy: onFailure, annotations: notes{run: "1s", code: "1", attempt: "1", retries: "0"}, want: success},
		"first-gang-attempt":         {policy: never, annotations: notes{run: "1s", code: "1", attempt: "0", retries: "0"}, want: ended(corev1.PodFailed, 1, "Error", 0)},
		"not-this-gang-attempt":      {policy: never, annotations: notes{run: "1s", code: "1", attempt: "0", retries: "1"}, want: success},
		"second-gang-attempt":        {policy: never, annotations: notes{run: "1s", code: "1", attempt: "1", retries: "1"}, want: ended(corev1.PodFailed, 1, "Error", 0)},
		"server-of-another-attempt":  {policy: never, annotations: notes{code: "1", attempt: "1"}, want: running, lasts: true},
	}
	namespace := e.NamespaceNamed(t, "outcomes")
	for name, test := range tests {
		_, err := e.Kube.CoreV1().Pods(namespace).Create(t.Context(), bound(name, test.policy, test.labels, test.annotations), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for _, lasting := range []bool{false, true} {
		for name, test := range tests {
			if test.lasts == lasting {
				t.Run(name, func(t *testing.T) { e.until(t, namespace, name, test.want) })
			}
		}
	}
}

// TestBirth follows one pod from its first status to its last.
func (e *env) testBirth(t *testing.T) {
	namespace := e.NamespaceNamed(t, "birth")
	watcher, err := e.Kube.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watcher.Stop()
	pod := bound("pod", corev1.RestartPolicyNever, nil, notes{stages.AnnotationRunFor: "1s"})
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "once", Image: "image"}, {Name: "sidecar", Image: "image", RestartPolicy: &always}}
	_, err = e.Kube.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)

	var seen []string
	for event := range watcher.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		require.True(t, ok)
		if now := state(pod); len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		if pod.Status.Phase == corev1.PodSucceeded {
			break
		}
	}
	require.Equal(t, []string{
		"Pending, no address, init [], main [], not ready",
		"Pending, address, init [PodInitializing PodInitializing], main [PodInitializing PodInitializing], not ready",
		"Pending, address, init [Completed running], main [PodInitializing PodInitializing], not ready",
		"Running, address, init [Completed running], main [running running], ready",
		"Succeeded, address, init [Completed Completed], main [Completed Completed], not ready",
	}, seen)
}

func state(pod *corev1.Pod) string {
	states := func(statuses []corev1.ContainerStatus) []string {
		out := []string{}
		for _, c := range statuses {
			switch {
			case c.State.Running != nil:
				out = append(out, "running")
			case c.State.Terminated != nil:
				out = append(out, c.State.Terminated.Reason)
			case c.State.Waiting != nil:
				out = append(out, c.State.Waiting.Reason)
			}
		}
		return out
	}
	address, ready := "no address", "not ready"
	if pod.Status.PodIP != "" && pod.Status.HostIP != "" && pod.Status.StartTime != nil {
		address = "address"
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			ready = "ready"
		}
	}
	return fmt.Sprintf("%s, %s, init %v, main %v, %s", pod.Status.Phase, address, states(pod.Status.InitContainerStatuses), states(pod.Status.ContainerStatuses), ready)
}

func (e *env) testRefusal(t *testing.T) {
	namespace := e.NamespaceNamed(t, "refusal")
	for name, annotations := range map[string]notes{
		"run-for":      {stages.AnnotationRunFor: "5 seconds"},
		"exit-code":    {stages.AnnotationExitCode: "256", stages.AnnotationRunFor: "1s"},
		"fail-attempt": {stages.AnnotationExitCode: "1", stages.AnnotationFailAttempt: "first", stages.AnnotationRunFor: "1s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Kube.CoreV1().Pods(namespace).Create(t.Context(), bound(name, corev1.RestartPolicyNever, nil, annotations), metav1.CreateOptions{})
			require.NoError(t, err)
			e.until(t, namespace, name, func(pod *corev1.Pod) error {
				for _, c := range pod.Status.ContainerStatuses {
					if c.State.Waiting != nil && c.State.Waiting.Reason == "CreateContainerConfigError" {
						return nil
					}
				}
				return errors.New("it is not refused")
			})
			e.Await(t, "the event", func(ctx context.Context) error {
				events, err := e.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=SandboxAnnotation,involvedObject.name=" + name})
				if err == nil && len(events.Items) == 0 {
					err = errors.New("there is no event")
				}
				return err
			})
			// Mending the annotations is enough.
			pod := e.pod(t, namespace, name)
			pod.Annotations = notes{stages.AnnotationRunFor: "1s"}
			_, err = e.Kube.CoreV1().Pods(namespace).Update(t.Context(), pod, metav1.UpdateOptions{})
			require.NoError(t, err)
			e.until(t, namespace, name, ended(corev1.PodSucceeded, 0, "Completed", 0))
		})
	}
}
