// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
)

// Kind is what has happened to a job.
type Kind string

// Kinds of changes.
const (
	Added   Kind = "added"
	Changed Kind = "changed"
	Deleted Kind = "deleted"
)

// Change is what has happened to which job, as it was seen last.
type Change struct {
	Kind Kind
	Job  *v1.PaddleJob
}

// Watch sees jobs as they change.
type Watch struct {
	informer cache.SharedIndexInformer
	mu       sync.Mutex
	trouble  string
}

// NewWatch is for the jobs of a namespace, or of all, with some labels.
func NewWatch(client paddleclient.Interface, namespace, selector string) *Watch {
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithNamespace(namespace),
		externalversions.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector }))
	return &Watch{informer: factory.Batch().V1().PaddleJobs().Informer()}
}

// Run calls a function for each change, one after the other, until outer is over, or the function or the API server forbids
// to go on.
func (w *Watch) Run(outer context.Context, seen func(Change) error) error {
	ctx, stop := context.WithCancelCause(outer)
	defer stop(nil)
	tell := func(kind Kind, object any) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		job, ok := object.(*v1.PaddleJob)
		if !ok || ctx.Err() != nil {
			return
		}
		w.setTrouble("")
		if err := seen(Change{kind, job}); err != nil {
			stop(err)
		}
	}
	_, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell(Added, object) },
		UpdateFunc: func(_, object any) { tell(Changed, object) },
		DeleteFunc: func(object any) { tell(Deleted, object) },
	})
	if err != nil {
		return err
	}
	err = w.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if noRight(err) {
			stop(err)
		}
		w.setTrouble(err.Error())
	})
	if err != nil {
		return err
	}
	w.informer.RunWithContext(ctx)
	if outer.Err() != nil {
		return nil // the user has seen enough
	}
	return context.Cause(ctx)
}

// Jobs are those that there are.
func (w *Watch) Jobs() (jobs []v1.PaddleJob) {
	for _, object := range w.informer.GetStore().List() {
		if job, ok := object.(*v1.PaddleJob); ok {
			jobs = append(jobs, *job)
		}
	}
	return jobs
}

// Trouble is why the jobs may not be up to date, empty if they are.
func (w *Watch) Trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

func (w *Watch) setTrouble(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = text
}
