// SPDX-License-Identifier: Apache-2.0

// Package workers is the loop that each controller runs: keys wait in a queue until a worker has time for them, and what
// failed is tried again later. The controller decides what is done for a key.
package workers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Backoff of what failed.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Minute
)

func backoff() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)
}

// Sync reconciles the object of a key. It returns when to reconcile again without a change, 0 for never.
type Sync func(ctx context.Context, key string) (time.Duration, error)

// Queue holds the keys of objects to work on, each once. It is safe for concurrent use.
type Queue struct {
	keys workqueue.TypedRateLimitingInterface[string]
	kind string
	sync Sync
}

// New makes a queue of the name that its metrics have. Logs call its keys kind.
func New(name, kind string, sync Sync) *Queue {
	return &Queue{kind: kind, sync: sync, keys: workqueue.NewTypedRateLimitingQueueWithConfig(backoff(),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: name})}
}

// Add adds a key, which is synced as soon as a worker is free.
func (q *Queue) Add(key string) { q.keys.Add(key) }

// AddAfter adds a key after a delay.
func (q *Queue) AddAfter(key string, delay time.Duration) { q.keys.AddAfter(key, delay) }

// Run syncs at most the given number of keys at the same time until the context ends, and returns when the last sync has finished.
func (q *Queue) Run(ctx context.Context, workers int) {
	defer utilruntime.HandleCrash()
	var group wait.Group
	for range workers {
		group.Start(func() {
			for q.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	q.keys.ShutDown()
	group.Wait()
}

func (q *Queue) next(ctx context.Context) bool {
	key, quit := q.keys.Get()
	if quit {
		return false
	}
	defer q.keys.Done(key)
	after, err := q.sync(ctx, key)
	switch {
	case err == nil:
		q.keys.Forget(key)
		if after > 0 {
			q.keys.AddAfter(key, after)
		}
		return true
	case errors.Is(err, ErrStale):
		klog.FromContext(ctx).V(3).Info("Requeued, because an object has changed", q.kind, key, "reason", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Work failed and is tried again", q.kind, key)
	}
	q.keys.AddRateLimited(key)
	return true
}

// ErrStale means that a decision rests on something that has changed since; a later sync decides again. It is logged
// as no error.
var ErrStale = errors.New("changed meanwhile")

// Stale marks the error of a write that rests on something that has changed since.
func Stale(err error) error {
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	return err
}

// Refused reports whether an error is an answer of the API server that stays until the user, a quota or a webhook changes
// something. That a namespace is being deleted is none.
func Refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return false
	}
	switch status.Status().Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return true
	}
	return false
}
