// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	nodeshard "volcano.sh/apis/pkg/apis/shard/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// binder counts bindings; the cache knows where they went.
type binder struct{ count atomic.Int64 }

// Bind implements cache.Binder.
func (b *binder) Bind(_ kubernetes.Interface, tasks []*api.TaskInfo) map[api.TaskID]string {
	b.count.Add(int64(len(tasks)))
	return nil
}

// evictor counts evictions.
type evictor struct{ count atomic.Int64 }

// Evict implements cache.Evictor.
func (e *evictor) Evict(*corev1.Pod, string) error {
	e.count.Add(1)
	return nil
}

// writer keeps what the scheduler writes to PodGroups, until it is taken, and drops the rest.
type writer struct {
	mu     sync.Mutex
	groups map[string]*api.PodGroup
}

// UpdatePodGroup implements cache.StatusUpdater.
func (w *writer) UpdatePodGroup(group *api.PodGroup) (*api.PodGroup, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.groups[group.Name] = group
	return group, nil
}

// UpdatePodStatus implements cache.StatusUpdater.
func (*writer) UpdatePodStatus(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }

// UpdateQueueStatus implements cache.StatusUpdater.
func (*writer) UpdateQueueStatus(*api.QueueInfo) error { return nil }

// UpdateNodeShardStatus implements cache.StatusUpdater.
func (*writer) UpdateNodeShardStatus(shard *nodeshard.NodeShard) (*nodeshard.NodeShard, error) {
	return shard, nil
}

// take gives the PodGroups that were written since, by name.
func (w *writer) take() []*api.PodGroup {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := make([]*api.PodGroup, 0, len(w.groups))
	for _, name := range slices.Sorted(maps.Keys(w.groups)) {
		taken = append(taken, w.groups[name])
	}
	clear(w.groups)
	return taken
}

// forgetEvents keeps the client without a server behind it from storing the events that the plugin sends.
func forgetEvents(client kubernetes.Interface) {
	if made, ok := client.(*fake.Clientset); ok {
		made.PrependReactor("*", "events", func(testing.Action) (bool, runtime.Object, error) { return true, &corev1.Event{}, nil })
	}
}

// forgetActions lets that client forget what it was asked for.
func forgetActions(client kubernetes.Interface) {
	if made, ok := client.(*fake.Clientset); ok {
		made.ClearActions()
	}
}
