// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	schedulingscheme "volcano.sh/apis/pkg/apis/scheduling/scheme"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	nodeshard "volcano.sh/apis/pkg/apis/shard/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/metrics"
)

// Cache is Volcano's, empty and running. Volcano keeps some of its state in variables of its packages, so sessions of one at a
// time may run in a process.
type Cache struct {
	*cache.SchedulerCache
	sink    *sink
	version int
	stop    chan struct{}
}

// startMetrics starts those that the predicates write, once in a process.
var startMetrics = sync.OnceFunc(metrics.InitKubeSchedulerRelatedMetrics)

// NewCache starts the cache of a scheduler of that name. Close stops it.
func NewCache(scheduler string) *Cache {
	startMetrics()
	c := &Cache{sink: &sink{groups: map[string]*api.PodGroup{}}, stop: make(chan struct{})}
	c.SchedulerCache = cache.NewCustomMockSchedulerCache(scheduler, c.sink, c.sink, c.sink, nil, &record.FakeRecorder{})
	// The client without a server behind it would store the events that the plugin sends.
	if client, ok := c.Client().(*fake.Clientset); ok {
		client.PrependReactor("*", "events", func(testing.Action) (bool, runtime.Object, error) { return true, &corev1.Event{}, nil })
	}
	c.Run(c.stop)
	return c
}

// SyncPodGroups updates the cache with the PodGroups that a session wrote, as a watch would, and returns them, in the order of names.
func (c *Cache) SyncPodGroups() ([]*scheduling.PodGroup, error) {
	written := c.sink.take()
	groups := make([]*scheduling.PodGroup, 0, len(written))
	for _, w := range written {
		group := &scheduling.PodGroup{}
		if err := schedulingscheme.Scheme.Convert(&w.PodGroup, group, nil); err != nil {
			return nil, fmt.Errorf("update PodGroup %s/%s in the scheduler's cache: %w", w.Namespace, w.Name, err)
		}
		c.version++
		group.ResourceVersion = "session-" + strconv.Itoa(c.version)
		c.UpdatePodGroupV1beta1(&scheduling.PodGroup{}, group)
		groups = append(groups, group)
	}
	return groups, nil
}

// Empty removes jobs, nodes and HyperNodes; queues stay.
func (c *Cache) Empty() {
	c.Lock()
	defer c.Unlock()
	c.Jobs, c.Nodes, c.NodeList = map[api.JobID]*api.JobInfo{}, map[string]*api.NodeInfo{}, nil
	c.HyperNodesInfo = api.NewHyperNodesInfo(c.SharedInformerFactory().Core().V1().Nodes().Lister())
	c.sink.take()
}

// Close stops the cache. Some of its goroutines cannot be stopped; what they hold is emptied.
func (c *Cache) Close() {
	close(c.stop)
	c.Empty()
}

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
