// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/timeline"
)

// placed is the type of the condition by which the scheduler's plugin says that a gang has its nodes.
const placed scheduling.PodGroupConditionType = "PaddlePlaced"

// see takes down what is new about an object, and begins to read the logs of containers that have started.
func (g *Gatherer) see(ctx context.Context, at time.Time, object any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch o := object.(type) {
	case *paddlev1.PaddleJob:
		if o.Name == g.job {
			note(&g.seen.Created, at)
		}
	case *vcbatch.Job:
		if o.Name == g.job {
			note(&g.seen.VolcanoJob, at)
		}
	case *corev1.ConfigMap:
		// Volcano's plugins make some too.
		if owner := metav1.GetControllerOf(o); o.Name == g.job && owner != nil && owner.Kind == paddlev1.Kind {
			note(&g.seen.Environment, at)
		}
	case *scheduling.PodGroup:
		g.seePodGroup(at, o)
	case *corev1.Event:
		g.pod(o.InvolvedObject.UID).hear(at, o)
	case *corev1.Pod:
		if o.Labels[vcbatch.JobNameKey] == g.job {
			n := g.pod(o.UID)
			n.see(at, o)
			g.readStarted(ctx, n, o)
		}
	}
}

func (g *Gatherer) seePodGroup(at time.Time, group *scheduling.PodGroup) {
	if owner := metav1.GetControllerOf(group); owner == nil || owner.Name != g.job {
		return
	}
	if phase := group.Status.Phase; phase == scheduling.PodGroupInqueue || phase == scheduling.PodGroupRunning {
		note(&g.seen.Enqueued, at)
	}
	for i := range group.Status.Conditions {
		if c := &group.Status.Conditions[i]; c.Type == placed && c.Status == corev1.ConditionTrue {
			note(&g.seen.Placed, at)
		}
	}
}

// note keeps the first time.
func note(stamp *time.Time, at time.Time) {
	if stamp.IsZero() || at.Before(*stamp) {
		*stamp = at
	}
}

func (g *Gatherer) pod(uid types.UID) *notes {
	n := g.pods[uid]
	if n == nil {
		n = &notes{containers: map[string]*timeline.Run{}, read: map[string]bool{}}
		g.pods[uid] = n
	}
	return n
}

// notes are what was seen of one pod, or of an object that only events told of.
type notes struct {
	ours bool
	pod  timeline.Pod
	// main is the first container's name.
	main       string
	containers map[string]*timeline.Run
	// read are the containers, by their ids, whose logs are.
	read map[string]bool
}

func (n *notes) run(container string) *timeline.Run {
	if n.containers[container] == nil {
		n.containers[container] = &timeline.Run{}
	}
	return n.containers[container]
}

func (n *notes) see(at time.Time, pod *corev1.Pod) {
	n.ours, n.main = true, pod.Spec.Containers[0].Name
	n.pod.Name, n.pod.Role = pod.Name, pod.Labels[vcbatch.TaskSpecKey]
	note(&n.pod.Created, at)
	if pod.Spec.NodeName != "" {
		note(&n.pod.Bound, at)
	}
	if pod.Status.PodIP != "" {
		note(&n.pod.Addressed, at)
	}
	for _, status := range started(pod) {
		note(&n.run(status.Name).Started, at)
		// Its last line, where it has said one, came before the kubelet knew of its end.
		if run := n.run(status.Name); status.State.Terminated != nil && run.Ended.IsZero() {
			run.Ended = at
		}
	}
}

// hear takes down what the kubelet does, which it tells sooner than by the pod's status.
func (n *notes) hear(at time.Time, event *corev1.Event) {
	_, container, _ := strings.Cut(strings.TrimSuffix(event.InvolvedObject.FieldPath, "}"), "{")
	switch {
	case event.Reason == "Pulled":
		note(&n.pod.Pulled, at)
	case event.Reason == "Started":
		note(&n.run(container).Started, at)
	case event.Reason == "Failed" && strings.Contains(event.Message, "configmap"):
		n.pod.Lacked = at
	}
}

// barrier is the init container that the controller puts first.
const barrier = "paddle-barrier"

func (n *notes) stamped() timeline.Pod {
	pod := n.pod
	if run := n.containers[barrier]; run != nil {
		pod.Barrier = *run
	}
	if run := n.containers[n.main]; run != nil {
		pod.Main = *run
	}
	return pod
}
