// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// Volcano says in an event, and nowhere else, that the API server refuses a Job's pods. Those of one Job are listed when its
// pods are late, and when Volcano has given it up. All jobs together ask seldom, because a Volcano with much to do is late with
// the pods of many, and the API server has to read a namespace's events to answer.
const (
	// refusedFor is how old an event may be, for an old one explains nothing: Volcano gives up within 3 minutes, and its last
	// tries may be missing, since its recorder sends few events about one object.
	refusedFor     = 5 * time.Minute
	listsPerSecond = 0.2
	listBurst      = 20
	// podsNotMade is the reason of Volcano's event (volcano pkg/controllers/job/constant.go).
	podsNotMade = "FailedCreate"
	// failedMount is the reason of the kubelet's event, which it repeats at least every 2 minutes
	// (kubernetes pkg/kubelet/events/event.go).
	failedMount = "FailedMount"
)

// podCreateErrors remembers what events say, by the uid of the Volcano Job, and for mounts by its uid with mounts.
type podCreateErrors struct {
	mu          sync.Mutex
	known       map[string]listedEvent
	workerCaps  map[string]hold
	listLimiter flowcontrol.PassiveRateLimiter
}

type listedEvent struct {
	text  string
	asked time.Time
}

// capWorkers is a number of workers that is kept to for a while.
type hold struct {
	observed.WorkerCap
	until time.Time
}

func newPodCreateErrors() *podCreateErrors {
	return &podCreateErrors{known: map[string]listedEvent{}, workerCaps: map[string]hold{}, listLimiter: flowcontrol.NewTokenBucketPassiveRateLimiter(listsPerSecond, listBurst)}
}

// shouldListEvents reports whether the events of a Volcano Job are to be listed now, and notes that they are.
func (r *podCreateErrors) shouldListEvents(uid string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.known[uid]
	if ok && now.Sub(known.asked) < lifecycle.EventsPeriod || !r.listLimiter.TryAccept() {
		return false
	}
	r.known[uid] = listedEvent{text: known.text, asked: now}
	return true
}

func (r *podCreateErrors) put(uid, text string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[uid] = listedEvent{text: text, asked: now}
}

func (r *podCreateErrors) of(uid string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[uid].text
}

func (r *podCreateErrors) forget(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, uid)
}

// capWorkers keeps an elastic job at a number of workers.
func (r *podCreateErrors) capWorkers(uid string, limit observed.WorkerCap, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workerCaps[uid] = hold{WorkerCap: limit, until: now.Add(limit.Left)}
}

// workerCap is the number of workers that a job is kept at, nil if it is not, or not any more.
func (r *podCreateErrors) workerCap(uid string, now time.Time) *observed.WorkerCap {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.workerCaps[uid]
	if !ok {
		return nil
	}
	if h.Left = h.until.Sub(now); h.Left <= 0 {
		delete(r.workerCaps, uid)
		return nil
	}
	return &h.WorkerCap
}

// forgetJob forgets all about a Volcano Job that is gone.
func (r *podCreateErrors) forgetJob(uid string) {
	r.forget(uid)
	r.forget(uid + mounts)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.workerCaps, uid)
}

// observeMissingPods tells since when pods are missing that Volcano is to make, and what the API server says of them.
func (c *Controller) observeMissingPods(ctx context.Context, obs *observed.State) {
	uid := string(obs.VolcanoJob.UID)
	obs.WorkerCap = c.podCreateErrors.workerCap(uid, obs.Now)
	podsMissing := obs.PodsMissing()
	if !podsMissing && !obs.WorkersMissing() {
		c.podsMissing.forget(uid)
		if obs.TerminatedByVolcano() {
			obs.PodCreateError = c.podCreateError(ctx, obs.VolcanoJob, lifecycle.EventsAfter)
		} else {
			c.podCreateErrors.forget(uid)
		}
		return
	}
	missingFor, _ := c.podsMissing.since(uid, obs.Now)
	obs.PodCreateError = c.podCreateError(ctx, obs.VolcanoJob, missingFor)
	if since := obs.Now.Add(-missingFor); podsMissing {
		obs.PodsMissingSince = since
	} else {
		obs.WorkersMissingSince = since
	}
}

// podCreateError is what the API server said of the pods that Volcano could not make, empty if that is not known. A question that
// fails is none that a job could do anything about.
func (c *Controller) podCreateError(ctx context.Context, job *vcbatch.Job, missingFor time.Duration) string {
	uid := string(job.UID)
	if missingFor < lifecycle.EventsAfter || !c.podCreateErrors.shouldListEvents(uid, c.now()) {
		return c.podCreateErrors.of(uid)
	}
	text, err := c.lastEvent(ctx, job, podsNotMade, volcano.PodCreateError)
	if err == nil && text != "" { // else what was said holds: Volcano repeats it seldom
		c.podCreateErrors.put(uid, text, c.now())
	}
	return c.podCreateErrors.of(uid)
}

// mounts follows the uid of a Volcano Job in the key of what the kubelet says of its pods' volumes.
const mounts = "/mounts"

// observeMounts tells what the kubelet says of a pod's volumes, of which it says nothing in the pod's status.
func (c *Controller) observeMounts(ctx context.Context, obs *observed.State) {
	key, pod := string(obs.VolcanoJob.UID)+mounts, obs.Mounting()
	if pod == nil {
		c.podCreateErrors.forget(key)
		return
	}
	if obs.PlacedFor() >= lifecycle.EventsAfter && c.podCreateErrors.shouldListEvents(key, c.now()) {
		text, err := c.lastEvent(ctx, pod, failedMount, func(message string) (string, bool) { return message, true })
		if err == nil {
			c.podCreateErrors.put(key, text, c.now())
		}
	}
	obs.FailedMount = c.podCreateErrors.of(key)
}

// lastEvent is the message of the newest event with a reason about an object, of those that read reads; empty if there is none.
func (c *Controller) lastEvent(ctx context.Context, object metav1.Object, reason string, read func(message string) (string, bool)) (string, error) {
	of := fields.Set{"involvedObject.uid": string(object.GetUID()), "reason": reason}
	events, err := c.clients.Kube.CoreV1().Events(object.GetNamespace()).List(ctx, metav1.ListOptions{FieldSelector: of.String()})
	if err != nil {
		klog.FromContext(ctx).Info("Events could not be listed, so that the condition lacks a reason", "object", klog.KObj(object), "reason", reason, "err", err)
		return "", err
	}
	text, last := "", c.now().Add(-refusedFor)
	for i := range events.Items {
		e := &events.Items[i]
		if sentence, ok := read(e.Message); ok && !e.LastTimestamp.Time.Before(last) {
			text, last = sentence, e.LastTimestamp.Time
		}
	}
	return text, nil
}
