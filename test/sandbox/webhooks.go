// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// local makes webhook configurations call the process on this machine instead of a Service. They keep their names: Volcano's
// webhook-manager looks for them by name, and gives up after five minutes.
func local(objects []*unstructured.Unstructured, server string, ca []byte) error {
	for _, object := range objects {
		switch object.GetKind() {
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		default:
			continue
		}
		hooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil {
			return fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		for _, item := range hooks {
			hook, ok := item.(map[string]any)
			if !ok {
				return fmt.Errorf("read %s %s: a webhook is no object", object.GetKind(), object.GetName())
			}
			path, _, err := unstructured.NestedString(hook, "clientConfig", "service", "path")
			if err != nil || path == "" {
				return fmt.Errorf("read %s %s: a webhook has no path", object.GetKind(), object.GetName())
			}
			hook["clientConfig"] = map[string]any{"url": server + path, "caBundle": base64.StdEncoding.EncodeToString(ca)}
		}
		if err := unstructured.SetNestedSlice(object.Object, hooks, "webhooks"); err != nil {
			return fmt.Errorf("change %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

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
