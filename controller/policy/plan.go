// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Plan is what has to be done for a PaddleJob and what its status has to say about it.
type Plan struct {
	// Actions are to be done in this order; none of those after a failed one may be done.
	Actions []Action
	// Stalled says what the user has to change before the job can go on, nil if nothing.
	Stalled *render.Notice
	// Waiting says what the job waits for before its Volcano Job can be made, nil if nothing.
	Waiting *render.Notice
	// Failed says why the job fails for good although Volcano would let it go on, nil if it does not.
	Failed *render.Notice
	// Retrying says when a job that failed starts again, nil if it has not failed or starts at once.
	Retrying *render.Notice
	// Succeeded says that the job has succeeded although Volcano does not end it.
	Succeeded bool
	// RestoredPhase is how the job had ended before it was restored without its status, "" for any other job.
	RestoredPhase v1.Phase
	// RestoredMessage is what the user should know about that.
	RestoredMessage string
	// Again is true when the gang is to be started again and the status has not counted that yet.
	Again bool
	// Recreate is true when the Volcano Job is to be deleted and created again.
	Recreate bool
	// Failures is how many failures the status has to count that it has not counted yet.
	Failures int32
	// Suspended says how far the job's suspension has come, nil if it is not suspended.
	Suspended *render.Notice
	// Unapplied says why the spec is not what runs, nil if it is.
	Unapplied *render.Notice
	// LauncherUnusable says why paddle.distributed.launch cannot start the gang, nil if it can or the addresses are not known.
	LauncherUnusable *render.Notice
	// Missing are the pods whose addresses are not known yet, where the others wait for them.
	Missing []string
	// Warnings are what the user should know about the spec; told once per generation.
	Warnings []render.Notice
	// LookAgain is when to look at the job again although nothing that is watched has changed, 0 if never.
	LookAgain time.Duration
}

// unwatched is how soon to look again at what is not watched.
const unwatched = 10 * time.Second

// Action is one write to the API.
type Action interface{ action() }

// Event is something to tell the user once the action it belongs to is done.
type Event struct {
	// Type is Normal or Warning, as in the core API.
	Type    string
	Reason  string
	Message string
}

// ReleaseFinalizer takes paddle-operator's finalizer off the PaddleJob.
type ReleaseFinalizer struct{}

// CreateVolcanoJob makes the Volcano Job.
type CreateVolcanoJob struct {
	Job    *vcbatch.Job
	Events []Event
}

// ApplyPodGroup creates the PodGroup, or applies PodGroupOwned to the one that exists.
type ApplyPodGroup struct{ PodGroup *vcscheduling.PodGroup }

// WriteEnvironment makes the ConfigMap of the environment, or replaces the data of the one that is there.
type WriteEnvironment struct {
	ConfigMap *corev1.ConfigMap
	// Old is the ConfigMap that is there, nil if there is none.
	Old *corev1.ConfigMap
	// Event is told once it is written, nil if there is nothing to tell.
	Event *Event
}

// IssueCommand gives Volcano a command about the job.
type IssueCommand struct {
	Command *vcbus.Command
	// State is that of the Volcano Job (StateOf), which is another once Volcano has done what it was told; empty where that
	// need not show.
	State string
}

// ScaleVolcanoJob changes how many pods a Volcano Job has.
type ScaleVolcanoJob struct {
	// Job is the Volcano Job as it shall be.
	Job *vcbatch.Job
	// Held is the number of workers that it is kept at from then on, nil if it has as many as the spec asks for.
	Held *view.Held
}

// NotePodGroup writes down that a PodGroup of the user's own was taken into account.
type NotePodGroup struct {
	PodGroup *vcscheduling.PodGroup
	Event    Event
}

// Kind is a kind of object that can be deleted.
type Kind string

// Kinds that can be deleted.
const (
	KindVolcanoJob Kind = "Volcano Job"
	KindPodGroup   Kind = "PodGroup"
	KindConfigMap  Kind = "ConfigMap"
	KindPod        Kind = "pod"
	KindService    Kind = "Service"
	KindPaddleJob  Kind = "PaddleJob"
)

// Delete deletes exactly the object that was seen, by its uid.
type Delete struct {
	Kind   Kind
	Object metav1.Object
}

func (ReleaseFinalizer) action() {}
func (CreateVolcanoJob) action() {}
func (ApplyPodGroup) action()    {}
func (WriteEnvironment) action() {}
func (IssueCommand) action()     {}
func (NotePodGroup) action()     {}
func (ScaleVolcanoJob) action()  {}
func (Delete) action()           {}

func (p *Plan) do(actions ...Action) { p.Actions = append(p.Actions, actions...) }

// lookAgainIn asks to look again after a time; the soonest wins.
func (p *Plan) lookAgainIn(wait time.Duration) {
	if p.LookAgain == 0 || wait < p.LookAgain {
		p.LookAgain = max(wait, time.Nanosecond)
	}
}

// recreate deletes the Volcano Job once the status counts that, so that the count is not lost with a controller that ends in
// between.
func (p *Plan) recreate(v *view.View) {
	p.Recreate = true
	if counted(v) {
		p.remove(KindVolcanoJob, v.VolcanoJob)
	}
}

// counted reports whether the status counts that the Volcano Job is created again.
func counted(v *view.View) bool { return v.Job.Status.Recreations > view.Recreations(v.VolcanoJob) }

// remove deletes an object unless that is under way.
func (p *Plan) remove(kind Kind, object metav1.Object) {
	if object.GetDeletionTimestamp() == nil {
		p.do(Delete{Kind: kind, Object: object})
	}
}
