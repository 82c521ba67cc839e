// SPDX-License-Identifier: Apache-2.0

// Package limit makes the bindings of a scheduler again, by a client that does nothing else, or that also reads what any scheduler must.
// A scheduler that binds each pod by a separate request cannot be faster.
package limit

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"
	vcinformers "volcano.sh/apis/pkg/client/informers/externalversions"
)

// Bindings returns the bindings among writes, in their order. Their audit events have the request bodies.
func Bindings(writes []*auditv1.Event) ([]*corev1.Binding, error) {
	var bindings []*corev1.Binding
	for _, e := range writes {
		if e.Verb != "create" || e.ObjectRef.Resource != "pods" || e.ObjectRef.Subresource != "binding" {
			continue
		}
		if e.RequestObject == nil {
			return nil, fmt.Errorf("read the binding of pod %s: the audit log has no body", e.ObjectRef.Name)
		}
		binding := &corev1.Binding{}
		if err := json.Unmarshal(e.RequestObject.Raw, binding); err != nil {
			return nil, fmt.Errorf("read the binding of pod %s: %w", e.ObjectRef.Name, err)
		}
		bindings = append(bindings, binding)
	}
	return bindings, nil
}

// Ready returns the bindings with the UIDs of pods that were created again under the same names. It is an error if one does not exist.
func Ready(bindings []*corev1.Binding, pods []corev1.Pod) ([]*corev1.Binding, error) {
	now := map[string]metav1.ObjectMeta{}
	for i := range pods {
		now[pods[i].Name] = pods[i].ObjectMeta
	}
	ready := make([]*corev1.Binding, len(bindings))
	for i, binding := range bindings {
		pod, ok := now[binding.Name]
		if !ok {
			return nil, fmt.Errorf("bind pod %s again: it does not exist", binding.Name)
		}
		ready[i] = &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
			Target:     binding.Target,
		}
	}
	return ready, nil
}

// Bind creates the bindings by a client without a rate limit, a fixed number at a time.
func Bind(ctx context.Context, pods corev1client.PodInterface, bindings []*corev1.Binding, concurrency int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, binding := range bindings {
		group.Go(func() error {
			if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("bind pod %s again: %w", binding.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// Watch lists nodes, pods and PodGroups, and returns when all have been decoded. It decodes what changes until the context ends.
func Watch(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client that watches: %w", err)
	}
	volcano, err := vcclient.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client that watches: %w", err)
	}
	core, groups := informers.NewSharedInformerFactory(client, 0), vcinformers.NewSharedInformerFactory(volcano, 0)
	read := []cache.InformerSynced{
		core.Core().V1().Nodes().Informer().HasSynced, core.Core().V1().Pods().Informer().HasSynced,
		groups.Scheduling().V1beta1().PodGroups().Informer().HasSynced,
	}
	core.Start(ctx.Done())
	groups.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), read...) {
		return fmt.Errorf("read the cluster: %w", ctx.Err())
	}
	return nil
}
