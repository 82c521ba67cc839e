// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// ReasonNoPorts stalls a job with intranet Host for which no ports are left.
const ReasonNoPorts = "NoHostPortsLeft"

// hearing is how long after pods were told something the environment is written. Kubelets read annotations when they start
// a container, and see pods and ConfigMaps through watches of which either may be the later one.
const hearing = time.Second

// MovePorts writes on the Volcano Job where its pods' ports begin, and the label by which it is found. Ports are chosen once
// all pods of the gang are placed, so that no job has any that waits.
//
// Two controllers, or two syncs of one, may choose the same ports while neither sees the other's Job. So a choice counts
// only after a look at all Jobs that comes after it was written (AnnouncePods): of two that choose the same, at least one
// sees the other then, and moves, for it has not begun. One whose pods were told never moves.
type MovePorts struct {
	// First is 0 where the Job gives its ports back.
	First int
}

// AnnouncePods annotates pods, with their addresses and ports for example, unless the ports are another Job's too.
type AnnouncePods struct {
	// Ports are the Job's; none if its pods have addresses of their own.
	Ports render.Ports
	Pods  []Announcement
}

// Announcement is what one pod is told.
type Announcement struct {
	Pod         *corev1.Pod
	Annotations map[string]string
}

func (MovePorts) action()    {}
func (AnnouncePods) action() {}

// PortsOf are the ports of nodes that a Volcano Job has, none if it has none or will not use them again, and none for one
// that no PaddleJob of its name controls, whatever its annotations are.
func PortsOf(job *vcbatch.Job) render.Ports {
	// The uid needs no look: the garbage collector deletes an object whose owner does not exist.
	if owner := metav1.GetControllerOf(job); owner == nil || owner.APIVersion != v1.SchemeGroupVersion.String() ||
		owner.Kind != v1.Kind || owner.Name != job.Name {
		return render.Ports{}
	}
	switch job.Status.State.Phase {
	case vcbatch.Completed, vcbatch.Terminated, vcbatch.Failed:
		return render.Ports{}
	}
	first, err := strconv.Atoi(job.Annotations[keys.FirstPort])
	if err != nil || first <= 0 {
		return render.Ports{}
	}
	made := asCreated(&view.View{Job: &v1.PaddleJob{}, VolcanoJob: job})
	return render.Ports{First: first, Count: render.PortsNeeded(made)}
}

// choosePorts is where the ports of a job can begin, 0 if it needs none. Without a place it stalls and returns false.
func (p *Plan) choosePorts(v *view.View, cfg render.Config) (first int, ok bool) {
	if !render.HostPorts(v.Job, cfg) {
		return 0, true
	}
	need := render.PortsNeeded(v.Job)
	all := render.HostPortsOf(cfg)
	seed := string(v.Job.UID)
	if v.VolcanoJob != nil {
		// Another place than the last time, of which somebody else thought too.
		seed += string(v.VolcanoJob.UID) + v.VolcanoJob.Annotations[keys.FirstPort]
	}
	if first, ok = render.ChoosePorts(all, need, takenPorts(v), seed); ok {
		return first, true
	}
	p.lookAgainIn(unwatched)
	p.Stalled = &render.Notice{Reason: ReasonNoPorts, Message: fmt.Sprintf("spec.intranet Host: of the nodes' ports %s no %d in a row "+
		"are free: wait for other jobs with intranet Host to end, give the controller more (--host-ports), or use PodIP or Service",
		all, need)}
	return 0, false
}

// firstPort is where the ports of the job's pods begin, 0 if they have addresses of their own. It returns false while
// that has to be written first.
func (p *Plan) firstPort(v *view.View, cfg render.Config) (first int, ok bool) {
	if !hasPorts(v) {
		return 0, true
	}
	own, told := PortsOf(v.VolcanoJob), toldPort(v)
	// Without the label nobody else sees the choice.
	seen := v.VolcanoJob.Labels[keys.Intranet] == string(v1.Host)
	switch {
	case told != 0 && own.First == told && seen:
		return told, true // they may listen there by now
	case told != 0:
		p.do(MovePorts{First: told}) // somebody changed what was written, and they may listen there
		return 0, false
	case own.First != 0 && seen && !overlapping(own, takenPorts(v)):
		return own.First, true
	}
	first, ok = p.choosePorts(v, cfg)
	if ok {
		p.do(MovePorts{First: first})
	}
	return 0, false
}

// returnPorts gives the Volcano Job's ports back if none of its pods may listen there, and reports whether it does: those
// of a gang that starts again may be gone for long before all of the next ones are placed.
func (p *Plan) returnPorts(v *view.View) bool {
	if !hasPorts(v) || PortsOf(v.VolcanoJob).First == 0 || slices.ContainsFunc(unended(v), func(pod *corev1.Pod) bool {
		return pod.Annotations[keys.Port] != ""
	}) {
		return false
	}
	p.do(MovePorts{})
	return true
}

// hasPorts says whether the pods of the Volcano Job have ports of their own.
func hasPorts(v *view.View) bool {
	return v.VolcanoJob.Annotations[keys.Intranet] == string(v1.Host) && v.VolcanoJob.Annotations[keys.Announced] != ""
}

// toldPort is where the job's ports begin by what its living pods were told, 0 if none was told anything.
func toldPort(v *view.View) int {
	job := asCreated(v)
	for _, pod := range render.Members(job, v.Pods) {
		port, err := strconv.Atoi(pod.Annotations[keys.Port])
		if err != nil {
			continue
		}
		base, _ := strconv.Atoi(render.Told(job, 1, pod)[keys.Port])
		return port - base + 1
	}
	return 0
}

func takenPorts(v *view.View) []render.Ports {
	if v.TakenPorts == nil {
		return nil
	}
	return v.TakenPorts()
}

func overlapping(own render.Ports, taken []render.Ports) bool {
	for _, other := range taken {
		if own.Overlaps(other) {
			return true
		}
	}
	return false
}

// announce tells the pods what their templates read from annotations, and says whether there is something to tell, or to
// be heard yet.
func (p *Plan) announce(v *view.View, job *v1.PaddleJob, first int) bool {
	if v.VolcanoJob.Annotations[keys.Announced] == "" {
		return false
	}
	action := AnnouncePods{}
	var latest time.Duration
	if hasPorts(v) {
		action.Ports = PortsOf(v.VolcanoJob)
	}
	for _, pod := range render.Members(job, v.Pods) {
		want := render.Told(job, first, pod)
		if !hasPorts(v) {
			delete(want, keys.Port)
			delete(want, keys.PortRange)
		}
		if lacks(pod.Annotations, want) {
			want[keys.AnnouncedAt] = v.Now.UTC().Format(time.RFC3339Nano)
			action.Pods = append(action.Pods, Announcement{Pod: pod, Annotations: want})
		} else if at, err := time.Parse(time.RFC3339Nano, pod.Annotations[keys.AnnouncedAt]); err == nil && !at.After(v.Now) {
			latest = max(latest, hearing-v.Now.Sub(at)) // one from the future is another controller's clock
		}
	}
	if len(action.Pods) > 0 {
		p.do(action)
		return true
	}
	if latest <= 0 || v.Environment != nil {
		return false
	}
	p.lookAgainIn(latest)
	return true
}
