// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Migration reads which parts of paddle-operator and of this project a cluster has.
func (c *Clients) Migration(ctx context.Context) (*migrate.Cluster, error) {
	found := &migrate.Cluster{}
	deployments, err := List[appsv1.DeploymentList](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("look for paddle-operator: %w", err)
	}
	for i := range deployments.Items {
		found.Sort(&deployments.Items[i])
	}
	if found.API, found.OurAPI, err = c.api(ctx); err != nil {
		return nil, err
	}
	_, err = c.raw(ctx, "/apis/batch.volcano.sh/v1alpha1")
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("look for Volcano: %w", err)
	}
	found.Volcano = err == nil
	return found, nil
}

// api reports whether the cluster has the CRD of PaddleJobs, and whether that is the controller's.
func (c *Clients) api(ctx context.Context) (known, current bool, err error) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/paddlejobs.batch.paddlepaddle.org"
	data, err := c.raw(ctx, path)
	if apierrors.IsNotFound(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read the CRD of PaddleJobs: %w", err)
	}
	return true, bytes.Contains(data, []byte(`"runPolicy":`)), nil // a field that paddle-operator's does not have
}

// Views returns the jobs of the namespace, or of all if it is empty, as the controller would first see them.
func (c *Clients) Views(ctx context.Context) ([]*observed.State, error) {
	all := metav1.ListOptions{}
	jobs, err := List[v1.PaddleJobList](ctx, c, c.Namespace, all)
	if err != nil {
		return nil, fmt.Errorf("list PaddleJobs: %w", err)
	}
	queue, err := c.queues(ctx)
	if err != nil {
		return nil, err
	}
	priority, err := c.priorities(ctx)
	if err != nil {
		return nil, err
	}
	views := make([]*observed.State, 0, len(jobs.Items))
	byUID := map[types.UID]*observed.State{}
	for i := range jobs.Items {
		v := &observed.State{Now: time.Now(), Job: &jobs.Items[i], Queue: queue, Priority: priority}
		views = append(views, v)
		byUID[v.Job.UID] = v
	}
	of := func(object metav1.Object) *observed.State {
		if owner := metav1.GetControllerOf(object); owner != nil && byUID[owner.UID] != nil {
			return byUID[owner.UID]
		}
		return &observed.State{} // of no job
	}
	pods, err := List[corev1.PodList](ctx, c, c.Namespace, all)
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		v := of(&pods.Items[i])
		v.Operator.Pods = append(v.Operator.Pods, &pods.Items[i])
	}
	services, err := List[corev1.ServiceList](ctx, c, c.Namespace, all)
	if err != nil {
		return nil, fmt.Errorf("list Services: %w", err)
	}
	for i := range services.Items {
		v := of(&services.Items[i])
		v.Operator.Services = append(v.Operator.Services, &services.Items[i])
	}
	for _, v := range views {
		if err := c.complete(ctx, v); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// complete reads the objects that have the name of the job.
func (c *Clients) complete(ctx context.Context, v *observed.State) error {
	namespace, name := v.Job.Namespace, v.Job.Name
	switch job, err := Get[vcbatch.Job](ctx, c, namespace, name); {
	case err == nil && metav1.IsControlledBy(job, v.Job):
		v.VolcanoJob = job
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read Volcano Job %s/%s: %w", namespace, name, err)
	}
	switch group, err := Get[vcscheduling.PodGroup](ctx, c, namespace, name); {
	case err == nil && metav1.IsControlledBy(group, v.Job):
		v.Operator.PodGroup = group
	case err == nil && metav1.GetControllerOf(group) == nil:
		v.UserPodGroup = group
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read PodGroup %s/%s: %w", namespace, name, err)
	}
	switch environment, err := Get[corev1.ConfigMap](ctx, c, namespace, name); {
	case err == nil && metav1.IsControlledBy(environment, v.Job) && environment.Labels[v1.JobNameLabel] == "":
		v.Operator.Environment = environment
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read ConfigMap %s/%s: %w", namespace, name, err)
	}
	observed.SortPods(v.Operator.Pods)
	return nil
}

// queues returns a lookup of queues.
func (c *Clients) queues(ctx context.Context) (func(string) *vcscheduling.Queue, error) {
	queues, err := List[vcscheduling.QueueList](ctx, c, "", metav1.ListOptions{})
	if apierrors.IsNotFound(err) { // without Volcano there are none
		queues, err = &vcscheduling.QueueList{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	named := map[string]*vcscheduling.Queue{}
	for i := range queues.Items {
		named[queues.Items[i].Name] = &queues.Items[i]
	}
	return func(name string) *vcscheduling.Queue { return named[name] }, nil
}

// priorities returns a lookup of the values of PriorityClasses.
func (c *Clients) priorities(ctx context.Context) (func(string) (int32, bool), error) {
	classes, err := List[schedulingv1.PriorityClassList](ctx, c, "", metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list PriorityClasses: %w", err)
	}
	return func(name string) (int32, bool) {
		for i := range classes.Items {
			if classes.Items[i].Name == name {
				return classes.Items[i].Value, true
			}
		}
		return 0, false
	}, nil
}
