// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	volcanoinformers "volcano.sh/apis/pkg/client/informers/externalversions"

	paddleinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// watch sends what the API server tells of jobs and pods, in order and without leaving anything out, until ctx ends.
func watch(ctx context.Context, cluster *live.Plane) (<-chan seen, error) {
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
		"pods":         informers.NewSharedInformerFactory(cluster.Kube, 0).Core().V1().Pods().Informer(),
		"Volcano Jobs": volcanoinformers.NewSharedInformerFactory(cluster.Volcano, 0).Batch().V1alpha1().Jobs().Informer(),
		"PaddleJobs":   paddleinformers.NewSharedInformerFactory(cluster.Paddle, 0).Batch().V1().PaddleJobs().Informer(),
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
