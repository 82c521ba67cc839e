// SPDX-License-Identifier: Apache-2.0

// Package paddlejob is the controller of PaddleJobs: informers, queue, and the writes to the API server. What is to be done,
// and what a status says, is decided in package lifecycle.
package paddlejob

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
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

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	paddlelisters "github.com/paddle-volcano/paddle-volcano/controller/client/listers/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// Options are what the controller's flags decide about reconciling.
type Options struct {
	// Namespace is the only one watched, all if empty.
	Namespace string
	// Workers is how many PaddleJobs are reconciled at the same time.
	Workers int
	// Resync is how often every PaddleJob is reconciled without a change; 0 is never.
	Resync time.Duration
	// Render is the configuration of package builder.
	Render builder.Config
}

// Controller reconciles PaddleJobs.
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

	// mutated* are objects as they were written last, by namespace and name.
	mutatedJobs         mutationCache[*v1.PaddleJob]
	mutatedVolcanoJobs  mutationCache[*vcbatch.Job]
	mutatedPodGroups    mutationCache[*vcscheduling.PodGroup]
	mutatedEnvironments mutationCache[*corev1.ConfigMap]
	// statusPendingSince is since when the status of a PaddleJob has a change that can wait, by its key.
	statusPendingSince firstSeen
	// deletions are those of the Volcano Jobs of a PaddleJob's key.
	deletions memory[volcano.Deletion]
	// revertedWrites are the writes that admission has undone, by the PaddleJob's key and uid and the kind of write.
	revertedWrites memory[revertedWrite]
	// sentCommands are the latest commands that end or stop a Volcano Job, by the PaddleJob's key and the action: Volcano may execute
	// one when there is another Job of the name already, or another attempt.
	sentCommands memory[volcano.SentCommand]
	// commandSent is since when Volcano has a command, by its name.
	commandSent firstSeen
	// unacknowledged are the commands about a Volcano Job in a state (volcano.JobState) that stays as it is.
	unacknowledged memory[volcano.Commands]
	// The rest is by the uid of a Volcano Job: which failure ended its latest attempt, since when pods are missing, how many workers
	// it is kept at, and what events say about its pods and, by its uid with mounts, about their volumes.
	failures     memory[observed.Failure]
	podsMissing  firstSeen
	workerCaps   memory[observed.WorkerCap]
	listedEvents memory[listedEvent]
	// eventLists limits how often events are listed.
	eventLists flowcontrol.PassiveRateLimiter
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
		eventLists:      flowcontrol.NewTokenBucketPassiveRateLimiter(listsPerSecond, listBurst),
	}
	c.queue = workers.New("paddlejob", "paddleJob", c.measured)
	if err := c.pods.AddIndexers(cache.Indexers{jobIndex: indexPod}); err != nil {
		return nil, fmt.Errorf("indexing pods by PaddleJob: %w", err)
	}
	if err := c.handle(); err != nil {
		return nil, fmt.Errorf("watching for changes: %w", err)
	}
	return c, nil
}

// Watch starts the informers and waits until the caches are filled or the context is done. It is called once, also by a controller that
// does not lead, so that the caches of the next leader are filled.
func (c *Controller) Watch(ctx context.Context) {
	klog.FromContext(ctx).Info("Listing PaddleJobs, Volcano Jobs, PodGroups, queues, pods and ConfigMaps")
	for _, f := range c.sources.all() {
		f.Start(ctx.Done())
	}
	for _, f := range c.sources.all() {
		f.WaitForCacheSync(ctx.Done())
	}
	c.synced.Store(ctx.Err() == nil)
}

// Synced reports whether the caches are filled.
func (c *Controller) Synced() bool { return c.synced.Load() }

// Run works until the context ends, and returns when the last sync has finished.
func (c *Controller) Run(ctx context.Context) {
	klog.FromContext(ctx).Info("Starting workers for PaddleJobs", "workers", c.options.Workers)
	c.queue.Run(ctx, c.options.Workers)
	for _, f := range c.sources.all() {
		f.Shutdown()
	}
}

// measured is sync with metrics.
func (c *Controller) measured(ctx context.Context, key string) (time.Duration, error) {
	start := c.now()
	after, err := c.sync(ctx, key)
	recordSync(err, c.now().Sub(start))
	return after, err
}

// How long changes of a gang's pods are gathered into one sync: they come in bursts, and dozens of them while a gang starts.
const (
	podDebounce = 100 * time.Millisecond
	// countDebounce is of those that only change how many pods there are, are placed, and run.
	countDebounce = time.Second
)

// handle adds the event handlers, which enqueue the PaddleJobs that a change concerns.
func (c *Controller) handle() error {
	s := c.sources
	for _, source := range []struct {
		informer cache.SharedIndexInformer
		changed  func(object metav1.Object, deleted bool)
	}{
		{s.paddle.Batch().V1().PaddleJobs().Informer(), func(object metav1.Object, _ bool) { c.queue.Add(keyOf(object)) }},
		{s.volcano.Batch().V1alpha1().Jobs().Informer(), c.volcanoJobChanged},
		{s.volcano.Scheduling().V1beta1().PodGroups().Informer(), c.childChanged},
		{s.configMaps.Core().V1().ConfigMaps().Informer(), c.childChanged},
		{s.pods.Core().V1().Pods().Informer(), c.podChanged},
		{s.volcano.Scheduling().V1beta1().Queues().Informer(), c.queueOrPriorityChanged},
		{s.cluster.Scheduling().V1().PriorityClasses().Informer(), c.queueOrPriorityChanged},
	} {
		if _, err := source.informer.AddEventHandler(EventHandler(source.changed)); err != nil {
			return err
		}
	}
	return nil
}

