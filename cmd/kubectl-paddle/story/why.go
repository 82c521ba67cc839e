// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Story is why a job is as it is.
type Story struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Phase is the job's own word for its state, empty while nobody has looked at it.
	Phase v1.Phase `json:"phase,omitempty"`
	// Reason is why the job waits, restarts or has failed, for programs: a reason of its conditions. It is empty where nothing
	// is wrong.
	Reason string `json:"reason,omitempty"`
	// Missing is what a job that waits is missing, and Suggestions are changes with which it would start, nearest first.
	Missing     *report.Missing     `json:"missing,omitempty"`
	Suggestions []report.Suggestion `json:"suggestions,omitempty"`
	// Headline is one sentence that says it all.
	Headline string `json:"headline"`
	// Sentences say more, the most important first.
	Sentences []Sentence `json:"sentences,omitempty"`
	// Unread names what could not be read and is therefore left out.
	Unread []string `json:"unread,omitempty"`
}

// Sentence is one more thing to know.
type Sentence struct {
	// About is what kind of thing it is.
	About About  `json:"about"`
	Text  string `json:"text"`
	// Details are lines for those who want to know it exactly.
	Details []string `json:"details,omitempty"`
}

// About is what a sentence is about.
type About string

// What sentences are about.
const (
	AboutReason  About = "reason"  // why it is so
	AboutHelp    About = "help"    // what helps
	AboutQueue   About = "queue"   // its queue
	AboutPods    About = "pods"    // its pods
	AboutRestart About = "restart" // restarts, now or before
	AboutPlace   About = "place"   // where it runs
	AboutSpec    About = "spec"    // what its spec has against it
)

// unseen is after which time a job that nobody has looked at is worth a word about the controller.
const unseen = 30 * time.Second

func (s *Story) say(about About, text string, details ...string) {
	if text = sentence(text); text != "" {
		s.Sentences = append(s.Sentences, Sentence{About: about, Text: text, Details: details})
	}
}

// suggest adds a change that helps, for programs and in words.
func (s *Story) suggest(kind report.Kind, value, text string) {
	s.Suggestions = append(s.Suggestions, report.Suggestion{Kind: kind, Value: value, Text: text})
	s.say(AboutHelp, text)
}

// lacks adds an object without which the job does not start.
func (s *Story) lacks(object report.Object) {
	if s.Missing == nil {
		s.Missing = &report.Missing{}
	}
	s.Missing.Objects = append(s.Missing.Objects, object)
}

func (s *Story) head(format string, args ...any) { s.Headline = fmt.Sprintf(format, args...) }

// Why tells why a job is as it is.
func Why(o *Objects) *Story {
	job := o.Job
	s := &Story{Namespace: job.Namespace, Name: job.Name, Phase: job.Status.Phase, Unread: o.Unread}
	switch {
	case job.DeletionTimestamp != nil:
		s.head("%s has been deleted %s ago, and what belongs to it is on its way out.", job.Name, o.since(job.DeletionTimestamp.Time))
		return s
	case job.Status.Phase == "":
		s.unseen(o)
	case job.Status.Phase == v1.Completed:
		s.completed(o)
	case job.Status.Phase == v1.Failed:
		s.failed(o)
	case o.holds(v1.ConditionStalled) != nil:
		s.stalled(o)
	case o.holds(v1.ConditionSuspended) != nil:
		s.suspended(o)
	case o.holds(v1.ConditionRestarting) != nil:
		s.restarting(o)
	case job.Status.Phase == v1.Running:
		s.running(o)
	case o.holds(v1.ConditionScheduled) != nil:
		s.starting(o)
	case o.refused() != nil:
		s.refused(o)
	default:
		s.pending(o)
	}
	s.launcher(o)
	s.spec(o)
	return s
}

// launcher adds why Paddle's launcher cannot start the job. A job that has completed did without it.
func (s *Story) launcher(o *Objects) {
	c := o.condition(v1.ConditionLauncherUsable)
	if c != nil && c.Status == metav1.ConditionFalse && o.Job.Status.Phase != v1.Completed {
		s.say(AboutSpec, c.Message)
	}
}

func (s *Story) unseen(o *Objects) {
	age := o.Now.Sub(o.Job.CreationTimestamp.Time)
	s.head("%s was submitted %s ago, and the controller has not looked at it yet.", o.Job.Name, o.since(o.Job.CreationTimestamp.Time))
	if age > unseen {
		s.say(AboutHelp, "the controller does not run, or does not watch this namespace: ask whoever runs the cluster to look at it (kubectl get pods -A -l app.kubernetes.io/name=paddle-volcano,app.kubernetes.io/component=controller)")
	}
}

