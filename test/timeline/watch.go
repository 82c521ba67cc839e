// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	vcinformers "volcano.sh/apis/pkg/client/informers/externalversions"

	paddleinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// Line is one line of a container's log.
type Line struct {
	Pod, Role, Container string
	// UID is the pod's; a pod that replaces it has another.
	UID types.UID
	// At is the time that the container runtime gave it.
	At   time.Time
	Text string
}

// Watch collects the stamps of one job.
type Watch struct {
	plane          *live.Plane
	namespace, job string
	onLine         func(Line)

	stopWatching, stopReading context.CancelFunc
	watching, reading         sync.WaitGroup

	mu   sync.Mutex
	seen Stamps
	pods map[types.UID]*notes
	// byName says that peers are looked up by their names.
	byName bool
}

// Begin watches a job that is yet to be created, a PaddleJob or a Volcano Job. It calls onLine, unless that is nil, for each
// line of the logs of its pods, in order for each container. The caller calls End.
func Begin(ctx context.Context, p *live.Plane, namespace, job string, onLine func(Line)) (*Watch, error) {
	w := &Watch{plane: p, namespace: namespace, job: job, onLine: onLine, pods: map[types.UID]*notes{}}
	watching, stopWatching := context.WithCancel(ctx)
	reading, stopReading := context.WithCancel(ctx)
	w.stopWatching, w.stopReading = stopWatching, stopReading
	factory := informers.NewSharedInformerFactoryWithOptions(p.Kube, 0, informers.WithNamespace(namespace))
	kube := factory.Core().V1()
	volcano := vcinformers.NewSharedInformerFactoryWithOptions(p.Volcano, 0, vcinformers.WithNamespace(namespace))
	paddle := paddleinformers.NewSharedInformerFactoryWithOptions(p.Paddle, 0, paddleinformers.WithNamespace(namespace))
	see := func(object any) { w.see(reading, time.Now(), object) }
	for what, informer := range map[string]cache.SharedIndexInformer{
		"pods": kube.Pods().Informer(), "ConfigMaps": kube.ConfigMaps().Informer(),
		"Volcano Jobs": volcano.Batch().V1alpha1().Jobs().Informer(), "PodGroups": volcano.Scheduling().V1beta1().PodGroups().Informer(),
		"EndpointSlices": factory.Discovery().V1().EndpointSlices().Informer(), "PaddleJobs": paddle.Batch().V1().PaddleJobs().Informer(),
	} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, fresh any) { see(fresh) }, DeleteFunc: see}); err != nil {
			w.End()
			return nil, fmt.Errorf("watch %s: %w", what, err)
		}
		w.watching.Add(1)
		go func() {
			defer w.watching.Done()
			informer.RunWithContext(watching)
		}()
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			w.End()
			return nil, fmt.Errorf("watch %s: %w", what, context.Cause(ctx))
		}
	}
	return w, nil
}

// patience is how long the end of logs is waited for once the job has ended.
const patience = 5 * time.Second

// End stops watching, and reads the logs of containers that have ended to their ends.
func (w *Watch) End() {
	w.stopWatching()
	w.watching.Wait()
	over := time.AfterFunc(patience, w.stopReading) // for containers that go on
	w.reading.Wait()
	over.Stop()
	w.stopReading()
}

// Stamps returns what was seen so far.
func (w *Watch) Stamps() Stamps {
	w.mu.Lock()
	defer w.mu.Unlock()
	stamps := w.seen
	if stamps.Created.IsZero() {
		stamps.Created = stamps.VolcanoJob // nobody made it for another
	}
	for _, n := range w.pods {
		if n.ours {
			stamps.Pods = append(stamps.Pods, n.stamped(w.byName))
		}
	}
	return stamps
}
