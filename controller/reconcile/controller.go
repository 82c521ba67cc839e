// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	corelisters "k8s.io/client-go/listers/core/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	vcbatchlisters "volcano.sh/apis/pkg/client/listers/batch/v1alpha1"
	vcschedulinglisters "volcano.sh/apis/pkg/client/listers/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	paddlelisters "github.com/paddle-volcano/paddle-volcano/controller/client/listers/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

// Options are what the controller's flags decide about reconciling.
type Options struct {
	// Namespace is the only one watched, all if empty.
	Namespace string
	// Workers is how many PaddleJobs are worked on at the same time.
	Workers int
	// Resync is how often every PaddleJob is looked at again without a change; 0 is never.
	Resync time.Duration
	// Render is handed to package render.
	Render render.Config
}

// Backoff of what failed.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Minute
)

// Controller makes what PaddleJobs ask for.
type Controller struct {
	clients  Clients
	options  Options
	sources  *sources
	recorder record.EventRecorder
	queue    workqueue.TypedRateLimitingInterface[string]
	now      func() time.Time
	synced   atomic.Bool

	jobs            paddlelisters.PaddleJobLister
	volcanoJobs     vcbatchlisters.JobLister
	podGroups       vcschedulinglisters.PodGroupLister
	queues          vcschedulinglisters.QueueLister
	priorityClasses schedulinglisters.PriorityClassLister
	configMaps      corelisters.ConfigMapLister
	pods            cache.Indexer

	census              *census
	failures            *failures
	departures          *departures
	assumedJobs         *assumed[*v1.PaddleJob]
	assumedVolcanoJobs  *assumed[*vcbatch.Job]
	assumedPodGroups    *assumed[*vcscheduling.PodGroup]
	assumedEnvironments *assumed[*corev1.ConfigMap]
	// unwritten is since when a status has a change that can wait.
	unwritten *stamps
	// commanded is since when Volcano has a command.
	commanded *stamps
}

// New builds a controller that has not started to watch.
func New(clients Clients, recorder record.EventRecorder, options Options) (*Controller, error) {
	s := newSources(clients, options.Namespace, options.Resync)
	c := &Controller{
		clients: clients, options: options, sources: s, recorder: recorder, now: time.Now,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "paddlejob"}),

		jobs:            s.paddle.Batch().V1().PaddleJobs().Lister(),
		volcanoJobs:     s.volcano.Batch().V1alpha1().Jobs().Lister(),
		podGroups:       s.volcano.Scheduling().V1beta1().PodGroups().Lister(),
		queues:          s.volcano.Scheduling().V1beta1().Queues().Lister(),
		priorityClasses: s.cluster.Scheduling().V1().PriorityClasses().Lister(),
		configMaps:      s.configMaps.Core().V1().ConfigMaps().Lister(),
		pods:            s.pods.Core().V1().Pods().Informer().GetIndexer(),
		census:          newCensus(),
		failures:        newFailures(),
		departures:      newDepartures(),
		unwritten:       newStamps(),
		commanded:       newStamps(),
	}
	c.assumedJobs = newAssumed[*v1.PaddleJob](c.clock)
	c.assumedVolcanoJobs = newAssumed[*vcbatch.Job](c.clock)
	c.assumedPodGroups = newAssumed[*vcscheduling.PodGroup](c.clock)
	c.assumedEnvironments = newAssumed[*corev1.ConfigMap](c.clock)
	if err := c.pods.AddIndexers(cache.Indexers{jobIndex: indexPod}); err != nil {
		return nil, fmt.Errorf("indexing pods by PaddleJob: %w", err)
	}
	if err := c.handle(); err != nil {
		return nil, fmt.Errorf("watching for changes: %w", err)
	}
	return c, nil
}

func (c *Controller) clock() time.Time { return c.now() }

// Watch starts the informers and waits until the caches are filled. It is called once, also by a controller that does
// not lead, so that the next leader starts warm.
func (c *Controller) Watch(ctx context.Context) error {
	klog.FromContext(ctx).Info("Listing PaddleJobs, Volcano Jobs, PodGroups, queues, pods and ConfigMaps")
	if err := c.sources.start(ctx); err != nil {
		return err
	}
	c.synced.Store(true)
	return nil
}

// Synced says whether the caches are filled.
func (c *Controller) Synced() bool { return c.synced.Load() }

// Run works until the context ends, and returns when the last sync has ended.
func (c *Controller) Run(ctx context.Context) {
	defer utilruntime.HandleCrash()
	klog.FromContext(ctx).Info("Working on PaddleJobs", "workers", c.options.Workers)
	var workers sync.WaitGroup
	for range c.options.Workers {
		workers.Add(1)
		go func() {
			defer workers.Done()
			wait.UntilWithContext(ctx, func(ctx context.Context) {
				for c.next(ctx) {
				}
			}, time.Second)
		}()
	}
	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
	c.sources.shutdown()
}

func (c *Controller) next(ctx context.Context) bool {
	key, quit := c.queue.Get()
	if quit {
		return false
	}
	defer c.queue.Done(key)
	start := c.now()
	again, err := c.sync(ctx, key)
	recordSync(err, c.now().Sub(start))
	switch {
	case err == nil:
		c.queue.Forget(key)
		if again > 0 {
			c.queue.AddAfter(key, again)
		}
	case errors.Is(err, errStale):
		klog.FromContext(ctx).V(3).Info("Looking again, something changed meanwhile", "paddleJob", key, "reason", err)
		c.queue.AddRateLimited(key)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Working on a PaddleJob failed and is tried again", "paddleJob", key)
		c.queue.AddRateLimited(key)
	}
	return true
}
