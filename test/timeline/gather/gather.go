// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	vcinformers "volcano.sh/apis/pkg/client/informers/externalversions"

	paddleinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/timeline"
)

// Line is one line of a container's log.
type Line struct {
	Pod, Role, Container string
	// UID is the pod's, which one that takes its place does not have.
	UID types.UID
	// At is the time that the container runtime gave it.
	At   time.Time
	Text string
}

// Gatherer collects what becomes of one job.
type Gatherer struct {
	plane          *live.Plane
	namespace, job string
	hear           func(Line)
	// before is what the scheduler had planned when the job was not there yet.
	before plans

	stopWatching, stopReading context.CancelFunc
	watching, reading         sync.WaitGroup

	mu   sync.Mutex
	seen timeline.Stamps
	pods map[types.UID]*notes
	// byName says that peers are looked up by their names.
	byName bool
}

// Begin watches a job that is yet to be created, a PaddleJob or a Volcano Job. It tells hear each line of its pods' logs, one
// after the other for a container, if hear is not nil. The caller ends it.
func Begin(ctx context.Context, p *live.Plane, namespace, job string, hear func(Line)) (*Gatherer, error) {
	g := &Gatherer{plane: p, namespace: namespace, job: job, hear: hear, before: planned(ctx, p), pods: map[types.UID]*notes{}}
	g.seen.Job = job
	watching, stopWatching := context.WithCancel(ctx)
	reading, stopReading := context.WithCancel(ctx)
	g.stopWatching, g.stopReading = stopWatching, stopReading
	factory := informers.NewSharedInformerFactoryWithOptions(p.Kube, 0, informers.WithNamespace(namespace))
	kube := factory.Core().V1()
	volcano := vcinformers.NewSharedInformerFactoryWithOptions(p.Volcano, 0, vcinformers.WithNamespace(namespace))
	paddle := paddleinformers.NewSharedInformerFactoryWithOptions(p.Paddle, 0, paddleinformers.WithNamespace(namespace))
	see := func(object any) { g.see(reading, time.Now(), object) }
	for what, informer := range map[string]cache.SharedIndexInformer{
		"pods": kube.Pods().Informer(), "events": kube.Events().Informer(), "ConfigMaps": kube.ConfigMaps().Informer(),
		"Volcano Jobs": volcano.Batch().V1alpha1().Jobs().Informer(), "PodGroups": volcano.Scheduling().V1beta1().PodGroups().Informer(),
		"EndpointSlices": factory.Discovery().V1().EndpointSlices().Informer(), "PaddleJobs": paddle.Batch().V1().PaddleJobs().Informer(),
	} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, fresh any) { see(fresh) }, DeleteFunc: see}); err != nil {
			g.End()
			return nil, fmt.Errorf("watch %s: %w", what, err)
		}
		g.watching.Add(1)
		go func() {
			defer g.watching.Done()
			informer.RunWithContext(watching)
		}()
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			g.End()
			return nil, fmt.Errorf("watch %s: %w", what, context.Cause(ctx))
		}
	}
	return g, nil
}

// patience is how long the end of logs is waited for once the job has ended.
const patience = 5 * time.Second

// End stops watching, and reads the logs of containers that have ended to their ends.
func (g *Gatherer) End() {
	g.stopWatching()
	g.watching.Wait()
	over := time.AfterFunc(patience, g.stopReading) // for containers that go on
	g.reading.Wait()
	over.Stop()
	g.stopReading()
}

// Stamps are what was seen so far.
func (g *Gatherer) Stamps(ctx context.Context) timeline.Stamps {
	now := planned(ctx, g.plane)
	g.mu.Lock()
	defer g.mu.Unlock()
	stamps := g.seen
	if stamps.Created.IsZero() {
		stamps.Created = stamps.VolcanoJob // nobody made it for another
	}
	// Where more gangs than one were planned nobody can tell whose plan took how long.
	if now.count-g.before.count == 1 {
		stamps.Plan = time.Duration((now.seconds - g.before.seconds) * float64(time.Second))
	}
	for _, n := range g.pods {
		if n.ours {
			stamps.Pods = append(stamps.Pods, n.stamped(g.byName))
		}
	}
	return stamps
}

// Draw writes what was seen so far as an SVG, and returns it.
func (g *Gatherer) Draw(ctx context.Context, path string) (timeline.Stamps, error) {
	stamps := g.Stamps(ctx)
	if err := os.WriteFile(path, stamps.SVG(), 0o644); err != nil { //nolint:gosec // it is to be looked at
		return stamps, fmt.Errorf("write the timeline: %w", err)
	}
	return stamps, nil
}

// plans are how many plans the scheduler has made, and how long all took.
type plans struct{ count, seconds float64 }

// planned asks the scheduler. One without our plugin, or one that does not answer, has made none.
func planned(ctx context.Context, p *live.Plane) plans {
	const metric = "volcano_paddle_plan_duration_seconds"
	values, err := p.Metrics(ctx, sandbox.Scheduler)
	if err != nil {
		return plans{}
	}
	return plans{count: values[metric+"_count"], seconds: values[metric+"_sum"]}
}
