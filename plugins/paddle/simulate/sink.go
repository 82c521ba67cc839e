// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	nodeshard "volcano.sh/apis/pkg/apis/shard/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
)

// sink is where bindings, evictions and statuses end that a scheduler would send to the API server. The cache knows
// bindings and evictions before any sink does, so only PodGroups are kept.
type sink struct {
	mu     sync.Mutex
	groups map[string]*api.PodGroup
}

var (
	_ cache.Binder        = &sink{}
	_ cache.Evictor       = &sink{}
	_ cache.StatusUpdater = &sink{}
)

// Bind implements cache.Binder.
func (*sink) Bind(kubernetes.Interface, []*api.TaskInfo) map[api.TaskID]string { return nil }

// Evict implements cache.Evictor.
func (*sink) Evict(*corev1.Pod, string) error { return nil }

// UpdatePodGroup implements cache.StatusUpdater.
func (s *sink) UpdatePodGroup(group *api.PodGroup) (*api.PodGroup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[group.Namespace+"/"+group.Name] = group
	return group, nil
}

// UpdatePodStatus implements cache.StatusUpdater.
func (*sink) UpdatePodStatus(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }

// UpdateQueueStatus implements cache.StatusUpdater.
func (*sink) UpdateQueueStatus(*api.QueueInfo) error { return nil }

// UpdateNodeShardStatus implements cache.StatusUpdater.
func (*sink) UpdateNodeShardStatus(shard *nodeshard.NodeShard) (*nodeshard.NodeShard, error) {
	return shard, nil
}

// take returns the PodGroups that were written since, by key.
func (s *sink) take() []*api.PodGroup {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := make([]*api.PodGroup, 0, len(s.groups))
	for _, key := range slices.Sorted(maps.Keys(s.groups)) {
		taken = append(taken, s.groups[key])
	}
	clear(s.groups)
	return taken
}
