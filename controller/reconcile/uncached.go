// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// readUncached asks the API server for what is needed only before a Volcano Job is made, and what is too much to watch.
func (c *Controller) readUncached(ctx context.Context, v *view.View) error {
	if view.Finished(v.Job) {
		if recorded(v.Job) {
			return nil
		}
		return c.readServices(ctx, v)
	}
	if run := v.Job.Spec.RunPolicy; run != nil && ptr.Deref(run.Suspend, false) && v.Operator.Empty() {
		return nil // nothing is made
	}
	// A cached job may be older than its end, and a finished one must never start again.
	fresh, err := c.clients.Paddle.BatchV1().PaddleJobs(v.Job.Namespace).Get(ctx, v.Job.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the PaddleJob: %w", err)
	}
	if fresh.UID != v.Job.UID {
		return fmt.Errorf("the PaddleJob was replaced: %w", errStale)
	}
	v.Job = fresh
	if err := c.readNamespaceQueue(ctx, v); err != nil {
		return err
	}
	if v.Environment == nil {
		if err := c.readConfigMap(ctx, v); err != nil {
			return err
		}
	}
	if render.Intranet(v.Job, c.options.Render) == v1.Service {
		if err := c.readNameService(ctx, v); err != nil {
			return err
		}
	}
	if !v.Operator.Empty() || slices.Contains(v.Job.Finalizers, keys.OperatorFinalizer) {
		return c.readServices(ctx, v)
	}
	return nil
}

// recorded says whether a finished job's end was written by this controller: paddle-operator wrote no conditions.
func recorded(job *v1.PaddleJob) bool { return len(job.Status.Conditions) > 0 }

// readNamespaceQueue reads the annotation by which Volcano's webhook chooses the queue of PodGroups that name none.
func (c *Controller) readNamespaceQueue(ctx context.Context, v *view.View) error {
	if policy := v.Job.Spec.SchedulingPolicy; policy != nil && policy.Queue != "" {
		return nil // it counts for nothing
	}
	namespace, err := c.clients.Kube.CoreV1().Namespaces().Get(ctx, v.Job.Namespace, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the namespace for its queue: %w", err)
	}
	v.NamespaceQueue = namespace.Annotations[vcscheduling.QueueNameAnnotationKey]
	return nil
}

func (c *Controller) readConfigMap(ctx context.Context, v *view.View) error {
	cm, err := c.clients.Kube.CoreV1().ConfigMaps(v.Job.Namespace).Get(ctx, v.Job.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("reading the ConfigMap of the job's name: %w", err)
	case !metav1.IsControlledBy(cm, v.Job):
		v.Occupied = append(v.Occupied, occupant(v.Job, "ConfigMap", cm))
	case cm.Labels[keys.JobName] != "":
		v.Environment = cm
	default:
		v.Operator.Environment = cm
	}
	return nil
}

// readNameService looks for a Service in the place of the one that gives the pods their names; Volcano would take it
// for its own without a word, and no name would resolve.
func (c *Controller) readNameService(ctx context.Context, v *view.View) error {
	service, err := c.clients.Kube.CoreV1().Services(v.Job.Namespace).Get(ctx, v.Job.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the Service of the job's name: %w", err)
	}
	v.Occupied = append(v.Occupied, occupant(v.Job, "Service", service))
	return nil
}

// readServices finds the Services that paddle-operator gave each pod; it put no label on them.
func (c *Controller) readServices(ctx context.Context, v *view.View) error {
	services, err := c.clients.Kube.CoreV1().Services(v.Job.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing paddle-operator's Services: %w", err)
	}
	for i := range services.Items {
		if metav1.IsControlledBy(&services.Items[i], v.Job) {
			v.Operator.Services = append(v.Operator.Services, &services.Items[i])
		}
	}
	return nil
}
