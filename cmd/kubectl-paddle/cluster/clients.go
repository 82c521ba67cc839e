// SPDX-License-Identifier: Apache-2.0

// Package cluster reads what belongs to PaddleJobs, as far as the user has permission, and writes PaddleJobs. It prints nothing.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// Scheme has the kinds that are read or written.
var Scheme = runtime.NewScheme()

// Options encodes the options of requests.
var Options = runtime.NewParameterCodec(Scheme)

// Manager is the name under which the API server records what is written.
const Manager = "kubectl-paddle"

func init() {
	kinds := runtime.NewSchemeBuilder(corev1.AddToScheme, appsv1.AddToScheme, schedulingv1.AddToScheme, v1.AddToScheme, vcbatch.AddToScheme,
		vcscheduling.AddToScheme, topologyv1alpha1.AddToScheme)
	utilruntime.Must(kinds.AddToScheme(Scheme))
}

// Clients is a REST client for the kinds of Scheme. A generated clientset would put the types of all groups of Kubernetes into the
// program, and double its size.
type Clients struct {
	// Namespace is the user's.
	Namespace string
	rest      rest.Interface
}

// Connect returns the client of an API server.
func Connect(config *rest.Config, namespace string) (*Clients, error) {
	own := rest.CopyConfig(config)
	own.GroupVersion, own.NegotiatedSerializer = &corev1.SchemeGroupVersion, serializer.NewCodecFactory(Scheme).WithoutConversion()
	own.QPS, own.Burst = 50, 300 // as kubectl
	client, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for %s: %w", own.GroupVersion, err)
	}
	return &Clients{Namespace: namespace, rest: client}, nil
}

// Request begins a request about objects of the kind of an object or list: those of a namespace, or all if it is empty.
func (c *Clients) Request(verb string, object runtime.Object, namespace string) *rest.Request {
	found, _, err := Scheme.ObjectKinds(object)
	utilruntime.Must(err)
	gv := found[0].GroupVersion()
	api := "/apis"
	if gv.Group == "" {
		api = "/api"
	}
	plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(strings.TrimSuffix(found[0].Kind, "List")))
	return c.rest.Verb(verb).AbsPath(api, gv.String()).NamespaceIfScoped(namespace, namespace != "").Resource(plural.Resource)
}

// object is a pointer to an object or a list.
type object[T any] interface {
	*T
	runtime.Object
}

// List lists the objects of a kind: those of a namespace, or all if it is empty.
func List[L any, P object[L]](ctx context.Context, c *Clients, namespace string, which metav1.ListOptions) (*L, error) {
	found := P(new(L))
	return found, c.Request(http.MethodGet, found, namespace).VersionedParams(&which, Options).Do(ctx).Into(found)
}

// Get gets an object of a namespace, or one without a namespace if it is empty.
func Get[T any, P object[T]](ctx context.Context, c *Clients, namespace, name string) (*T, error) {
	found := P(new(T))
	return found, c.Request(http.MethodGet, found, namespace).Name(name).Do(ctx).Into(found)
}

// Create creates a job. The API server refuses unknown fields.
func (c *Clients) Create(ctx context.Context, job *v1.PaddleJob, dryRun ...string) (*v1.PaddleJob, error) {
	how, created := &metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict, FieldManager: Manager}, &v1.PaddleJob{}
	return created, c.Request(http.MethodPost, job, job.Namespace).Body(job).VersionedParams(how, Options).Do(ctx).Into(created)
}

// Delete deletes a job, but no other one of its name.
func (c *Clients) Delete(ctx context.Context, job *v1.PaddleJob) error {
	how := &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(job.UID))}
	return c.Request(http.MethodDelete, job, job.Namespace).Name(job.Name).Body(how).Do(ctx).Error()
}

// raw gets what is at a path of the API server, nil if there is nothing.
func (c *Clients) raw(ctx context.Context, path string) ([]byte, error) {
	data, err := c.rest.Get().AbsPath(path).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return data, err
}

// bestEffortReader skips what the user has no permission to read.
type bestEffortReader struct {
	// skip records what is skipped; nil makes it an error.
	skip func(what, why string)
	err  error
}

// noPermission is why objects are skipped.
const noPermission = "you have no permission to read them"

// collectUnreadable returns a reader that adds what it skips to a list.
func collectUnreadable(unread *[]string) *bestEffortReader {
	return &bestEffortReader{skip: func(what, why string) { *unread = append(*unread, what+" ("+why+")") }}
}

// read reports whether something was read. That an object or its kind does not exist is no error.
func (r *bestEffortReader) read(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case apierrors.IsNotFound(err):
	case isForbidden(err) && r.skip != nil:
		r.skip(what, noPermission)
	default:
		r.err = errors.Join(r.err, fmt.Errorf("read %s: %w", what, err))
	}
	return false
}

// readAll reads the objects of a kind: those of a namespace, or all if it is empty.
func readAll[L, T any, P object[L]](ctx context.Context, c *Clients, namespace string, r *bestEffortReader, what string, into *[]*T) {
	list, err := List[L, P](ctx, c, namespace, metav1.ListOptions{})
	if r.read(what, err) {
		*into = itemsOf[T](P(list))
	}
}

// everywhere reads the objects of a kind in all namespaces, or else in the user's own. It reports whether these are all.
func everywhere[L, T any, P object[L]](ctx context.Context, c *Clients, r *bestEffortReader, what string, into *[]*T) (complete bool) {
	list, err := List[L, P](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if complete = err == nil; !complete && isForbidden(err) {
		if list, err = List[L, P](ctx, c, c.Namespace, metav1.ListOptions{}); err == nil {
			r.skip(what+" of other namespaces", noPermission)
		}
	}
	if r.read(what, err) {
		*into = itemsOf[T](P(list))
	}
	return complete
}

// itemsOf returns the items of a list.
func itemsOf[T any](list runtime.Object) (items []*T) {
	utilruntime.Must(meta.EachListItem(list, func(item runtime.Object) error {
		if one, ok := any(item).(*T); ok {
			items = append(items, one)
		}
		return nil
	}))
	return items
}

func isForbidden(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }
