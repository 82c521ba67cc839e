// SPDX-License-Identifier: Apache-2.0

// Package kubeflow runs Kubeflow's PaddleJobs (kubeflow.org/v1): it keeps one PaddleJob of batch.paddlepaddle.org/v1 for
// each, of the same name and owned by it, and writes from that one's status the status in Kubeflow's form. How a job is
// rendered, scheduled and ended is decided in one place for both.
//
// The conversion (convert.go), the decisions (reconcile.go) and the status (status.go) are pure; controller.go watches and writes.
package kubeflow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	batchinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions/batch/v1"
	kubeflowinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

const (
	// fieldManager is the name under which this controller's fields are owned.
	fieldManager = "paddlejob-controller-kubeflow"
	// discoveryPeriod is how often discovery checks whether the API server serves the kind.
	discoveryPeriod = 5 * time.Second
)

// Controller keeps a PaddleJob for each job of Kubeflow's.
type Controller struct {
	clients  paddlejob.Clients
	options  paddlejob.Options
	recorder record.EventRecorder
	queue    *workers.Queue
	now      func() time.Time
	// jobs holds Kubeflow's, made the PaddleJobs that were created for them.
	jobs, made cache.SharedIndexInformer
}

// New builds a controller that has not started to watch.
func New(clients paddlejob.Clients, recorder record.EventRecorder, options paddlejob.Options) (*Controller, error) {
	c := &Controller{clients: clients, options: options, recorder: recorder, now: time.Now}
	c.jobs = kubeflowinformers.NewPaddleJobInformer(clients.Paddle, options.Namespace, options.Resync, cache.Indexers{})
	c.made = batchinformers.NewFilteredPaddleJobInformer(clients.Paddle, options.Namespace, options.Resync, cache.Indexers{},
		func(o *metav1.ListOptions) { o.LabelSelector = kubeflowv1.JobNameLabel })
	c.queue = workers.New("kubeflow", "kubeflowJob", c.sync)
	for _, informer := range []cache.SharedIndexInformer{c.jobs, c.made} { // both have the same name
		if _, err := informer.AddEventHandler(paddlejob.EventHandler(func(object metav1.Object, _ bool) {
			c.queue.Add(cache.MetaObjectToName(object).String())
		})); err != nil {
			return nil, fmt.Errorf("watching for changes: %w", err)
		}
	}
	return c, nil
}

// Watch waits until the API server serves the kind, and keeps the caches filled until the context is done. It is called once, also by a
// controller that does not lead.
func (c *Controller) Watch(ctx context.Context) {
	logger, api := klog.FromContext(ctx), c.clients.Kube.Discovery()
	if !served(api) {
		logger.Info("The API server does not serve Kubeflow's PaddleJob yet: waiting for its CRD, Kubeflow's own or deploy/v1/kubeflow-crd.yaml")
		if err := wait.PollUntilContextCancel(ctx, discoveryPeriod, false, func(context.Context) (bool, error) { return served(api), nil }); err != nil {
			return
		}
	}
	logger.Info("Listing Kubeflow's PaddleJobs")
	go c.made.RunWithContext(ctx)
	c.jobs.RunWithContext(ctx)
}

// served reports whether the API server serves Kubeflow's PaddleJob; its group has other kinds.
func served(api discovery.DiscoveryInterface) bool {
	is, err := discovery.IsResourceEnabled(api, kubeflowv1.SchemeGroupVersion.WithResource(kubeflowv1.ResourcePaddleJobs))
	return err == nil && is
}

// Run works until the context ends, and returns when the last sync has finished.
func (c *Controller) Run(ctx context.Context) {
	if cache.WaitForCacheSync(ctx.Done(), c.jobs.HasSynced, c.made.HasSynced) {
		c.queue.Run(ctx, c.options.Workers)
	}
}

