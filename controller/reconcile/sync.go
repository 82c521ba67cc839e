// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/status"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// errStale sends a job back to the queue: what was decided rests on something that has changed since.
var errStale = workers.ErrStale

func unexpected(object any) error { return fmt.Errorf("unexpected object %T from a watch", object) }

// sync brings one PaddleJob forward: read, decide, write. It returns when to look again without a change, 0 for never.
func (c *Controller) sync(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, fmt.Errorf("splitting the key %q: %w", key, err)
	}
	ctx = klog.NewContext(ctx, klog.LoggerWithValues(klog.FromContext(ctx), "paddleJob", klog.KRef(namespace, name)))
	v, err := c.read(ctx, namespace, name, key)
	if err != nil {
		return 0, gone(err)
	}
	if v == nil {
		c.written(key)
		c.assumedJobs.forget(key)
		c.undone.forgetJob(key)
		return 0, nil
	}
	plan, failed := c.carryOut(ctx, v)
	wait, err := c.report(ctx, key, v, &plan)
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, gone(err)
	}
	return soonest(wait, status.Settling(v, c.now()), plan.LookAgain), nil
}

// mostPasses is how often one sync decides. More than three are never needed, unless others change things as fast.
const mostPasses = 5

// carryOut decides and acts; once the Volcano Job is made, what follows from it is done in the same sync.
func (c *Controller) carryOut(ctx context.Context, v *view.View) (plan policy.Plan, err error) {
	for range mostPasses {
		plan = policy.Decide(v, c.options.Render)
		before := v.VolcanoJob
		for _, action := range plan.Actions {
			err := c.act(ctx, v, action)
			var refused *refusal
			if errors.As(err, &refused) {
				plan.Stalled = &render.Notice{Reason: refused.reason, Message: refused.Error()}
			}
			if err != nil {
				return plan, err
			}
		}
		if v.VolcanoJob == before || v.VolcanoJob == nil {
			return plan, nil
		}
	}
	return plan, fmt.Errorf("the Volcano Job was written in %d passes, and has to be written again: %w", mostPasses, errStale)
}

// report writes the status if it says something new and tells the events that this is worth. It returns when to look
// again if the change can wait.
func (c *Controller) report(ctx context.Context, key string, v *view.View, plan *policy.Plan) (time.Duration, error) {
	before := &v.Job.Status
	after := status.Next(v, plan, c.now())
	if equality.Semantic.DeepEqual(before, after) {
		c.written(key)
		return 0, nil
	}
	if wait := c.writeLater(key, before, after); wait > 0 {
		return wait, nil
	}
	changed := v.Job.DeepCopy()
	changed.Status = *after
	written, err := c.clients.Paddle.BatchV1().PaddleJobs(changed.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err):
		return 0, fmt.Errorf("writing the status: %w", errStale)
	case err != nil:
		return 0, fmt.Errorf("writing the status: %w", err)
	}
	c.written(key)
	c.assumedJobs.put(key, written, v.Job.ResourceVersion)
	if before.Phase != after.Phase {
		klog.FromContext(ctx).Info("PaddleJob changed its phase", "from", before.Phase, "to", after.Phase)
	}
	recordStatus(v.Job, before, after)
	for _, event := range status.Events(before, after, plan.Warnings) {
		c.tell(v.Job, event)
	}
	return 0, nil
}

// writeLater is how much longer a change of the status waits for more of them, 0 if it is to be written now.
func (c *Controller) writeLater(key string, before, after *v1.PaddleJobStatus) time.Duration {
	delay, text := status.Delay(before, after)
	if delay == 0 {
		return 0
	}
	behind, _ := c.unwritten.since(key, c.now())
	if text {
		c.unshown.forget(key)
	} else {
		// A text that has waited for long is no reason to write each step of the counts.
		behind, _ = c.unshown.since(key, c.now())
	}
	if behind < delay {
		return delay - behind
	}
	if text && !c.texts.TryAccept() {
		return max(min(delay, status.TextMost-behind), 0)
	}
	return 0
}

// written notes that the status has all that is known.
func (c *Controller) written(key string) {
	c.unwritten.forget(key)
	c.unshown.forget(key)
}

func (c *Controller) tell(job *v1.PaddleJob, event policy.Event) {
	c.recorder.Event(job, event.Type, event.Reason, event.Message)
}

// gone forgives that an object vanished, which the watch will tell too.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// soonest is the shortest of the waits that are not 0.
func soonest(waits ...time.Duration) time.Duration {
	var least time.Duration
	for _, wait := range waits {
		if wait > 0 && (least == 0 || wait < least) {
			least = wait
		}
	}
	return least
}
