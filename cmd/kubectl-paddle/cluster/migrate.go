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
	if found.API, found.CurrentAPI, err = c.api(ctx); err != nil {
		return nil, fmt.Errorf("read the CRD of PaddleJobs: %w", err)
	}
	volcano, err := c.raw(ctx, "/apis/batch.volcano.sh/v1alpha1")
	if err != nil {
		return nil, fmt.Errorf("look for Volcano: %w", err)
	}
	found.Volcano = volcano != nil
	return found, nil
}

// api reports whether the cluster has the CRD of PaddleJobs, and whether that is the controller's.
func (c *Clients) api(ctx context.Context) (known, current bool, err error) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/paddlejobs.batch.paddlepaddle.org"
	data, err := c.raw(ctx, path)
	return data != nil, bytes.Contains(data, []byte(`"runPolicy":`)), err // a field that paddle-operator's does not have
}

// Views returns the jobs of the namespace, or of all if it is empty, as the controller would first see them. What the user may not read
// is an error, because it must not be taken for missing.
func (c *Clients) Views(ctx context.Context) (views []*observed.State, err error) {
	var (
		r        = &bestEffortReader{}
		jobs     []*v1.PaddleJob
		pods     []*corev1.Pod
		services []*corev1.Service
		queues   []*vcscheduling.Queue // without Volcano there are none
		classes  []*schedulingv1.PriorityClass
	)
	readAll[v1.PaddleJobList](ctx, c, c.Namespace, r, "PaddleJobs", &jobs)
	readAll[corev1.PodList](ctx, c, c.Namespace, r, "pods", &pods)
	readAll[corev1.ServiceList](ctx, c, c.Namespace, r, "Services", &services)
	readAll[vcscheduling.QueueList](ctx, c, "", r, "queues", &queues)
	readAll[schedulingv1.PriorityClassList](ctx, c, "", r, "PriorityClasses", &classes)
	podsOf, servicesOf := byController(pods), byController(services)
	for _, job := range jobs {
		v := &observed.State{Now: time.Now(), Job: job, Operator: observed.Operator{Pods: podsOf[job.UID], Services: servicesOf[job.UID]}}
		v.Queue = func(name string) *vcscheduling.Queue { return named(queues, name) }
		v.PriorityClassExists = func(name string) bool { return named(classes, name) != nil }
		observed.SortPods(v.Operator.Pods)
		if views = append(views, v); r.err == nil {
			c.readNamesakes(ctx, r, v)
		}
	}
	return views, r.err
}

// byController returns objects by the uid of their controller.
func byController[T metav1.Object](all []T) map[types.UID][]T {
	by := map[types.UID][]T{}
	for _, one := range all {
		if owner := metav1.GetControllerOf(one); owner != nil {
			by[owner.UID] = append(by[owner.UID], one)
		}
	}
	return by
}

// named returns the object of a name, nil if there is none.
func named[T metav1.Object](all []T, name string) (none T) {
	for _, one := range all {
		if one.GetName() == name {
			return one
		}
	}
	return none
}

// readNamesakes reads the objects that have the name of the job.
func (c *Clients) readNamesakes(ctx context.Context, r *bestEffortReader, v *observed.State) {
	namespace, name := v.Job.Namespace, v.Job.Name
	what := " " + namespace + "/" + name
	job, err := Get[vcbatch.Job](ctx, c, namespace, name)
	if r.read("Volcano Job"+what, err) && metav1.IsControlledBy(job, v.Job) {
		v.VolcanoJob = job
	}
	switch group, err := Get[vcscheduling.PodGroup](ctx, c, namespace, name); {
	case !r.read("PodGroup"+what, err):
	case metav1.IsControlledBy(group, v.Job):
		v.Operator.PodGroup = group
	case metav1.GetControllerOf(group) == nil:
		v.UserPodGroup = group
	}
	environment, err := Get[corev1.ConfigMap](ctx, c, namespace, name)
	if r.read("ConfigMap"+what, err) && metav1.IsControlledBy(environment, v.Job) && environment.Labels[v1.JobNameLabel] == "" {
		v.Operator.Environment = environment
	}
}
