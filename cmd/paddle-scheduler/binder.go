// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"golang.org/x/sync/semaphore"
	"k8s.io/client-go/kubernetes"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
)

// defaultBindings is the number of bindings that are sent at a time. More do not make an API server faster.
const defaultBindings = 64

// binder binds pods as Volcano does, but limits the number of requests at a time. Volcano sends all at once: those of a gang of a
// thousand pods, and of other clients, are then answered after seconds or with "too many requests".
type binder struct {
	places *semaphore.Weighted // nil without a limit
}

// newBinder returns a binder that sends atOnce bindings at a time, all if that is 0.
func newBinder(atOnce int) *binder {
	b := &binder{}
	if atOnce > 0 {
		b.places = semaphore.NewWeighted(int64(atOnce))
	}
	return b
}

// Bind implements cache.Binder.
func (b *binder) Bind(client kubernetes.Interface, tasks []*api.TaskInfo) map[api.TaskID]string {
	if b.places != nil {
		_ = b.places.Acquire(context.Background(), 1) // this context never ends
		defer b.places.Release(1)
	}
	return cache.NewDefaultBinder(client, nil).Bind(client, tasks)
}

// untilSent returns when all bindings that wait now have been sent and another could be, or when the context ends: places are given in the
// order of the requests for them.
func (b *binder) untilSent(ctx context.Context) {
	if b.places != nil && b.places.Acquire(ctx, 1) == nil {
		b.places.Release(1)
	}
}