func (s *Story) stalled(o *Objects) {
	c := o.holds(v1.ConditionStalled)
	s.Reason = c.Reason
	s.head("%s cannot go on until somebody changes something: %s.", o.Job.Name, c.Reason)
	s.say(AboutReason, c.Message)
	const byItself = "; the job goes on by itself then, and need not be deleted"
	edit := "edit the job (kubectl edit pdj " + o.Job.Name + ")"
	switch c.Reason {
	case lifecycle.ReasonAborted:
	case lifecycle.ReasonNameTaken:
		s.say(AboutHelp, "submit the job under another name; or delete the object if nobody needs it"+byItself)
	case lifecycle.ReasonQueueNotFound:
		queue := report.Object{Kind: "Queue", Name: QueueOf(o.Job)}
		s.lacks(queue)
		s.suggest(report.CreateObject, queue.String(), "create the queue, or name another one in spec.schedulingPolicy.queue"+byItself)
	case lifecycle.ReasonQueueNotOpen:
		s.suggest(report.OpenQueue, QueueOf(o.Job), "open the queue, or name another one in spec.schedulingPolicy.queue"+byItself)
	case lifecycle.ReasonPriorityClassNotFound:
		for _, ref := range o.Absent {
			s.lacks(report.Object(ref))
			s.Suggestions = append(s.Suggestions, report.Suggest(report.CreateObject, report.Object(ref).String()))
		}
		s.say(AboutHelp, "create the PriorityClass, or "+edit+byItself)
	default:
		s.say(AboutHelp, edit+byItself)
	}
	s.queue(o)
}

func (s *Story) suspended(o *Objects) {
	c := o.holds(v1.ConditionSuspended)
	if run := o.Job.Spec.RunPolicy; run == nil || run.Suspend == nil || !*run.Suspend {
		s.head("%s has been resumed just now, and starts anew in a moment.", o.Job.Name)
		return
	}
	if c.Reason != lifecycle.ReasonSuspended {
		s.head("%s is being suspended: its pods are on their way out.", o.Job.Name)
		return
	}
	s.head("%s has been suspended for %s: it has no pods, and takes no room in its queue.", o.Job.Name, o.since(c.LastTransitionTime.Time))
	s.say(AboutHelp, "kubectl paddle resume "+o.Job.Name+" starts it anew")
}

func (s *Story) completed(o *Objects) {
	status := &o.Job.Status
	s.head("%s has completed%s: every worker has succeeded.", o.Job.Name, o.ended())
	s.restartsBefore(o)
	if ttl := o.Job.Spec.RunPolicy; ttl != nil && ttl.TTLSecondsAfterFinished != nil && status.CompletionTime != nil {
		goes := status.CompletionTime.Add(time.Duration(*ttl.TTLSecondsAfterFinished) * time.Second)
		s.say(AboutSpec, fmt.Sprintf("it will be deleted in %s (ttlSecondsAfterFinished)", shortDuration(goes.Sub(o.Now))))
	}
}

// ended is how long ago a job ended, and how long it trained.
func (o *Objects) ended() string {
	status := &o.Job.Status
	if status.CompletionTime == nil {
		return ""
	}
	text := " " + o.since(status.CompletionTime.Time) + " ago"
	if status.StartTime != nil {
		if took := status.CompletionTime.Sub(status.StartTime.Time); took > 0 {
			text += " after " + shortDuration(took) + " of training"
		}
	}
	return text
}

// spec tells what the controller has against the spec, though the job runs.
func (s *Story) spec(o *Objects) {
	if seen := o.Job.Status.ObservedGeneration; seen > 0 && seen < o.Job.Generation {
		s.say(AboutSpec, "the controller has not looked at the last change of the spec yet")
	}
	c := o.holds(v1.ConditionCreated)
	if c == nil || c.Message == "" {
		return
	}
	switch c.Reason {
	case lifecycle.ReasonSpecChangeNotApplied, lifecycle.ReasonSpecChangeRefused:
		s.say(AboutSpec, "the last change of the spec counts for nothing ("+c.Reason+"): "+c.Message)
	default:
		s.say(AboutSpec, "the controller says about the spec: "+c.Message)
	}
}

// elasticWords are how many workers an elastic job may have.
func elasticWords(job *v1.PaddleJob) string {
	if !builder.Elastic(job) {
		return ""
	}
	least, most := builder.Bounds(job)
	return fmt.Sprintf("it is elastic, and trains with %d to %d workers", least, most)
}
