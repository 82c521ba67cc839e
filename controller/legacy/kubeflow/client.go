// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

// Jobs are Kubeflow's PaddleJobs in the API.
type Jobs interface {
	// ListWatch lists and watches them in a namespace, all if empty.
	ListWatch(namespace string) cache.ListerWatcher
	Get(ctx context.Context, namespace, name string) (*kubeflowv1.PaddleJob, error)
	// UpdateStatus writes the status over the very version that the job has.
	UpdateStatus(ctx context.Context, job *kubeflowv1.PaddleJob) error
	// Delete deletes the very version of the job, and lets the garbage collector delete what belongs to it.
	Delete(ctx context.Context, job *kubeflowv1.PaddleJob) error
}

// NewJobs makes a client for Kubeflow's PaddleJobs.
func NewJobs(config *rest.Config) (Jobs, error) {
	scheme := runtime.NewScheme()
	if err := kubeflowv1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types of %s: %w", kubeflowv1.GroupName, err)
	}
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", ptr.To(kubeflowv1.SchemeGroupVersion)
	config.ContentType = runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", kubeflowv1.GroupName, err)
	}
	return &jobs{client}, nil
}

type jobs struct{ rest rest.Interface }

func (j *jobs) ListWatch(namespace string) cache.ListerWatcher {
	return cache.NewListWatchFromClient(j.rest, kubeflowv1.Resource, namespace, fields.Everything())
}

func (j *jobs) Get(ctx context.Context, namespace, name string) (*kubeflowv1.PaddleJob, error) {
	job := &kubeflowv1.PaddleJob{}
	err := j.rest.Get().Namespace(namespace).Resource(kubeflowv1.Resource).Name(name).Do(ctx).Into(job)
	return job, err
}

func (j *jobs) UpdateStatus(ctx context.Context, job *kubeflowv1.PaddleJob) error {
	return j.rest.Put().Namespace(job.Namespace).Resource(kubeflowv1.Resource).Name(job.Name).SubResource("status").
		VersionedParams(&metav1.UpdateOptions{FieldManager: fieldManager}, metav1.ParameterCodec).
		Body(job).Do(ctx).Error()
}

func (j *jobs) Delete(ctx context.Context, job *kubeflowv1.PaddleJob) error {
	return j.rest.Delete().Namespace(job.Namespace).Resource(kubeflowv1.Resource).Name(job.Name).Body(&metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &job.UID, ResourceVersion: &job.ResourceVersion},
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	}).Do(ctx).Error()
}
