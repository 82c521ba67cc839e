// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Volcano says in an event, and nowhere else, that the API server refuses a Job's pods. Those of one Job are listed when its
// pods are late, and when Volcano has given it up. All jobs together ask seldom, because a Volcano with much to do is late with
// the pods of many, and the API server has to read a namespace's events to answer.
const (
	// refusedFor is how old an event may be, for an old one explains nothing: Volcano gives up within 3 minutes, and its last
	// tries may be missing, since its recorder sends few events about one object.
	refusedFor         = 5 * time.Minute
	questionsPerSecond = 0.2
	questionsAtOnce    = 20
	// podsNotMade is the reason of Volcano's event (volcano pkg/controllers/job/constant.go).
	podsNotMade = "FailedCreate"
	// failedMount is the reason of the kubelet's event, which it repeats at least every 2 minutes
	// (kubernetes pkg/kubelet/events/event.go).
	failedMount = "FailedMount"
)

// refusals remembers what events say, by the uid of the Volcano Job, and for mounts by its uid with mounts.
type refusals struct {
	mu        sync.Mutex
	known     map[string]answer
	holds     map[string]hold
	questions flowcontrol.PassiveRateLimiter
}

type answer struct {
	text  string
	asked time.Time
}

// hold is a number of workers that is kept to for a while.
type hold struct {
	view.Held
	until time.Time
}

func newRefusals() *refusals {
	return &refusals{known: map[string]answer{}, holds: map[string]hold{}, questions: flowcontrol.NewTokenBucketPassiveRateLimiter(questionsPerSecond, questionsAtOnce)}
}

// ask says whether the events of a Volcano Job are to be listed now, and notes that they are.
func (r *refusals) ask(uid string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.known[uid]
	if ok && now.Sub(known.asked) < policy.EventsPeriod || !r.questions.TryAccept() {
		return false
	}
	r.known[uid] = answer{text: known.text, asked: now}
	return true
}

func (r *refusals) put(uid, text string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[uid] = answer{text: text, asked: now}
}

func (r *refusals) of(uid string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[uid].text
}

func (r *refusals) forget(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, uid)
}

// hold keeps an elastic job at a number of workers.
func (r *refusals) hold(uid string, held view.Held, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds[uid] = hold{Held: held, until: now.Add(held.Left)}
}

// held is the number of workers that a job is kept at, nil if it is not, or not any more.
func (r *refusals) held(uid string, now time.Time) *view.Held {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.holds[uid]
	if !ok {
		return nil
	}
	if h.Left = h.until.Sub(now); h.Left <= 0 {
		delete(r.holds, uid)
		return nil
	}
	return &h.Held
}

// forgetJob forgets all about a Volcano Job that is gone.
func (r *refusals) forgetJob(uid string) {
	r.forget(uid)
	r.forget(uid + mounts)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.holds, uid)
}

// readMissing tells since when pods are missing that Volcano is to make, and what the API server says of them.
func (c *Controller) readMissing(ctx context.Context, v *view.View) {
	uid := string(v.VolcanoJob.UID)
	v.Held = c.refusals.held(uid, v.Now)
	unmade := v.Unmade()
	if !unmade && !v.Short() {
		c.unmade.forget(uid)
		if v.GivenUp() {
			v.Refused = c.refused(ctx, v.VolcanoJob, policy.EventsAfter)
		} else {
			c.refusals.forget(uid)
		}
		return
	}
	missingFor, _ := c.unmade.since(uid, v.Now)
	v.Refused = c.refused(ctx, v.VolcanoJob, missingFor)
	if since := v.Now.Add(-missingFor); unmade {
		v.UnmadeSince = since
	} else {
		v.ShortSince = since
	}
}

// refused is what the API server said of the pods that Volcano could not make, empty if that is not known. A question that
// fails is none that a job could do anything about.
func (c *Controller) refused(ctx context.Context, job *vcbatch.Job, missingFor time.Duration) string {
	uid := string(job.UID)
	if missingFor < policy.EventsAfter || !c.refusals.ask(uid, c.now()) {
		return c.refusals.of(uid)
	}
	text, err := c.lastEvent(ctx, job, podsNotMade, view.RefusalOfPods)
	if err == nil && text != "" { // else what was said holds: Volcano repeats it seldom
		c.refusals.put(uid, text, c.now())
	}
	return c.refusals.of(uid)
}

// mounts follows the uid of a Volcano Job in the key of what the kubelet says of its pods' volumes.
const mounts = "/mounts"

// readMounts tells what the kubelet says of a pod's volumes, of which it says nothing in the pod's status.
func (c *Controller) readMounts(ctx context.Context, v *view.View) {
	key, pod := string(v.VolcanoJob.UID)+mounts, v.Mounting()
	if pod == nil {
		c.refusals.forget(key)
		return
	}
	if v.PlacedFor() >= policy.EventsAfter && c.refusals.ask(key, c.now()) {
		text, err := c.lastEvent(ctx, pod, failedMount, func(message string) (string, bool) { return message, true })
		if err == nil {
			c.refusals.put(key, text, c.now())
		}
	}
	v.FailedMount = c.refusals.of(key)
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
		if said, ok := read(e.Message); ok && !e.LastTimestamp.Time.Before(last) {
			text, last = said, e.LastTimestamp.Time
		}
	}
	return text, nil
}
