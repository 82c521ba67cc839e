// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Migration reads which parts of paddle-operator and of this project a cluster has.
func (c *Clients) Migration(ctx context.Context) (*migrate.Cluster, error) {
	found := &migrate.Cluster{}
	deployments, err := c.Kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("look for paddle-operator: %w", err)
	}
	for i := range deployments.Items {
		found.Sort(&deployments.Items[i])
	}
	if found.API, found.OurAPI, err = c.api(ctx); err != nil {
		return nil, err
	}
	_, err = c.Kube.Discovery().ServerResourcesForGroupVersion("batch.volcano.sh/v1alpha1")
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("look for Volcano: %w", err)
	}
	found.Volcano = err == nil
	return found, nil
}

// api reports whether the cluster has the CRD of PaddleJobs, and whether that is the controller's.
func (c *Clients) api(ctx context.Context) (known, current bool, err error) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/paddlejobs.batch.paddlepaddle.org"
	data, err := c.Kube.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read the CRD of PaddleJobs: %w", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(data, &crd); err != nil {
		return false, false, fmt.Errorf("read the CRD of PaddleJobs: %w", err)
	}
	return true, slices.ContainsFunc(crd.Spec.Versions, func(version apiextensionsv1.CustomResourceDefinitionVersion) bool {
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			return false
		}
		_, ok := version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["runPolicy"]
		return ok
	}), nil
}

// Views returns the jobs of a namespace, or of all, as the controller would first see them.
func (c *Clients) Views(ctx context.Context, namespace string) ([]*observed.State, error) {
	all := metav1.ListOptions{}
	jobs, err := c.Paddle.BatchV1().PaddleJobs(namespace).List(ctx, all)
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
	byUID := map[string]*observed.State{}
	for i := range jobs.Items {
		v := &observed.State{Now: time.Now(), Job: &jobs.Items[i], Queue: queue, Priority: priority}
		views = append(views, v)
		byUID[string(v.Job.UID)] = v
	}
	of := func(object metav1.Object) *observed.State {
		if owner := metav1.GetControllerOf(object); owner != nil {
			return byUID[string(owner.UID)]
		}
		return nil
	}
	pods, err := c.Kube.CoreV1().Pods(namespace).List(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		if v := of(&pods.Items[i]); v != nil {
			v.Operator.Pods = append(v.Operator.Pods, &pods.Items[i])
		}
	}
	services, err := c.Kube.CoreV1().Services(namespace).List(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("list Services: %w", err)
	}
	for i := range services.Items {
		if v := of(&services.Items[i]); v != nil {
			v.Operator.Services = append(v.Operator.Services, &services.Items[i])
		}
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
	switch job, err := c.Volcano.BatchV1alpha1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{}); {
	case err == nil && metav1.IsControlledBy(job, v.Job):
		v.VolcanoJob = job
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read Volcano Job %s/%s: %w", namespace, name, err)
	}
	switch group, err := c.Volcano.SchedulingV1beta1().PodGroups(namespace).Get(ctx, name, metav1.GetOptions{}); {
	case err == nil && metav1.IsControlledBy(group, v.Job):
		v.Operator.PodGroup = group
	case err == nil && metav1.GetControllerOf(group) == nil:
		v.UserPodGroup = group
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read PodGroup %s/%s: %w", namespace, name, err)
	}
	switch environment, err := c.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{}); {
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
	list, err := c.Volcano.SchedulingV1beta1().Queues().List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) { // without Volcano there are none
		list, err = &vcscheduling.QueueList{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	named := map[string]*vcscheduling.Queue{}
	for i := range list.Items {
		named[list.Items[i].Name] = &list.Items[i]
	}
	return func(name string) *vcscheduling.Queue { return named[name] }, nil
}

// priorities returns a lookup of the values of PriorityClasses.
func (c *Clients) priorities(ctx context.Context) (func(string) (int32, bool), error) {
	list, err := c.Kube.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list PriorityClasses: %w", err)
	}
	values := map[string]int32{}
	for i := range list.Items {
		values[list.Items[i].Name] = list.Items[i].Value
	}
	return func(name string) (int32, bool) {
		value, ok := values[name]
		return value, ok
	}, nil
}
