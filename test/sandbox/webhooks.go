// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var volcanoJobs = schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}

// webhooksReady waits until a Volcano Job that names no scheduler is given Volcano's. Nothing is created.
func (c *cluster) webhooksReady(ctx context.Context) error {
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": map[string]any{"name": "probe"},
		"spec": map[string]any{"tasks": []any{map[string]any{
			"name": "probe", "replicas": int64(1),
			"template": map[string]any{"spec": map[string]any{
				"restartPolicy": "Never",
				"containers":    []any{map[string]any{"name": "probe", "image": "probe"}},
			}},
		}}},
	}}
	return until(ctx, "Volcano's webhooks to answer", func(ctx context.Context) error {
		got, err := c.dynamic.Resource(volcanoJobs).Namespace(metav1.NamespaceDefault).
			Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if name, _, _ := unstructured.NestedString(got.Object, "spec", "schedulerName"); name == "" {
			return errors.New("a Job without a scheduler's name was left as it is")
		}
		return nil
	})
}

var volcanoQueues = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}

// queueReady waits until the default queue, which the scheduler makes, takes jobs.
func (c *cluster) queueReady(ctx context.Context) error {
	return until(ctx, "the queue default to be open", func(ctx context.Context) error {
		queue, err := c.dynamic.Resource(volcanoQueues).Get(ctx, "default", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if state, _, _ := unstructured.NestedString(queue.Object, "status", "state"); state != "Open" {
			return fmt.Errorf("its state is %q", state)
		}
		return nil
	})
}

// namespaceReady waits until pods can be made in the namespace default.
func (c *cluster) namespaceReady(ctx context.Context) error {
	return until(ctx, "the service account of namespace default", func(ctx context.Context) error {
		_, err := c.kube.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}
