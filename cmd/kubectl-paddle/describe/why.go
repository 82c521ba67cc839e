// SPDX-License-Identifier: Apache-2.0

// Package describe turns the objects of a PaddleJob into sentences and rows of tables. It makes no API calls and reads no clock.
package describe

import (
	"cmp"
	"strconv"
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
	catalog   report.Catalog
}

// Sentence is one detail.
type Sentence struct {
	About   About    `json:"about"`
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"` // the figures behind it, one a line
}

// Lines returns sentences in the language of a catalog as lines, what helps as a list, with what pods wrote last, and the figures behind other sentences if details is set.
func Lines(c report.Catalog, sentences []Sentence, details bool) (lines []string) {
	for i, s := range sentences {
		text := "  " + s.Text
		if s.About == AboutHelp {
			text = "  - " + s.Text
			if i == 0 || sentences[i-1].About != AboutHelp {
				lines = append(lines, "  "+c["why.helps"])
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

// unseen is how long the controller may take before a job is reported to have none.
const unseen = 30 * time.Second

func (d *Description) add(about About, text string, details ...string) {
	if text = report.Sentence(text); text != "" {
		d.Sentences = append(d.Sentences, Sentence{About: about, Text: text, Details: details})
	}
}

func (d *Description) addText(about About, key string, pairs ...string) {
	d.add(about, d.catalog.Text(key, pairs...))
}

// suggest adds a change that helps, for programs and in words.
func (d *Description) suggest(kind report.Kind, value, text string) {
	d.Suggestions = append(d.Suggestions, report.Suggestion{Kind: kind, Value: value, Text: text})
	d.add(AboutHelp, text)
}

// kinds are those of the suggestions for programs to a job that is Stalled, is refused its pods or has failed, by the reason. The
// catalog has their texts, and those of reasons without a suggestion. Package report has the scheduler's.
var kinds = map[string]report.Kind{
	lifecycle.ReasonQueueNotFound:        report.CreateObject,
	lifecycle.ReasonQueueNotOpen:         report.OpenQueue,
	lifecycle.ReasonQuotaExceeded:        report.RaiseResourceQuota,
	lifecycle.ReasonPodSecurityViolation: ChangePodTemplate,
	lifecycle.ReasonPodsRefused:          ChangePodTemplate,
}

// help adds what helps a job with a reason, and what then happens by the key of the catalog. It reports whether that is known.
func (d *Description) help(reason, value, then string) bool {
	text := d.catalog["why.help."+reason]
	if text == "" {
		return false
	}
	if then != "" {
		text = d.catalog.Text(then, "help", text)
	}
	if kind := kinds[reason]; kind != "" {
		d.suggest(kind, value, text)
	} else {
		d.add(AboutHelp, text)
	}
	return true
}

// lacks adds an object without which the job does not start.
func (d *Description) lacks(object report.Object) {
	if d.Missing == nil {
		d.Missing = &report.Missing{}
	}
	d.Missing.Objects = append(d.Missing.Objects, object)
}

func (d *Description) head(key string, pairs ...string) { d.Headline = d.catalog.Text(key, pairs...) }

// Why returns the state of a job and its reasons.
func Why(o *Objects) *Description {
	job := o.Job
	d := &Description{Namespace: job.Namespace, Name: job.Name, Phase: job.Status.Phase, Unread: o.Unread, catalog: o.Catalog}
	if d.catalog == nil {
		d.catalog = report.English
	}
	switch {
	case job.DeletionTimestamp != nil:
		d.head("why.deleted", "job", job.Name, "age", o.since(job.DeletionTimestamp.Time))
		return d
	case observed.Outcome(&job.Status) == v1.Completed:
		d.head("why.completed", "job", job.Name, "ended", d.ended(o))
		d.restartsBefore(o)
	case observed.Finished(job):
		d.failed(o)
	case unprocessed(job):
		d.head("why.unprocessed", "job", job.Name, "age", o.since(job.CreationTimestamp.Time))
		if o.Now.Sub(job.CreationTimestamp.Time) > unseen {
			d.addText(AboutHelp, "why.help.controller")
		}
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

func (d *Description) stalled(o *Objects) {
	c := o.holds(v1.ConditionStalled)
	d.Reason = c.Reason
	d.head("why.stalled", "job", o.Job.Name, "reason", c.Reason)
	d.add(AboutReason, c.Message)
	edit, value := d.catalog.Text("why.help.edit", "job", o.Job.Name), ""
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
		edit = d.catalog.Text("why.help.create-class", "help", edit)
	}
	if c.Reason != lifecycle.ReasonAborted && !d.help(c.Reason, value, "why.help.by-itself") {
		d.addText(AboutHelp, "why.help.by-itself", "help", edit)
	}
	d.queue(o)
}

func (d *Description) suspended(o *Objects) {
	c := o.holds(v1.ConditionSuspended)
	switch {
	case !observed.SuspendSet(o.Job):
		d.head("why.resumed", "job", o.Job.Name)
	case c.Reason != lifecycle.ReasonSuspended:
		d.head("why.suspending", "job", o.Job.Name)
	default:
		d.head("why.suspended", "job", o.Job.Name, "age", o.since(c.LastTransitionTime.Time))
		d.addText(AboutHelp, "why.help.resume", "job", o.Job.Name)
	}
}

// ended returns how long ago a job ended, and how long it trained.
func (d *Description) ended(o *Objects) string {
	status := &o.Job.Status
	if status.CompletionTime == nil {
		return ""
	}
	age := o.since(status.CompletionTime.Time)
	if status.StartTime != nil {
		if took := status.CompletionTime.Sub(status.StartTime.Time); took > 0 {
			return d.catalog.Text("why.trained", "age", age, "duration", duration.HumanDuration(took))
		}
	}
	return d.catalog.Text("why.ended", "age", age)
}

// spec adds what the controller reports about the spec, and when a finished job is deleted.
func (d *Description) spec(o *Objects) {
	// A job that has completed did without Paddle's launcher.
	if c := o.condition(v1.ConditionLauncherUsable); c != nil && c.Status == metav1.ConditionFalse && observed.Outcome(&o.Job.Status) != v1.Completed {
		d.add(AboutSpec, c.Message)
	}
	if run, end := o.Job.Spec.RunPolicy, o.Job.Status.CompletionTime; end != nil && run != nil && run.TTLSecondsAfterFinished != nil {
		left := time.Duration(*run.TTLSecondsAfterFinished)*time.Second - o.Now.Sub(end.Time)
		d.addText(AboutSpec, "why.ttl", "age", duration.HumanDuration(max(left, 0)))
	}
	if seen := o.Job.Status.ObservedGeneration; seen > 0 && seen < o.Job.Generation {
		d.addText(AboutSpec, "why.spec-unprocessed")
	}
	switch c := o.holds(v1.ConditionCreated); {
	case c == nil || c.Message == "":
	case c.Reason == lifecycle.ReasonSpecChangeNotApplied, c.Reason == lifecycle.ReasonSpecChangeRefused:
		d.addText(AboutSpec, "why.spec-ignored", "reason", c.Reason, "message", c.Message)
	default:
		d.addText(AboutSpec, "why.spec-warning", "message", c.Message)
	}
}

func (d *Description) restarting(o *Objects) {
	c := o.holds(v1.ConditionRestarting)
	d.Reason = c.Reason
	d.head("why.restarting", "job", o.Job.Name, "age", o.since(c.LastTransitionTime.Time))
	d.add(AboutReason, c.Message)
	if o.Job.Status.Restarts > 0 {
		d.add(AboutRestart, d.restarts(o, "why.restarts"))
	}
	d.ends(o)
	placed, refused := o.condition(v1.ConditionScheduled), o.refused()
	switch {
	case placed == nil:
	case placed.Status == metav1.ConditionTrue:
		d.startFailures(o)
	case refused != nil:
		d.add(AboutReason, refused.Message)
		d.addText(AboutHelp, "why.help."+refused.Reason)
	case reportOf(o.PodGroup, corev1.ConditionFalse) != nil && (o.VolcanoJob == nil || len(o.Pods) > 0):
		d.unplaced(o)
	}
}

func (d *Description) failed(o *Objects) {
	d.head("why.failed", "job", o.Job.Name, "ended", d.ended(o))
	c := o.holds(v1.ConditionFailed)
	if c == nil {
		return
	}
	d.Reason = c.Reason
	d.add(AboutReason, c.Message)
	d.ends(o)
	then := ""
	if lifecycle.IsRefusal(c.Reason) {
		then = "why.help.submit-again"
	}
	if !d.help(c.Reason, "", then) {
		d.add(AboutHelp, d.logsHint(o))
	}
}

// logsHint returns how to see what a failed pod wrote.
func (d *Description) logsHint(o *Objects) string {
	for _, pod := range o.Pods {
		if m := observed.NewRolePod(pod); m.State == observed.Failed && m.Role != "" {
			return d.catalog.Text("why.help.logs", "job", o.Job.Name, "role", m.Role, "rank", strconv.Itoa(m.Index))
		}
	}
	return d.catalog["why.help.no-logs"]
}

// restartsBefore adds the restarts that are over.
func (d *Description) restartsBefore(o *Objects) {
	if o.Job.Status.Restarts == 0 {
		return
	}
	key := "why.restarted-so-far"
	if observed.Finished(o.Job) {
		key = "why.restarted"
	}
	text := d.restarts(o, key)
	if c := o.condition(v1.ConditionRestarting); c != nil && c.Message != "" {
		text = d.catalog.Text("why.last-restart", "restarts", text, "message", c.Message)
	}
	d.add(AboutRestart, text)
}

// restarts returns the text of a key about the restarts of a job, and the failures that it may have.
func (d *Description) restarts(o *Objects, key string) string {
	n := strconv.Itoa(int(o.Job.Status.Restarts))
	times := cmp.Or(d.catalog["why.times."+n], d.catalog.Text("why.times", "n", n))
	return d.catalog.Text(key, "times", times, "limit", strconv.Itoa(int(o.BackoffLimit())), "failures", strconv.Itoa(int(o.Job.Status.Failures)))
}
