// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// failures remembers which pod ended an attempt of a gang: Volcano deletes it within milliseconds, and the user wants to
// know. A controller that was restarted meanwhile does without.
type failures struct {
	mu sync.Mutex
	// latest are by Volcano Job. The failure of a pod that had been told to end is the cause only if no other is.
	latest map[types.UID]observed.Failure
}

func newFailures() *failures { return &failures{latest: map[types.UID]observed.Failure{}} }

// of is the failure seen last under a Volcano Job, nil if none was.
func (f *failures) of(volcanoJob types.UID) *observed.Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	if failure, ok := f.latest[volcanoJob]; ok {
		return &failure
	}
	return nil
}

func (f *failures) forget(volcanoJob types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.latest, volcanoJob)
}

// see notes a pod that failed, or that was evicted or deleted by somebody other than Volcano; the first of an attempt stays,
// but for a lost node, which shows late.
func (f *failures) see(pod *corev1.Pod, deleted bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "Job" {
		return
	}
	failure := observed.Failure{ByVolcano: pod.Annotations[v1.OutOfSyncAnnotation] != ""}
	since, disrupted := observed.Disruption(pod)
	lost := disrupted && since.IsZero()
	switch {
	case disrupted && !failure.ByVolcano:
		failure.Reason, failure.Message = observed.ReasonPodEvicted, eviction(pod)
	case pod.Status.Phase == corev1.PodFailed:
		failure.Reason, failure.Message = observed.ReasonPodFailed, observed.TerminationMessage(pod)
	case deleted && pod.Status.Phase != corev1.PodSucceeded && !failure.ByVolcano:
		failure.Reason, failure.Message = observed.ReasonPodEvicted, eviction(pod)
	default:
		return
	}
	attempt, ok := observed.Attempt(pod)
	if !ok {
		return
	}
	failure.Attempt = attempt
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.latest[owner.UID]; !ok || known.Attempt < failure.Attempt || known.Attempt == failure.Attempt && (known.ByVolcano && !failure.ByVolcano || lost) {
		f.latest[owner.UID] = failure
	}
}

func eviction(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return pod.Name + " was evicted: " + c.Reason + " " + c.Message
		}
	}
	return pod.Name + " was deleted or evicted"
}
