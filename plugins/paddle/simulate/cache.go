// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	schedulingscheme "volcano.sh/apis/pkg/apis/scheduling/scheme"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
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

// BringBack puts what a session wrote to PodGroups into the cache, as a watch would, and returns it, in the order of names.
func (c *Cache) BringBack() ([]*scheduling.PodGroup, error) {
	written := c.sink.take()
	groups := make([]*scheduling.PodGroup, 0, len(written))
	for _, w := range written {
		group := &scheduling.PodGroup{}
		if err := schedulingscheme.Scheme.Convert(&w.PodGroup, group, nil); err != nil {
			return nil, fmt.Errorf("bring PodGroup %s/%s back into the scheduler's cache: %w", w.Namespace, w.Name, err)
		}
		c.version++
		group.ResourceVersion = "session-" + strconv.Itoa(c.version)
		c.UpdatePodGroupV1beta1(&scheduling.PodGroup{}, group)
		groups = append(groups, group)
	}
	return groups, nil
}

// Empty takes jobs, nodes and HyperNodes out; queues stay.
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
