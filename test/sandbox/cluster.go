// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"
)

const fieldManager = "paddle-sandbox"

// cluster is the sandbox's API server, seen by its administrator.
type cluster struct {
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newCluster(config *rest.Config) (*cluster, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kube.Discovery()))
	return &cluster{kube: kube, dynamic: dyn, mapper: mapper}, nil
}

// ready waits until the API server takes requests.
func (c *cluster) ready(ctx context.Context) error {
	return until(ctx, "kube-apiserver to be ready", func(ctx context.Context) error {
		_, err := c.kube.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err
	})
}

// apply creates objects as they are written, at the same time; namespaces come first.
func (c *cluster) apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, namespaces := range []bool{true, false} {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(16)
		for _, object := range objects {
			if (object.GetKind() == "Namespace") == namespaces {
				group.Go(func() error { return c.applyOne(ctx, object) })
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) applyOne(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	var client dynamic.ResourceInterface = c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		client = c.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	_, err = client.Patch(ctx, object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: fieldManager, Force: ptr.To(true)})
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	return nil
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// applyCRDs installs CRDs and waits until their objects can be made and watched.
func (c *cluster) applyCRDs(ctx context.Context, crds []*unstructured.Unstructured) error {
	if err := c.apply(ctx, crds); err != nil {
		return err
	}
	group, waits := errgroup.WithContext(ctx)
	for _, crd := range crds {
		group.Go(func() error {
			return until(waits, "CRD "+crd.GetName()+" to be established", func(ctx context.Context) error {
				got, err := c.dynamic.Resource(crdResource).Get(ctx, crd.GetName(), metav1.GetOptions{})
				if err != nil {
					return err
				}
				if !established(got) {
					return errors.New("it is not established yet")
				}
				return c.watchable(ctx, got)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	c.mapper.Reset()
	return nil
}

// watchable returns an error while the API server refuses to watch objects of a CRD because their watch cache is not filled. A
// client that lists them before has to list them again, seconds later: Volcano's Job controller then misses that PodGroups have
// become Inqueue in between, and makes no pods, because a list of an informer is no update.
func (c *cluster) watchable(ctx context.Context, crd *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, item := range versions {
		version, _ := item.(map[string]any)
		if version["served"] != true {
			continue
		}
		resource := schema.GroupVersionResource{Group: group, Version: fmt.Sprint(version["name"]), Resource: plural}
		watch, err := c.dynamic.Resource(resource).Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return fmt.Errorf("watch %s: %w", resource, err)
		}
		watch.Stop()
	}
	return nil
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}

// createNodes registers the simulated nodes.
func (c *cluster) createNodes(ctx context.Context, nodes []*corev1.Node) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(32)
	for _, node := range nodes {
		group.Go(func() error {
			if _, err := c.kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create node %s: %w", node.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// nodesReady waits until every node is ready and free of the taints that it was born with.
func (c *cluster) nodesReady(ctx context.Context) error {
	return until(ctx, "the simulated nodes to be ready", func(ctx context.Context) error {
		nodes, err := c.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		ready := 0
		for i := range nodes.Items {
			if nodeReady(&nodes.Items[i]) {
				ready++
			}
		}
		if ready < len(nodes.Items) {
			return fmt.Errorf("%d of %d are ready", ready, len(nodes.Items))
		}
		return nil
	})
}

func nodeReady(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
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

const (
	// pollEvery is short because a sandbox is ready in seconds.
	pollEvery = 100 * time.Millisecond
	// pollMost is the longest pause, for slow polls.
	pollMost = 5 * time.Second
)

// until calls try until it returns no error, or until ctx ends. Then the error has the cause and the last error.
func until(ctx context.Context, what string, try func(context.Context) error) error {
	for {
		began := time.Now()
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s (%w): %w", what, err, context.Cause(ctx))
		case <-time.After(pause(time.Since(began))):
		}
	}
}

// pause returns the pause after a poll. It grows with the poll's duration: expensive polls, such as lists of 5,000 nodes, delay what
// they wait for.
func pause(took time.Duration) time.Duration {
	return min(max(pollEvery, 4*took), pollMost)
}
