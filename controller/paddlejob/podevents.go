// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/klog/v2"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// Volcano reports only in an event that the API server refuses a Job's pods. Those of one Job are listed when its
// pods are late, and when Volcano has given it up. The rate of lists is limited for all jobs together, because a busy Volcano is late with
// the pods of many, and the API server reads a namespace's events for each list.
const (
	// refusedFor is how old an event may be, because an old one explains nothing: Volcano gives up within 3 minutes, and its last
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

// listedEvent is what the newest event said that was read, "" if none was found.
type listedEvent struct {
	text   string
	listed time.Time
}

// shouldListEvents reports whether the events of a key are to be listed now, and notes that they are.
func (c *Controller) shouldListEvents(key string, now time.Time) bool {
	known, ok := c.listedEvents.get(key)
	if ok && now.Sub(known.listed) < lifecycle.EventsPeriod || !c.eventLists.TryAccept() {
		return false
	}
	c.listedEvents.put(key, listedEvent{text: known.text, listed: now})
	return true
}

// eventText is what the events of a key said when they were listed last.
func (c *Controller) eventText(key string) string {
	known, _ := c.listedEvents.get(key)
	return known.text
}

// workerCap is the number of workers that a job is kept at, nil if it is not, or not any more.
func (c *Controller) workerCap(uid string, now time.Time) *observed.WorkerCap {
	limit, ok := c.workerCaps.get(uid)
	if !ok || !limit.Until.After(now) {
		c.workerCaps.forget(uid)
		return nil
	}
	return &limit
}

// observeMissingPods records since when pods are missing that Volcano is to create, and why the API server refuses them.
func (c *Controller) observeMissingPods(ctx context.Context, obs *observed.State) {
	uid := string(obs.VolcanoJob.UID)
	obs.WorkerCap = c.workerCap(uid, obs.Now)
	podsMissing := obs.PodsMissing()
	if !podsMissing && !obs.WorkersMissing() {
		c.podsMissing.forget(uid)
		if obs.Phase() == vcbatch.Terminated && !observed.Finished(obs.Job) { // its end is not recorded yet
			obs.PodCreateError = c.podCreateError(ctx, obs.VolcanoJob, lifecycle.EventsAfter)
		} else {
			c.listedEvents.forget(uid)
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

// podCreateError returns the API server's answer about the pods that Volcano could not create, empty if it is not known. An error
// of the list is logged only, because the job does not depend on it.
func (c *Controller) podCreateError(ctx context.Context, job *vcbatch.Job, missingFor time.Duration) string {
	uid := string(job.UID)
	if missingFor < lifecycle.PodEventsAfter || !c.shouldListEvents(uid, c.now()) {
		return c.eventText(uid)
	}
	text, err := c.lastEvent(ctx, job, podsNotMade, volcano.PodCreateError)
	switch {
	case err == nil && text != "": // else the last text stays: Volcano seldom repeats it
		c.listedEvents.put(uid, listedEvent{text: text, listed: c.now()})
	case missingFor < lifecycle.EventsAfter:
		c.listedEvents.forget(uid) // Volcano may not have said it yet
	}
	return c.eventText(uid)
}

// mounts follows the uid of a Volcano Job in the key of what the kubelet says of its pods' volumes.
const mounts = "/mounts"

// observeMounts reads the kubelet's message about a pod's volumes, which is not in the pod's status.
func (c *Controller) observeMounts(ctx context.Context, obs *observed.State) {
	key, pod := string(obs.VolcanoJob.UID)+mounts, obs.Mounting()
	if pod == nil {
		c.listedEvents.forget(key)
		return
	}
	if obs.PlacedFor() >= lifecycle.EventsAfter && c.shouldListEvents(key, c.now()) {
		text, err := c.lastEvent(ctx, pod, failedMount, func(message string) (string, bool) { return message, true })
		if err == nil {
			c.listedEvents.put(key, listedEvent{text: text, listed: c.now()})
		}
	}
	obs.FailedMount = c.eventText(key)
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
