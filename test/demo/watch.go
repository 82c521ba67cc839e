// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	volcanoclient "volcano.sh/apis/pkg/client/clientset/versioned"
	volcanoinformers "volcano.sh/apis/pkg/client/informers/externalversions"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	paddleinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
)

// watch sends what the API server tells of jobs and pods, in order and without leaving anything out, until ctx ends.
func watch(ctx context.Context, config *rest.Config) (<-chan seen, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for pods: %w", err)
	}
	volcano, err := volcanoclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for Volcano Jobs: %w", err)
	}
	paddle, err := paddleclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for PaddleJobs: %w", err)
	}
	news := make(chan seen)
	send := func(object any) {
		if s := seenOf(object); s != nil {
			select {
			case news <- *s:
			case <-ctx.Done():
			}
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: send, UpdateFunc: func(_, now any) { send(now) }}
	for what, informer := range map[string]cache.SharedIndexInformer{
		"pods":         informers.NewSharedInformerFactory(kube, 0).Core().V1().Pods().Informer(),
		"Volcano Jobs": volcanoinformers.NewSharedInformerFactory(volcano, 0).Batch().V1alpha1().Jobs().Informer(),
		"PaddleJobs":   paddleinformers.NewSharedInformerFactory(paddle, 0).Batch().V1().PaddleJobs().Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, fmt.Errorf("watch %s: %w", what, err)
		}
		go informer.RunWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return nil, fmt.Errorf("watch %s: %w", what, context.Cause(ctx))
		}
	}
	return news, nil
}
