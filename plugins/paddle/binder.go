// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"k8s.io/client-go/kubernetes"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
)

// DefaultBindings is how many bindings are on their way at a time where nothing else is said: more do not make an API
// server faster.
const DefaultBindings = 64

// binder makes bindings as Volcano does, but a few at a time. Volcano sends all that it has at once. That is harmless while
// it finds nodes slower than an API server binds pods; planned gangs come by the thousand, and an API server answers most
// of such a flood after seconds, or with "too many requests", and everybody else's requests with them.
type binder struct{ places chan struct{} }

var _ cache.Binder = &binder{}

// NewBinder is for cache.RegisterBindMethod, before the scheduler is made.
func NewBinder(atOnce int) cache.Binder { return &binder{places: make(chan struct{}, atOnce)} }

// Bind returns why pods could not be bound. Who waits goes in the order in which they came.
func (b *binder) Bind(client kubernetes.Interface, tasks []*api.TaskInfo) map[api.TaskID]string {
	b.places <- struct{}{}
	defer func() { <-b.places }()
	return cache.NewDefaultBinder(client, nil).Bind(client, tasks)
}
