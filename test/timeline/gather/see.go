// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
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
			g.byName = byName(o)
		}
	case *discoveryv1.EndpointSlice:
		// It is what DNS reads of a headless service.
		for i := range o.Endpoints {
			if e := &o.Endpoints[i]; e.TargetRef != nil && ptr.Deref(e.Conditions.Ready, true) {
				note(&g.pod(e.TargetRef.UID).pod.Named, at)
			}
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

// byName tells whether an environment has names for peers, and not IPs.
func byName(environment *corev1.ConfigMap) bool {
	first, _, _ := strings.Cut(environment.Data["PADDLE_TRAINER_ENDPOINTS"], ",")
	host, _, err := net.SplitHostPort(first)
	if err != nil {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err != nil
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
		n = &notes{containers: map[string]*container{}, read: map[string]bool{}}
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
	containers map[string]*container
	// read are the containers, by their ids, whose logs are.
	read map[string]bool
}

// container is one of a pod's.
type container struct {
	timeline.Run
	// finished is when it ended at the earliest: the kubelet leaves fractions of a second out.
	finished time.Time
}

func (n *notes) run(name string) *container {
	if n.containers[name] == nil {
		n.containers[name] = &container{}
	}
	return n.containers[name]
}

// whole is what is known of it, also where it said its last word long before its end.
func (c *container) whole() timeline.Run {
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
	if pod.Spec.NodeName != "" {
		note(&n.pod.Bound, at)
	}
	if pod.Status.PodIP != "" {
		note(&n.pod.Addressed, at)
	}
	for _, status := range started(pod) {
		note(&n.run(status.Name).Started, at)
		// Its last line, where it has said one, came before the kubelet knew of its end.
		if run, end := n.run(status.Name), status.State.Terminated; end != nil {
			run.finished = end.FinishedAt.Time
			if run.Ended.IsZero() {
				run.Ended = at
			}
		}
	}
}

// hear takes down what the kubelet does, which it tells sooner than by the pod's status.
func (n *notes) hear(at time.Time, event *corev1.Event) {
	_, name, _ := strings.Cut(strings.TrimSuffix(event.InvolvedObject.FieldPath, "}"), "{")
	switch {
	case event.Reason == "Pulled":
		note(&n.pod.Pulled, at)
	case event.Reason == "Started":
		note(&n.run(name).Started, at)
	case event.Reason == "Failed" && strings.Contains(event.Message, "configmap"):
		n.pod.Lacked = at
	}
}

// barrier is the init container that the controller puts first.
const barrier = "paddle-barrier"

func (n *notes) stamped(byName bool) timeline.Pod {
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
