// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"
	vcinformers "volcano.sh/apis/pkg/client/informers/externalversions"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// seen is how far a round is.
type seen struct {
	Created   int // pods
	Addressed int // pods with an IP
	Running   int // pods whose containers have run
	Complete  int // ConfigMaps of the environment that are written
	Done      int // Volcano Jobs that have completed
	Failed    int // Volcano Jobs that have failed
}

// watcher counts from watches, in a process that is none of those that are measured.
type watcher struct {
	mu      sync.Mutex
	created map[string]bool
	address map[string]bool
	running map[string]bool
	maps    map[string]bool
	phases  map[string]vcbatch.JobPhase
	changed chan struct{}
}

func watch(ctx context.Context, kube kubernetes.Interface, volcano vcclient.Interface) (*watcher, error) {
	w := &watcher{
		created: map[string]bool{}, address: map[string]bool{}, running: map[string]bool{}, maps: map[string]bool{},
		phases: map[string]vcbatch.JobPhase{}, changed: make(chan struct{}, 1),
	}
	core := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace), informers.WithTransform(slim))
	jobs := vcinformers.NewSharedInformerFactoryWithOptions(volcano, 0, vcinformers.WithNamespace(namespace), vcinformers.WithTransform(slim))
	for _, informer := range []cache.SharedIndexInformer{
		core.Core().V1().Pods().Informer(), core.Core().V1().ConfigMaps().Informer(), jobs.Batch().V1alpha1().Jobs().Informer(),
	} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: w.note, UpdateFunc: func(_, object any) { w.note(object) },
		}); err != nil {
			return nil, fmt.Errorf("watch the round: %w", err)
		}
	}
	core.Start(ctx.Done())
	jobs.Start(ctx.Done())
	core.WaitForCacheSync(ctx.Done())
	jobs.WaitForCacheSync(ctx.Done())
	return w, nil
}

// slim keeps the watcher's memory small.
func slim(object any) (any, error) {
	if m, ok := object.(metav1.Object); ok {
		m.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Pod:
		o.Spec, o.Status = corev1.PodSpec{}, corev1.PodStatus{PodIP: o.Status.PodIP, Phase: o.Status.Phase}
	case *vcbatch.Job:
		o.Spec = vcbatch.JobSpec{}
	}
	return object, nil
}

func (w *watcher) note(object any) {
	w.mu.Lock()
	switch o := object.(type) {
	case *corev1.Pod:
		w.created[o.Name] = true
		if o.Status.PodIP != "" {
			w.address[o.Name] = true
		}
		if o.Status.Phase != "" && o.Status.Phase != corev1.PodPending {
			w.running[o.Name] = true
		}
	case *corev1.ConfigMap:
		// Volcano's plugins make some too.
		if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == v1.Kind {
			w.maps[o.Name] = true
		}
	case *vcbatch.Job:
		w.phases[o.Name] = o.Status.State.Phase
	}
	w.mu.Unlock()
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watcher) seen() seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := seen{Created: len(w.created), Addressed: len(w.address), Running: len(w.running), Complete: len(w.maps)}
	for _, phase := range w.phases {
		switch phase {
		case vcbatch.Completed:
			s.Done++
		case vcbatch.Failed, vcbatch.Terminated, vcbatch.Aborted:
			s.Failed++
		}
	}
	return s
}

// until waits for a state, and gives up when nothing has changed for as long as patience.
func (w *watcher) until(ctx context.Context, patience time.Duration, what string, progress func(seen), reached func(seen) bool) error {
	last := w.seen()
	lost := time.NewTimer(patience)
	defer lost.Stop()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		now := w.seen()
		if reached(now) {
			return nil
		}
		if now != last {
			last = now
			lost.Reset(patience)
		}
		select {
		case <-w.changed:
		case <-tick.C:
			progress(now)
		case <-lost.C:
			return fmt.Errorf("wait for %s: nothing has happened for %s; seen so far: %+v", what, patience, now)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; seen so far: %+v", what, ctx.Err(), now)
		}
	}
}
