// SPDX-License-Identifier: Apache-2.0

// Package describe turns the objects of a PaddleJob into sentences and rows of tables. It makes no API calls and reads no clock.
package describe

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Description is the state of a job and its reasons.
type Description struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Phase     v1.Phase `json:"phase,omitempty"` // empty until the controller has processed the job
	// Reason is why the job waits, restarts or has failed, for programs: a reason of its conditions, empty where nothing is wrong.
	Reason string `json:"reason,omitempty"`
	// Missing is what a job that waits is missing, and Suggestions are changes with which it would start, nearest first.
	Missing     *report.Missing     `json:"missing,omitempty"`
	Suggestions []report.Suggestion `json:"suggestions,omitempty"`
	// Headline is the summary, Sentences are details, the most important first, and Unread names what could not be read.
	Headline  string     `json:"headline"`
	Sentences []Sentence `json:"sentences,omitempty"`
	Unread    []string   `json:"unread,omitempty"`
}

// Sentence is one detail.
type Sentence struct {
	About   About    `json:"about"`
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"` // the figures behind it, one a line
}

// Lines returns sentences as lines, what helps as a list, with what pods wrote last, and the figures behind other sentences if asked for.
func Lines(sentences []Sentence, details bool) (lines []string) {
	for i, s := range sentences {
		text := "  " + s.Text
		if s.About == AboutHelp {
			text = "  - " + s.Text
			if i == 0 || sentences[i-1].About != AboutHelp {
				lines = append(lines, "  What helps:")
			}
		}
		lines = append(lines, text)
		if details || s.About == AboutPods {
			for _, line := range s.Details {
				lines = append(lines, "    "+line)
			}
		}
	}
	return lines
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

// unseen is how long the controller may take before a job is said to be without one.
const unseen = 30 * time.Second

func (d *Description) say(about About, text string, details ...string) {
	if text = sentence(text); text != "" {
		d.Sentences = append(d.Sentences, Sentence{About: about, Text: text, Details: details})
	}
}

// suggest adds a change that helps, for programs and in words.
func (d *Description) suggest(kind report.Kind, value, text string) {
	d.Suggestions = append(d.Suggestions, report.Suggestion{Kind: kind, Value: value, Text: text})
	d.say(AboutHelp, text)
}

// helps are what helps a job that is Stalled, is refused its pods or has failed, by the reason. Package report has the scheduler's.
var helps = map[string]struct {
	kind report.Kind // of the suggestion for programs, empty if there is none
	text string
}{
	lifecycle.ReasonNameTaken:     {"", "submit the job under another name; or delete the object if nobody needs it"},
	lifecycle.ReasonQueueNotFound: {report.CreateObject, "create the queue, or name another one in spec.schedulingPolicy.queue"},
	lifecycle.ReasonQueueNotOpen:  {report.OpenQueue, "open the queue, or name another one in spec.schedulingPolicy.queue"},
	lifecycle.ReasonQuotaExceeded: {report.RaiseResourceQuota,
		"wait for other jobs of the namespace to end, ask for less, or have the ResourceQuota of the namespace raised (kubectl describe quota)"},
	lifecycle.ReasonPodSecurityViolation: {ChangePodTemplate,
		"change the pods of the job so that they meet the standard, or have the label pod-security.kubernetes.io/enforce of the namespace changed"},
	lifecycle.ReasonPodsRefused:       {ChangePodTemplate, "change the job or have the rule changed that the API server names"},
	lifecycle.ReasonDeadlineExceeded:  {"", "raise spec.runPolicy.activeDeadlineSeconds, and submit the job again"},
	lifecycle.ReasonPermanentExitCode: {"", "fix what the program ends with; spec.runPolicy.permanentExitCodes excludes a restart after such an end"},
	observed.ReasonPodEvicted:         {"", "its pods were evicted: a higher priorityClass helps"},
}

// help adds what helps a job with a reason, and what then happens. It reports whether that is known.
func (d *Description) help(reason, value, then string) bool {
	h, ok := helps[reason]
	switch {
	case h.kind != "":
		d.suggest(h.kind, value, h.text+then)
	case ok:
		d.say(AboutHelp, h.text+then)
	}
	return ok
}

// lacks adds an object without which the job does not start.
func (d *Description) lacks(object report.Object) {
	if d.Missing == nil {
		d.Missing = &report.Missing{}
	}
	d.Missing.Objects = append(d.Missing.Objects, object)
}

func (d *Description) head(format string, args ...any) { d.Headline = fmt.Sprintf(format, args...) }

// Why returns the state of a job and its reasons.
func Why(o *Objects) *Description {
	job := o.Job
	d := &Description{Namespace: job.Namespace, Name: job.Name, Phase: job.Status.Phase, Unread: o.Unread}
	switch {
	case job.DeletionTimestamp != nil:
		d.head("%s has been deleted %s ago, and its objects are being deleted.", job.Name, o.since(job.DeletionTimestamp.Time))
		return d
	case observed.Outcome(&job.Status) == v1.Completed:
		d.head("%s has completed%s: every worker has succeeded.", job.Name, o.ended())
		d.restartsBefore(o)
	case observed.Finished(job):
		d.failed(o)
	case unprocessed(job):
		d.unseen(o)
	case o.holds(v1.ConditionStalled) != nil:
		d.stalled(o)
	case o.holds(v1.ConditionSuspended) != nil:
		d.suspended(o)
	case o.holds(v1.ConditionRestarting) != nil:
		d.restarting(o)
	case o.holds(v1.ConditionRunning) != nil:
		d.running(o)
	case o.holds(v1.ConditionScheduled) != nil:
		d.starting(o)
	default:
		d.pending(o)
	}
	d.spec(o)
	return d
}

func (d *Description) unseen(o *Objects) {
	d.head("%s was submitted %s ago, and the controller has not processed it yet.", o.Job.Name, o.since(o.Job.CreationTimestamp.Time))
	if o.Now.Sub(o.Job.CreationTimestamp.Time) > unseen {
		d.say(AboutHelp, "the controller does not run, or does not watch this namespace: ask whoever runs the cluster to look at it (kubectl get pods -A -l app.kubernetes.io/name=paddle-volcano,app.kubernetes.io/component=controller)")
	}
}

func (d *Description) stalled(o *Objects) {
	c := o.holds(v1.ConditionStalled)
	d.Reason = c.Reason
	d.head("%s cannot continue until something is changed: %s.", o.Job.Name, c.Reason)
	d.say(AboutReason, c.Message)
	const byItself = "; the job then continues, and need not be deleted"
	edit, value := "edit the job (kubectl edit pdj "+o.Job.Name+")", ""
	switch c.Reason {
	case lifecycle.ReasonQueueNotFound:
		queue := report.Object{Kind: "Queue", Name: QueueOf(o.Job)}
		d.lacks(queue)
		value = queue.String()
	case lifecycle.ReasonQueueNotOpen:
		value = QueueOf(o.Job)
	case lifecycle.ReasonPriorityClassNotFound:
		for _, name := range o.MissingPriorityClasses {
			class := report.Object{Kind: "PriorityClass", Name: name}
			d.lacks(class)
			d.Suggestions = append(d.Suggestions, report.Suggest(report.CreateObject, class.String()))
		}
		edit = "create the PriorityClass, or " + edit
	}
	if c.Reason != lifecycle.ReasonAborted && !d.help(c.Reason, value, byItself) {
		d.say(AboutHelp, edit+byItself)
	}
	d.queue(o)
}

func (d *Description) suspended(o *Objects) {
	c := o.holds(v1.ConditionSuspended)
	switch {
	case !observed.SuspendSet(o.Job):
		d.head("%s has just been resumed, and starts again in a moment.", o.Job.Name)
	case c.Reason != lifecycle.ReasonSuspended:
		d.head("%s is being suspended: its pods are being deleted.", o.Job.Name)
	default:
		d.head("%s has been suspended for %s: it has no pods, and uses no capacity of its queue.", o.Job.Name, o.since(c.LastTransitionTime.Time))
		d.say(AboutHelp, "kubectl paddle resume "+o.Job.Name+" starts it again")
	}
}

// ended returns how long ago a job ended, and how long it trained.
func (o *Objects) ended() string {
	status := &o.Job.Status
	if status.CompletionTime == nil {
		return ""
	}
	text := " " + o.since(status.CompletionTime.Time) + " ago"
	if status.StartTime != nil {
		if took := status.CompletionTime.Sub(status.StartTime.Time); took > 0 {
			text += " after " + duration.HumanDuration(took) + " of training"
		}
	}
	return text
}

// spec adds what the controller reports about the spec, and when a job that has ended is deleted.
func (d *Description) spec(o *Objects) {
	// A job that has completed did without Paddle's launcher.
	if c := o.condition(v1.ConditionLauncherUsable); c != nil && c.Status == metav1.ConditionFalse && observed.Outcome(&o.Job.Status) != v1.Completed {
		d.say(AboutSpec, c.Message)
	}
	if run, end := o.Job.Spec.RunPolicy, o.Job.Status.CompletionTime; end != nil && run != nil && run.TTLSecondsAfterFinished != nil {
		left := time.Duration(*run.TTLSecondsAfterFinished)*time.Second - o.Now.Sub(end.Time)
		d.say(AboutSpec, "it is deleted in "+duration.HumanDuration(max(left, 0))+" (spec.runPolicy.ttlSecondsAfterFinished)")
	}
	if seen := o.Job.Status.ObservedGeneration; seen > 0 && seen < o.Job.Generation {
		d.say(AboutSpec, "the controller has not processed the last change of the spec yet")
	}
	switch c := o.holds(v1.ConditionCreated); {
	case c == nil || c.Message == "":
	case c.Reason == lifecycle.ReasonSpecChangeNotApplied, c.Reason == lifecycle.ReasonSpecChangeRefused:
		d.say(AboutSpec, "the last change of the spec has no effect ("+c.Reason+"): "+c.Message)
	default:
		d.say(AboutSpec, "the controller reports about the spec: "+c.Message)
	}
}

func (d *Description) restarting(o *Objects) {
	c := o.holds(v1.ConditionRestarting)
	d.Reason = c.Reason
	d.head("%s lost a pod %s ago, and starts again.", o.Job.Name, o.since(c.LastTransitionTime.Time))
	d.say(AboutReason, c.Message)
	if n := o.Job.Status.Restarts; n > 0 {
		d.say(AboutRestart, fmt.Sprintf("it has been restarted %s so far; of %d failures that backoffLimit allows it has had %d", lifecycle.Times(n), o.State().BackoffLimit(), o.Job.Status.Failures))
	}
	d.ends(o)
	placed, refused := o.condition(v1.ConditionScheduled), o.refused()
	switch {
	case placed == nil:
	case placed.Status == metav1.ConditionTrue:
		d.startFailures(o)
	case refused != nil:
		d.say(AboutReason, refused.Message)
		d.say(AboutHelp, helps[refused.Reason].text)
	case o.report(corev1.ConditionFalse) != nil && (o.VolcanoJob == nil || len(o.Pods) > 0):
		d.unplaced(o)
	}
}

func (d *Description) failed(o *Objects) {
	d.head("%s has failed%s.", o.Job.Name, o.ended())
	c := o.holds(v1.ConditionFailed)
	if c == nil {
		return
	}
	d.Reason = c.Reason
	d.say(AboutReason, c.Message)
	d.ends(o)
	then := ""
	if lifecycle.IsRefusal(c.Reason) {
		then = "; then submit the job again"
	}
	if !d.help(c.Reason, "", then) {
		d.say(AboutHelp, d.logsHint(o))
	}
}

// logsHint returns how to see what a failed pod wrote.
func (d *Description) logsHint(o *Objects) string {
	for _, pod := range o.Pods {
		if m := observed.NewRolePod(pod); m.State == observed.Failed && m.Role != "" {
			return fmt.Sprintf("kubectl paddle logs %s --role %s --rank %d shows what it wrote last", o.Job.Name, m.Role, m.Index)
		}
	}
	return "its pods are gone, and their logs with them; spec.cleanPodPolicy Never keeps them the next time"
}

// restartsBefore adds the restarts that are over.
func (d *Description) restartsBefore(o *Objects) {
	n := o.Job.Status.Restarts
	if n == 0 {
		return
	}
	text := "it was restarted " + lifecycle.Times(n)
	if !observed.Finished(o.Job) {
		text += fmt.Sprintf("; of %d failures that backoffLimit allows it has had %d", o.State().BackoffLimit(), o.Job.Status.Failures)
	}
	if c := o.condition(v1.ConditionRestarting); c != nil && c.Message != "" {
		text += "; the last time: " + c.Message
	}
	d.say(AboutRestart, text)
}