// EventHandler calls changed for every event of an informer.
func EventHandler(changed func(metav1.Object, bool)) cache.ResourceEventHandler {
	call := func(object any, deleted bool) {
		if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		if m, ok := object.(metav1.Object); ok {
			changed(m, deleted)
			return
		}
		utilruntime.HandleError(unexpected(object))
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { call(object, false) },
		UpdateFunc: func(_, object any) { call(object, false) },
		DeleteFunc: func(object any) { call(object, true) },
	}
}

func keyOf(object metav1.Object) string { return cache.MetaObjectToName(object).String() }

func (c *Controller) volcanoJobChanged(object metav1.Object, deleted bool) {
	if deleted {
		c.forgetVolcanoJob(string(object.GetUID()))
		c.mutatedVolcanoJobs.forgetDeleted(object)
		now := c.now()
		c.deletions.forgetIf(func(_ string, d volcano.Deletion) bool { return d.Remaining(now) == 0 })
		c.deletions.put(keyOf(object), volcano.Deletion{Job: now})
		c.sentCommands.forgetIf(func(_ string, sent volcano.SentCommand) bool { return now.Sub(sent.At) > 2*volcano.StaleCommandPeriod })
	}
	c.childChanged(object, deleted)
}

// forgetVolcanoJob discards what is recorded of a Volcano Job that was deleted.
func (c *Controller) forgetVolcanoJob(uid string) {
	c.commandSent.forgetIf(func(name string, _ time.Time) bool { return strings.Contains(name, uid) })
	c.unacknowledged.forgetIf(func(state string, _ volcano.Commands) bool { return strings.HasPrefix(state, uid) })
	c.failures.forget(uid)
	c.podsMissing.forget(uid)
	c.workerCaps.forget(uid)
	c.listedEvents.forget(uid)
	c.listedEvents.forget(uid + mounts)
}

// childChanged enqueues the PaddleJob that an object belongs to, and those whose name it or its owner has. It may be in a
// job's place. Without its label it may still be a job's, as a PodGroup is through the Volcano Job of the job's name.
func (c *Controller) childChanged(object metav1.Object, deleted bool) {
	if deleted {
		c.mutatedPodGroups.forgetDeleted(object)
		c.mutatedEnvironments.forgetDeleted(object)
	}
	if key := jobOf(object); key != "" {
		c.queue.Add(key)
	}
	names := []string{object.GetName()}
	if owner := metav1.GetControllerOf(object); owner != nil {
		names = append(names, owner.Name)
	}
	for _, name := range names {
		if _, err := c.jobs.PaddleJobs(object.GetNamespace()).Get(name); err == nil {
			c.queue.Add(cache.NewObjectName(object.GetNamespace(), name).String())
		}
	}
}

func (c *Controller) podChanged(object metav1.Object, deleted bool) {
	pod, ok := object.(*corev1.Pod)
	key := jobOf(object)
	if !ok || key == "" {
		return
	}
	if c.ofLivingJob(pod) {
		noteFailure(&c.failures, pod, deleted)
	}
	if deleted {
		c.deletions.update(key, func(d volcano.Deletion) volcano.Deletion { d.LastPod = c.now(); return d })
	}
	if deleted || pod.DeletionTimestamp != nil {
		c.queue.Add(key) // addresses may have to be withdrawn
		return
	}
	c.queue.AddAfter(key, debounce(pod))
}

// debounce is how long a pod's change may wait for more of them: others wait for its address, and for its end.
func debounce(pod *corev1.Pod) time.Duration {
	starts := pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
	if starts && (pod.Status.PodIP == "" || pod.Status.Phase == corev1.PodRunning) {
		return countDebounce
	}
	return podDebounce
}

// ofLivingJob reports whether a pod's Volcano Job exists. Nothing is recorded of the pods of a deleted one, because nothing would
// remove it.
func (c *Controller) ofLivingJob(pod *corev1.Pod) bool {
	job, err := c.volcanoJobs.Jobs(pod.Namespace).Get(pod.Labels[v1.JobNameLabel])
	return err == nil && metav1.IsControlledBy(pod, job)
}

// queueOrPriorityChanged enqueues the PaddleJobs that may wait for a queue or a priority class.
func (c *Controller) queueOrPriorityChanged(metav1.Object, bool) {
	jobs, err := c.jobs.List(labels.Everything())
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	for _, job := range jobs {
		if observed.Finished(job) {
			continue
		}
		if _, err := c.volcanoJobs.Jobs(job.Namespace).Get(job.Name); err != nil {
			c.queue.Add(keyOf(job))
		}
	}
}
