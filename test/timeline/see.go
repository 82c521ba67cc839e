// SPDX-License-Identifier: Apache-2.0

package timeline

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
)

// see records what is new about an object, and begins to read the logs of containers that have started.
func (w *Watch) see(ctx context.Context, at time.Time, object any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch o := object.(type) {
	case *paddlev1.PaddleJob:
		if o.Name == w.job {
			note(&w.seen.Created, at)
		}
	case *vcbatch.Job:
		if o.Name == w.job {
			note(&w.seen.VolcanoJob, at)
		}
	case *corev1.ConfigMap:
		// Volcano's plugins make some too.
		if owner := metav1.GetControllerOf(o); o.Name == w.job && owner != nil && owner.Kind == paddlev1.Kind {
			note(&w.seen.Environment, at)
			w.byName = byName(o)
		}
	case *discoveryv1.EndpointSlice:
		// It is what DNS reads of a headless service.
		for i := range o.Endpoints {
			if e := &o.Endpoints[i]; e.TargetRef != nil && ptr.Deref(e.Conditions.Ready, true) {
				note(&w.pod(e.TargetRef.UID).pod.Named, at)
			}
		}
	case *scheduling.PodGroup:
		w.seePodGroup(at, o)
	case *corev1.Pod:
		if o.Labels[vcbatch.JobNameKey] == w.job {
			n := w.pod(o.UID)
			n.see(at, o)
			w.readStarted(ctx, n, o)
		}
	}
}

// byName reports whether an environment has names for peers, and not IPs.
func byName(environment *corev1.ConfigMap) bool {
	first, _, _ := strings.Cut(environment.Data["PADDLE_TRAINER_ENDPOINTS"], ",")
	host, _, err := net.SplitHostPort(first)
	if err != nil {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err != nil
}

func (w *Watch) seePodGroup(at time.Time, group *scheduling.PodGroup) {
	if owner := metav1.GetControllerOf(group); owner == nil || owner.Name != w.job {
		return
	}
	if phase := group.Status.Phase; phase == scheduling.PodGroupInqueue || phase == scheduling.PodGroupRunning {
		note(&w.seen.Enqueued, at)
	}
}

func (w *Watch) pod(uid types.UID) *notes {
	n := w.pods[uid]
	if n == nil {
		n = &notes{containers: map[string]*container{}, read: map[string]bool{}}
		w.pods[uid] = n
	}
	return n
}

// notes are what was seen of one pod, or of one that only an EndpointSlice named.
type notes struct {
	ours bool
	pod  Pod
	// main is the first container's name.
	main       string
	containers map[string]*container
	// read are the containers, by their ids, whose logs are.
	read map[string]bool
}

// container is one of a pod's.
type container struct {
	Run
	// finished is when it ended at the earliest: the kubelet leaves fractions of a second out.
	finished time.Time
}

func (n *notes) run(name string) *container {
	if n.containers[name] == nil {
		n.containers[name] = &container{}
	}
	return n.containers[name]
}

// whole is its run, also where it logged its last line long before its end.
func (c *container) whole() Run {
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
		// Its last line, if it logged one, came before the kubelet knew of its end.
		if run, end := n.run(status.Name), status.State.Terminated; end != nil {
			run.finished = end.FinishedAt.Time
			if run.Ended.IsZero() {
				run.Ended = at
			}
		}
	}
}

// barrier is the init container that the controller puts first.
const barrier = "paddle-barrier"

func (n *notes) stamped(byName bool) Pod {
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
