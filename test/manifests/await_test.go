// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// pods returns the pods of one role of the only job in a namespace.
func (p *plane) pods(ctx context.Context, namespace, role string) ([]corev1.Pod, error) {
	list, err := p.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1alpha1.TaskSpecKey + "=" + role})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// inPhase counts the pods in a phase, and fails when the number is another.
func inPhase(pods []corev1.Pod, phase corev1.PodPhase, want int) error {
	var states []string
	count := 0
	for i := range pods {
		if pods[i].Status.Phase == phase {
			count++
		}
		states = append(states, pods[i].Name+" "+string(pods[i].Status.Phase))
	}
	if count != want {
		return fmt.Errorf("%d pods are %s, not %d: %s", count, phase, want, strings.Join(states, ", "))
	}
	return nil
}

// watchBindings returns a function that stops watching and lists every pod of the namespace that was ever bound.
func (p *plane) watchBindings(t *testing.T, namespace string) (bound func() []string) {
	t.Helper()
	list, err := p.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, list.Items, "the watch must begin before the first pod")
	watch, err := p.Kube.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	result := make(chan []string, 1)
	go func() {
		var names []string
		for event := range watch.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
				names = append(names, pod.Name+" on "+pod.Spec.NodeName)
			}
		}
		result <- names
	}()
	return func() []string {
		watch.Stop()
		return <-result
	}
}
