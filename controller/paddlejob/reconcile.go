// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// errStale requeues a job: a decision rests on something that has changed since.
var errStale = workers.ErrStale

func unexpected(object any) error { return fmt.Errorf("unexpected object %T from a watch", object) }

// sync reconciles one PaddleJob: read, decide, write. It returns when to reconcile again without a change, 0 for never.
func (c *Controller) sync(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, fmt.Errorf("splitting the key %q: %w", key, err)
	}
	ctx = klog.NewContext(ctx, klog.LoggerWithValues(klog.FromContext(ctx), "paddleJob", klog.KRef(namespace, name)))
	obs, err := c.read(ctx, namespace, name, key)
	if err != nil {
		return 0, ignoreNotFound(err)
	}
	if obs == nil {
		c.statusPendingSince.forget(key)
		c.mutatedJobs.forget(key)
		c.revertedWrites.forgetIf(func(write string, _ revertedWrite) bool { return strings.HasPrefix(write, key+" ") })
		return 0, nil
	}
	plan, failed := c.applyPlan(ctx, obs)
	wait, err := c.updateStatus(ctx, key, obs, &plan)
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, ignoreNotFound(err)
	}
	return minNonZero(wait, lifecycle.SettlingFor(obs, c.now()), plan.RequeueAfter), nil
}

// maxPasses is how often one sync decides. More than three are never needed, unless other programs write as fast.
const maxPasses = 5

// applyPlan decides and acts; once the Volcano Job is made, what follows from it is done in the same sync.
func (c *Controller) applyPlan(ctx context.Context, obs *observed.State) (plan lifecycle.Plan, err error) {
	for range maxPasses {
		plan = lifecycle.Decide(obs, c.options.Render)
		before := obs.VolcanoJob
		for _, action := range plan.Actions {
			err := c.execute(ctx, obs, action)
			var refused *rejection
			if errors.As(err, &refused) {
				plan.Stalled = &builder.Cause{Reason: refused.reason, Message: refused.Error()}
			}
			if err != nil {
				return plan, err
			}
		}
		if obs.VolcanoJob == before || obs.VolcanoJob == nil {
			return plan, nil
		}
	}
	return plan, fmt.Errorf("the Volcano Job was written in %d passes, and has to be written again: %w", maxPasses, errStale)
}

// updateStatus writes the status if it has changed, and emits the events of the change. It returns when to reconcile
// again if the change can wait.
func (c *Controller) updateStatus(ctx context.Context, key string, obs *observed.State, plan *lifecycle.Plan) (time.Duration, error) {
	before := &obs.Job.Status
	after := lifecycle.Next(obs, plan, c.now())
	if equality.Semantic.DeepEqual(before, after) {
		c.statusPendingSince.forget(key)
		return 0, nil
	}
	if delay := lifecycle.Delay(obs, after); delay > 0 {
		if waited, _ := c.statusPendingSince.since(key, c.now()); waited < delay {
			return delay - waited, nil
		}
	}
	changed := obs.Job.DeepCopy()
	changed.Status = *after
	written, err := c.clients.Paddle.BatchV1().PaddleJobs(changed.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err):
		return 0, fmt.Errorf("writing the status: %w", errStale)
	case err != nil:
		return 0, fmt.Errorf("writing the status: %w", err)
	}
	c.statusPendingSince.forget(key)
	c.mutatedJobs.put(key, mutation[*v1.PaddleJob]{written, obs.Job.ResourceVersion, c.now()})
	if before.Phase != after.Phase {
		klog.FromContext(ctx).Info("PaddleJob changed its phase", "from", before.Phase, "to", after.Phase)
	}
	recordStatus(obs.Job, before, after)
	for _, event := range lifecycle.Events(before, after, plan.Warnings) {
		c.recorder.Event(obs.Job, event.Type, event.Reason, event.Message)
	}
	return 0, nil
}

// ignoreNotFound ignores that an object no longer exists, which the watch reports too.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// minNonZero is the shortest of the waits that are not 0.
func minNonZero(waits ...time.Duration) time.Duration {
	var least time.Duration
	for _, wait := range waits {
		if wait > 0 && (least == 0 || wait < least) {
			least = wait
		}
	}
	return least
}
