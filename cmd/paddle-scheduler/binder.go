// SPDX-License-Identifier: Apache-2.0

package main

import (
	"k8s.io/client-go/kubernetes"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
)

// defaultBindings is the number of bindings that are sent at a time. More do not make an API server faster.
const defaultBindings = 64

// binder binds pods as Volcano does, but limits the number of requests at a time. Volcano sends all at once. A planned gang may
// have a thousand pods, and an API server answers most of so many requests after seconds or with "too many requests", and those
// of other clients as well.
type binder struct{ places chan struct{} }

var _ cache.Binder = &binder{}

// newBinder returns a binder for cache.RegisterBindMethod, which is called before the scheduler is made.
func newBinder(atOnce int) cache.Binder { return &binder{places: make(chan struct{}, atOnce)} }

// Bind implements cache.Binder.
func (b *binder) Bind(client kubernetes.Interface, tasks []*api.TaskInfo) map[api.TaskID]string {
	b.places <- struct{}{}
	defer func() { <-b.places }()
	return cache.NewDefaultBinder(client, nil).Bind(client, tasks)
}
