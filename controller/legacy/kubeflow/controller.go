// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	paddleinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// Clients are the API clients that the controller uses.
type Clients struct {
	Jobs   Jobs
	Paddle paddleclient.Interface
	Kube   kubernetes.Interface
}

// Options are what the controller's flags decide about jobs of Kubeflow's.
type Options struct {
	// Namespace is the only one watched, all if empty.
	Namespace string
	// Workers is how many jobs are worked on at the same time.
	Workers int
	// Resync is how often every job is looked at again without a change; 0 is never.
	Resync time.Duration
	// Etcd says that elastic workers have one to meet in.
	Etcd bool
}

// Controller keeps a PaddleJob for each job of Kubeflow's.
type Controller struct {
	clients  Clients
	options  Options
	recorder record.EventRecorder
	queue    *workers.Queue
	now      func() time.Time
	// jobs holds Kubeflow's, made the PaddleJobs that were made for them.
	jobs, made cache.SharedIndexInformer
	factory    paddleinformers.SharedInformerFactory
	// ready is closed once the caches are filled.
	ready chan struct{}
}

// New builds a controller that has not started to watch.
func New(clients Clients, recorder record.EventRecorder, options Options) (*Controller, error) {
	c := &Controller{
		clients: clients, options: options, recorder: recorder, now: time.Now, ready: make(chan struct{}),
		jobs: cache.NewSharedIndexInformer(clients.Jobs.ListWatch(options.Namespace), &kubeflowv1.PaddleJob{}, options.Resync, cache.Indexers{}),
		factory: paddleinformers.NewSharedInformerFactoryWithOptions(clients.Paddle, options.Resync,
			paddleinformers.WithNamespace(options.Namespace), paddleinformers.WithTransform(slim),
			paddleinformers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = kubeflowv1.JobNameLabel })),
	}
	c.queue = workers.New("kubeflow", "kubeflowJob", c.sync)
	c.made = c.factory.Batch().V1().PaddleJobs().Informer()
	if err := c.jobs.SetTransform(slim); err != nil {
		return nil, fmt.Errorf("watching jobs of Kubeflow's: %w", err)
	}
	// Both have the same name.
	for _, informer := range []cache.SharedIndexInformer{c.jobs, c.made} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    c.enqueue,
			UpdateFunc: func(_, object any) { c.enqueue(object) },
			DeleteFunc: c.enqueue,
		}); err != nil {
			return nil, fmt.Errorf("watching for changes: %w", err)
		}
	}
	return c, nil
}

// slim drops what is never read.
func slim(object any) (any, error) {
	if m, ok := object.(metav1.Object); ok {
		m.SetManagedFields(nil)
	}
	return object, nil
}

func (c *Controller) enqueue(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	c.queue.Add(key)
}

// Watch waits until the API server knows the kind, and fills the caches. It is called once, also by a controller that
// does not lead, and returns when the caches are filled or the context has ended.
func (c *Controller) Watch(ctx context.Context) {
	if awaitServed(ctx, c.clients.Kube.Discovery(), lookForCRD) != nil {
		return
	}
	klog.FromContext(ctx).Info("Listing Kubeflow's PaddleJobs")
	go c.jobs.RunWithContext(ctx)
	c.factory.Start(ctx.Done())
	if cache.WaitForCacheSync(ctx.Done(), c.jobs.HasSynced, c.made.HasSynced) {
		close(c.ready)
	}
}

// Run works until the context ends, and returns when the last sync has ended.
func (c *Controller) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-c.ready:
	}
	klog.FromContext(ctx).Info("Working on Kubeflow's PaddleJobs", "workers", c.options.Workers)
	c.queue.Run(ctx, c.options.Workers)
}
