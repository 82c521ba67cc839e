// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// differences returns, in sentences, what differs from the expected state once every job has finished.
func differences(jobs []*job, w *world) (broken []string) {
	tell := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	known := map[string]*job{}
	for _, j := range jobs {
		known[j.name] = j
		there := w.jobs[j.name]
		if gone := j.deleted || j.outcome == vanishes && !j.suspended; gone {
			if there != nil {
				tell("%s is there, in phase %s", j, there.Status.Phase)
			}
			delete(known, j.name)
			continue
		}
		if there == nil {
			if j.outcome != vanishes {
				tell("%s is gone", j)
			}
			continue
		}
		for _, problem := range j.differences(there, w) {
			tell("%s is %s: %s", j, there.Status.Phase, problem)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
		if known[name] == nil {
			tell("PaddleJob %s exists, and was not created by the test", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.volcano)) {
		if w.jobs[name] == nil {
			tell("Volcano Job %s is there without a PaddleJob", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.environments)) {
		if w.jobs[name] == nil {
			tell("ConfigMap %s is there without a PaddleJob", name)
		}
	}
	owners := map[types.UID]bool{}
	for _, made := range w.volcano {
		owners[made.UID] = true
	}
	for i := range w.pods {
		if !owners[ownerOf(&w.pods[i])] {
			tell("pod %s is there without its Volcano Job", w.pods[i].Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.lasting)) {
		if !owners[w.lasting[name]] {
			tell("%s is there without its Volcano Job", name)
		}
	}
	for _, name := range w.transient {
		tell("%s is there, and nothing runs", name)
	}
	return broken
}

// differences returns what differs from the expected state of one existing job.
func (j *job) differences(there *v1.PaddleJob, w *world) (broken []string) {
	phase := there.Status.Phase
	if !slices.Contains(j.phases(), phase) {
		return []string{fmt.Sprintf("it should be one of %v", j.phases())}
	}
	made := w.volcano[j.name]
	ended := phase == v1.Completed || phase == v1.Failed
	if !ended {
		if made != nil {
			broken = append(broken, "it has a Volcano Job")
		}
		if w.environments[j.name] {
			broken = append(broken, "it has an environment")
		}
		return broken
	}
	if made == nil {
		if !j.orphaned && !meta.IsStatusConditionFalse(there.Status.Conditions, v1.ConditionCreated) {
			broken = append(broken, "it has no Volcano Job")
		}
		return broken
	}
	pods := w.podsOf(made.UID)
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			broken = append(broken, fmt.Sprintf("pod %s is %s", pod.Name, pod.Status.Phase))
		}
	}
	want := 0
	if !cleaned(j.made.Spec.CleanPodPolicy, phase) {
		for _, role := range []*v1.ResourceStatus{there.Status.PS, there.Status.Worker} {
			if role != nil {
				want += int(role.Succeeded + role.Failed)
			}
		}
	}
	// Volcano deletes what it believes to run, and of a gang that fails, or becomes smaller, a pod may have finished before.
	fewer := want > 0 && (phase == v1.Failed || j.elastic())
	if len(pods) > want || len(pods) < want && !fewer {
		broken = append(broken, fmt.Sprintf("%d of its pods are left, and should be %d", len(pods), want))
	}
	return broken
}

// phases returns those in which a job may be once every job has finished.
func (j *job) phases() (may []v1.Phase) {
	switch j.outcome {
	case stalls:
		may = append(may, v1.Pending)
	case fails:
		may = append(may, v1.Failed)
	case completes, vanishes:
		may = append(may, v1.Completed)
		if j.hurt {
			may = append(may, v1.Failed)
		}
	}
	if j.suspended {
		may = append(may, v1.Suspended)
	}
	return may
}

// cleaned reports whether the pods of a finished job are deleted, as the table in deploy/docs/reference/controller.md has it.
func cleaned(policy v1.CleanPodPolicy, phase v1.Phase) bool {
	switch policy {
	case v1.CleanAlways:
		return true
	case "", v1.CleanOnCompletion:
		return phase == v1.Completed
	case v1.CleanOnFailure:
		return phase == v1.Failed
	}
	return false
}
