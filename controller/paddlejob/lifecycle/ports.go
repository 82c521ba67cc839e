// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// ReasonNoPorts stalls a job with intranet Host for which no ports are left.
const ReasonNoPorts = "NoHostPortsLeft"

// announceDelay is how long after pods were told something the environment is written. Kubelets read annotations when they start
// a container, and see pods and ConfigMaps through watches of which either may be the later one.
const announceDelay = time.Second

// PortsOf are the ports of nodes that a Volcano Job has, none if it has none or will not use them again, and none for one
// that no PaddleJob of its name controls, whatever its annotations are.
func PortsOf(job *vcbatch.Job) builder.Ports {
	// The uid needs no look: the garbage collector deletes an object whose owner does not exist.
	if owner := metav1.GetControllerOf(job); owner == nil || owner.APIVersion != v1.SchemeGroupVersion.String() ||
		owner.Kind != v1.Kind || owner.Name != job.Name {
		return builder.Ports{}
	}
	if observed.AttemptOf(job).Ended() {
		return builder.Ports{}
	}
	first, err := strconv.Atoi(job.Annotations[v1.FirstPortAnnotation])
	if err != nil || first <= 0 {
		return builder.Ports{}
	}
	made := asCreated(&observed.State{Job: &v1.PaddleJob{}, VolcanoJob: job})
	return builder.Ports{First: first, Count: builder.PortsNeeded(made)}
}

// choosePorts is where the ports of a job can begin, 0 if it needs none. Without a place it stalls and returns false.
func (p *Plan) choosePorts(obs *observed.State, cfg builder.Config) (first int, ok bool) {
	if !builder.HostPorts(obs.Job, cfg) {
		return 0, true
	}
	need := builder.PortsNeeded(obs.Job)
	all := builder.HostPortsOf(cfg)
	seed := string(obs.Job.UID)
	if obs.VolcanoJob != nil {
		// Another place than the last time, of which somebody else thought too.
		seed += string(obs.VolcanoJob.UID) + obs.VolcanoJob.Annotations[v1.FirstPortAnnotation]
	}
	if first, ok = builder.ChoosePorts(all, need, takenPorts(obs), seed); ok {
		return first, true
	}
	p.requeueAfter(pollInterval)
	p.Stalled = &builder.Cause{Reason: ReasonNoPorts, Message: fmt.Sprintf("spec.intranet Host: of the nodes' ports %s no %d in a row "+
		"are free: wait for other jobs with intranet Host to end, give the controller more (--host-ports), or use PodIP or Service",
		all, need)}
	return 0, false
}

// firstPort is where the ports of the job's pods begin, 0 if they have addresses of their own. It returns false while
// that has to be written first.
func (p *Plan) firstPort(obs *observed.State, cfg builder.Config) (first int, ok bool) {
	if !hasPorts(obs) {
		return 0, true
	}
	own, announced := PortsOf(obs.VolcanoJob), announcedPort(obs)
	// Without the label nobody else sees the choice.
	seen := obs.VolcanoJob.Labels[v1.IntranetAnnotation] == string(v1.Host)
	switch {
	case announced != 0 && own.First == announced && seen:
		return announced, true // they may listen there by now
	case announced != 0:
		p.do(MovePorts{First: announced}) // somebody changed what was written, and they may listen there
		return 0, false
	case own.First != 0 && seen && !overlapping(own, takenPorts(obs)):
		return own.First, true
	}
	first, ok = p.choosePorts(obs, cfg)
	if ok {
		p.do(MovePorts{First: first})
	}
	return 0, false
}

// returnPorts gives the Volcano Job's ports back if none of its pods may listen there, and reports whether it does: those
// of a gang that starts again may be gone for long before all of the next ones are placed.
func (p *Plan) returnPorts(obs *observed.State) bool {
	if !hasPorts(obs) || PortsOf(obs.VolcanoJob).First == 0 || slices.ContainsFunc(unfinishedPods(obs), func(pod *corev1.Pod) bool {
		return pod.Annotations[v1.PortAnnotation] != ""
	}) {
		return false
	}
	p.do(MovePorts{})
	return true
}

// hasPorts reports whether the pods of the Volcano Job have ports of their own.
func hasPorts(obs *observed.State) bool {
	return obs.VolcanoJob.Annotations[v1.IntranetAnnotation] == string(v1.Host) && obs.VolcanoJob.Annotations[v1.AnnouncedAnnotation] != ""
}

// announcedPort is where the job's ports begin by what its living pods were told, 0 if none was told anything.
func announcedPort(obs *observed.State) int {
	job := asCreated(obs)
	for _, pod := range builder.Members(job, obs.Pods) {
		port, err := strconv.Atoi(pod.Annotations[v1.PortAnnotation])
		if err != nil {
			continue
		}
		base, _ := strconv.Atoi(builder.PodAnnotations(job, 1, pod)[v1.PortAnnotation])
		return port - base + 1
	}
	return 0
}

func takenPorts(obs *observed.State) []builder.Ports {
	if obs.TakenPorts == nil {
		return nil
	}
	return obs.TakenPorts()
}

func overlapping(own builder.Ports, taken []builder.Ports) bool {
	for _, other := range taken {
		if own.Overlaps(other) {
			return true
		}
	}
	return false
}

// announce tells the pods what their templates read from annotations, and reports whether there is something to tell, or to
// be heard yet.
func (p *Plan) announce(obs *observed.State, job *v1.PaddleJob, first int) bool {
	if obs.VolcanoJob.Annotations[v1.AnnouncedAnnotation] == "" {
		return false
	}
	action := AnnouncePods{}
	var latest time.Duration
	if hasPorts(obs) {
		action.Ports = PortsOf(obs.VolcanoJob)
	}
	for _, pod := range builder.Members(job, obs.Pods) {
		want := builder.PodAnnotations(job, first, pod)
		if !hasPorts(obs) {
			delete(want, v1.PortAnnotation)
			delete(want, v1.PortRangeAnnotation)
		}
		if lacks(pod.Annotations, want) {
			want[v1.AnnouncedAtAnnotation] = obs.Now.UTC().Format(time.RFC3339Nano)
			action.Pods = append(action.Pods, Announcement{Pod: pod, Annotations: want})
		} else if at, err := time.Parse(time.RFC3339Nano, pod.Annotations[v1.AnnouncedAtAnnotation]); err == nil && !at.After(obs.Now) {
			latest = max(latest, announceDelay-obs.Now.Sub(at)) // one from the future is another controller's clock
		}
	}
	if len(action.Pods) > 0 {
		p.do(action)
		return true
	}
	if latest <= 0 || obs.Environment != nil {
		return false
	}
	p.requeueAfter(latest)
	return true
}