// sync reconciles one job: read, decide, write. It returns when to reconcile again without a change, 0 for never.
func (c *Controller) sync(ctx context.Context, key string) (time.Duration, error) {
	object, _, err := c.jobs.GetIndexer().GetByKey(key)
	job, ok := object.(*kubeflowv1.PaddleJob)
	if err != nil || !ok {
		return 0, err
	}
	v := &State{Now: c.now(), Job: job}
	if object, _, err = c.made.GetIndexer().GetByKey(key); err != nil {
		return 0, err
	}
	v.Named, _ = object.(*batchv1.PaddleJob)
	ctx = klog.NewContext(ctx, klog.LoggerWithValues(klog.FromContext(ctx), "kubeflowJob", klog.KObj(job)))
	etcd := c.options.Render.ElasticEtcd != ""
	plan := Decide(v, etcd)
	var failed error
	if plan.Create != nil {
		if failed = c.readUncached(ctx, v); v.Job == nil {
			return 0, nil
		}
		plan = Decide(v, etcd)
	}
	if failed == nil {
		failed = c.act(ctx, v, &plan)
		if workers.Refused(failed) {
			v.Refusal = failed.Error()
			plan = Decide(v, etcd)
		}
	}
	if plan.Delete {
		return 0, failed
	}
	return plan.RequeueAfter, cmp.Or(failed, c.updateStatus(ctx, v, &plan))
}

// readUncached reads what the caches may not have yet before a PaddleJob is created. The job must not have finished, because it must
// never start again. Neither a PaddleJob of its name nor pods of the training operator may exist. The state has no job if that is gone.
func (c *Controller) readUncached(ctx context.Context, v *State) error {
	namespace, name, uid := v.Job.Namespace, v.Job.Name, v.Job.UID
	job, err := c.clients.Paddle.KubeflowV1().PaddleJobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && job.UID != uid {
		v.Job = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the job before its PaddleJob is made: %w", err)
	}
	v.Job = job
	switch named, err := c.clients.Paddle.BatchV1().PaddleJobs(namespace).Get(ctx, name, metav1.GetOptions{}); {
	case err == nil:
		v.Named = named
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("looking for a PaddleJob of the job's name: %w", err)
	}
	pods, err := c.clients.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: kubeflowv1.JobNameLabel + "=" + name})
	if err != nil {
		return fmt.Errorf("looking for pods of Kubeflow's training operator: %w", err)
	}
	for i := range pods.Items {
		if metav1.IsControlledBy(&pods.Items[i], job) { // pods of a PaddleJob belong to a Volcano Job
			v.OperatorPods = append(v.OperatorPods, pods.Items[i].Name)
		}
	}
	slices.Sort(v.OperatorPods)
	return nil
}

func (c *Controller) act(ctx context.Context, v *State, plan *Plan) (err error) {
	paddleJobs := c.clients.Paddle.BatchV1().PaddleJobs(v.Job.Namespace)
	switch {
	case plan.Delete:
		// Exactly the version that was observed; the garbage collector deletes what belongs to it.
		err = c.clients.Paddle.KubeflowV1().PaddleJobs(v.Job.Namespace).Delete(ctx, v.Job.Name, metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: &v.Job.UID, ResourceVersion: &v.Job.ResourceVersion},
			PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
		})
		if err = workers.Stale(err); err != nil {
			return fmt.Errorf("deleting a finished job: %w", err)
		}
		klog.FromContext(ctx).Info("Deleted the job, which had ended", "ttlSecondsAfterFinished", *v.Job.Spec.RunPolicy.TTLSecondsAfterFinished)
	case plan.Create != nil:
		created, err := paddleJobs.Create(ctx, plan.Create, metav1.CreateOptions{FieldManager: fieldManager})
		if err = workers.Stale(err); err != nil {
			return fmt.Errorf("creating the PaddleJob: %w", err)
		}
		klog.FromContext(ctx).Info("Created the PaddleJob", "uid", created.UID)
		v.Named = created
	case plan.Update != nil:
		_, err = paddleJobs.Update(ctx, plan.Update, metav1.UpdateOptions{FieldManager: fieldManager})
		if err = workers.Stale(err); err != nil {
			return fmt.Errorf("updating the PaddleJob: %w", err)
		}
	}
	return nil
}

// updateStatus writes the status if it has changed, and emits the events of the change.
func (c *Controller) updateStatus(ctx context.Context, v *State, plan *Plan) error {
	before, after := &v.Job.Status, Next(v, plan)
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	changed := v.Job.DeepCopy()
	changed.Status = *after
	_, err := c.clients.Paddle.KubeflowV1().PaddleJobs(changed.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{FieldManager: fieldManager})
	if err = workers.Stale(err); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	for _, event := range Events(before, after, plan.Warnings) {
		c.recorder.Event(v.Job, event.Type, event.Reason, event.Message)
	}
	return nil
}
