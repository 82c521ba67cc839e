// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
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
	paddle := paddleinformers.NewSharedInformerFactoryWithOptions(p.Paddle, 0, paddleinformers.WithNamespace(namespace))
	see := func(object any) { w.see(reading, time.Now(), object) }
	for what, informer := range map[string]cache.SharedIndexInformer{
		"pods": kube.Pods().Informer(), "ConfigMaps": kube.ConfigMaps().Informer(),
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
	for _, n := range w.pods {
		if n.ours {
			stamps.Pods = append(stamps.Pods, n.stamped(w.byName))
		}
	}
	return stamps
}

// see records what is new about an object, and begins to read the logs of containers that have started.
func (w *Watch) see(ctx context.Context, at time.Time, object any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch o := object.(type) {
	case *paddlev1.PaddleJob:
		if o.Name == w.job {
			w.byName = o.Spec.Intranet == paddlev1.Service
		}
	case *corev1.ConfigMap:
		// Volcano's plugins make some too.
		if owner := metav1.GetControllerOf(o); o.Name == w.job && owner != nil && owner.Kind == paddlev1.Kind {
			note(&w.seen.Environment, at)
		}
	case *discoveryv1.EndpointSlice:
		// It is what DNS reads of a headless service.
		for i := range o.Endpoints {
			if e := &o.Endpoints[i]; e.TargetRef != nil && ptr.Deref(e.Conditions.Ready, true) {
				note(&w.pod(e.TargetRef.UID).pod.Named, at)
			}
		}
	case *corev1.Pod:
		if o.Labels[vcbatch.JobNameKey] == w.job {
			n := w.pod(o.UID)
			n.see(at, o)
			w.readStarted(ctx, n, o)
		}
	}
}

func (w *Watch) pod(uid types.UID) *notes {
	n := w.pods[uid]
	if n == nil {
		n = &notes{containers: map[string]*container{}, read: map[string]bool{}}
		w.pods[uid] = n
	}
	return n
}

// notes are what was seen of one pod, or of one that only an EndpointSlice named.
type notes struct {
	ours bool
	pod  Pod
	// main is the first container's name.
	main       string
	containers map[string]*container
	// read are the containers, by their ids, whose logs are.
	read map[string]bool
}

// container is one of a pod's.
type container struct {
	Run
	// finished is when it ended at the earliest: the kubelet leaves fractions of a second out.
	finished time.Time
}

func (n *notes) run(name string) *container {
	if n.containers[name] == nil {
		n.containers[name] = &container{}
	}
	return n.containers[name]
}

// whole is its run, also where it logged its last line long before its end.
func (c *container) whole() Run {
	run := c.Run
	if c.finished.After(run.Ended) {
		run.Ended = c.finished
	}
	return run
}

func (n *notes) see(at time.Time, pod *corev1.Pod) {
	n.ours, n.main = true, pod.Spec.Containers[0].Name
	n.pod.Name, n.pod.Role = pod.Name, pod.Labels[vcbatch.TaskSpecKey]
	note(&n.pod.Created, at)
	if pod.Status.PodIP != "" {
		note(&n.pod.Addressed, at)
	}
	for _, status := range started(pod) {
		note(&n.run(status.Name).Started, at)
		// Its last line, if it logged one, came before the kubelet knew of its end.
		if run, end := n.run(status.Name), status.State.Terminated; end != nil {
			run.finished = end.FinishedAt.Time
			if run.Ended.IsZero() {
				run.Ended = at
			}
		}
	}
}

// barrier is the init container that the controller puts first.
const barrier = "paddle-barrier"

func (n *notes) stamped(byName bool) Pod {
	pod := n.pod
	if !byName {
		pod.Named = time.Time{}
	}
	if run := n.containers[barrier]; run != nil {
		pod.Barrier = run.whole()
	}
	if run := n.containers[n.main]; run != nil {
		pod.Main = run.whole()
	}
	return pod
}

// started are the containers of a pod that have begun.
func started(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.DeleteFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.State.Running == nil && s.State.Terminated == nil
	})
}

func (w *Watch) readStarted(ctx context.Context, n *notes, pod *corev1.Pod) {
	for _, status := range started(pod) {
		if n.read[status.ContainerID] || ctx.Err() != nil {
			continue
		}
		n.read[status.ContainerID] = true
		from := Line{Pod: pod.Name, UID: pod.UID, Role: n.pod.Role, Container: status.Name}
		w.reading.Add(1)
		go func() {
			defer w.reading.Done()
			w.read(ctx, n, from)
		}()
	}
}

// read reads a container's log, as `kubectl logs --follow --timestamps` does. A container that is gone before has none.
func (w *Watch) read(ctx context.Context, n *notes, from Line) {
	_ = w.plane.Until(ctx, "the log of "+from.Pod, func(ctx context.Context) error {
		stream, err := w.plane.Kube.CoreV1().Pods(w.namespace).GetLogs(from.Pod, &corev1.PodLogOptions{
			Container: from.Container, Follow: true, Timestamps: true,
		}).Stream(ctx)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		defer stream.Close() //nolint:errcheck // it was only read
		for lines := bufio.NewScanner(stream); lines.Scan(); {
			w.addLine(n, from, lines.Text())
		}
		return nil
	})
}

// addLine records what follows from a line that begins with its time.
func (w *Watch) addLine(n *notes, from Line, text string) {
	stamp, text, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return // a message of the kubelet
	}
	w.mu.Lock()
	run := n.run(from.Container)
	note(&run.Started, at)
	if from.Container == barrier {
		run.Ended = at // it logs when it starts and when it ends
	}
	w.mu.Unlock()
	if w.onLine != nil {
		from.At, from.Text = at, text
		w.onLine(from)
	}
}
