// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// patience is generous: what is waited for takes seconds.
const patience = 3 * time.Minute

// await asks again and again until there is no error, and fails the test with the last one when patience is over.
func await(t *testing.T, what string, try func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := try(ctx)
		if last == nil || ctx.Err() == nil {
			last = err // the end of patience explains nothing
		}
		return err == nil, nil
	})
	if err != nil {
		require.FailNow(t, "gave up waiting for "+what, "%v (logs in %s)", last, shared.StateDir())
	}
}

// namespaces counts them, so that their names differ.
var namespaces atomic.Int32

// namespace makes a namespace for one test, in which pods are admitted.
func (p *plane) namespace(t *testing.T) string {
	t.Helper()
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(path.Base(t.Name())), "-")
	name = fmt.Sprintf("%.40s-%d", name, namespaces.Add(1))
	_, err := p.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	await(t, "the default service account of "+name, func(ctx context.Context) error {
		_, err := p.kube.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return name
}

// pods returns the pods of one role of the only job in a namespace.
func (p *plane) pods(ctx context.Context, namespace, role string) ([]corev1.Pod, error) {
	list, err := p.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1alpha1.TaskSpecKey + "=" + role})
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
	list, err := p.kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, list.Items, "the watch must begin before the first pod")
	watch, err := p.kube.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
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
