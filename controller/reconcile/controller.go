// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	vcbatchlisters "volcano.sh/apis/pkg/client/listers/batch/v1alpha1"
	vcschedulinglisters "volcano.sh/apis/pkg/client/listers/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	paddlelisters "github.com/paddle-volcano/paddle-volcano/controller/client/listers/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
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

// A thousand jobs that wait together must not have each change of their texts written: the API server has better to do then.
const (
	textsPerSecond = 0.25
	textsAtOnce    = 50
)

// Controller makes what PaddleJobs ask for.
type Controller struct {
	clients  Clients
	options  Options
	sources  *sources
	recorder record.EventRecorder
	queue    *workers.Queue
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
	// unshown is since when it has one that kubectl get shows.
	unshown *stamps
	// texts are the status writes that all jobs together have for what kubectl get does not show.
	texts flowcontrol.PassiveRateLimiter
	// commanded is since when Volcano has a command.
	commanded *stamps
	// unheeded is for how long Volcano reads commands about a Volcano Job in a state (policy.StateOf) that stays as it is.
	unheeded *streaks
	// pace is how Volcano lately ended jobs.
	pace *pace
	// unmade is since when pods of a Volcano Job are missing, by its uid.
	unmade *stamps
	// refusals is why they are, where the API server refuses them.
	refusals *refusals
	// undone are the writes that admission has undone.
	undone *undone
}

// New builds a controller that has not started to watch.
func New(clients Clients, recorder record.EventRecorder, options Options) (*Controller, error) {
	s := newSources(clients, options.Namespace, options.Resync)
	c := &Controller{
		clients: clients, options: options, sources: s, recorder: recorder, now: time.Now,
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
		unshown:         newStamps(),
		texts:           flowcontrol.NewTokenBucketPassiveRateLimiter(textsPerSecond, textsAtOnce),
		commanded:       newStamps(),
		unheeded:        newStreaks(),
		pace:            &pace{},
		unmade:          newStamps(),
		refusals:        newRefusals(),
		undone:          newUndone(),
	}
	c.queue = workers.New("paddlejob", "paddleJob", c.measured)
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
	klog.FromContext(ctx).Info("Working on PaddleJobs", "workers", c.options.Workers)
	c.queue.Run(ctx, c.options.Workers)
	c.sources.shutdown()
}

// measured is sync with metrics.
func (c *Controller) measured(ctx context.Context, key string) (time.Duration, error) {
	start := c.now()
	again, err := c.sync(ctx, key)
	recordSync(err, c.now().Sub(start))
	return again, err
}
