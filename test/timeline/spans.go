// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"time"
)

// Phase is what a time was spent on.
type Phase string

// The phases, in their order.
const (
	Admission   Phase = "admission: the Volcano Job is made"
	Enqueue     Phase = "enqueue: the queue lets the gang in"
	Pods        Phase = "pods are made"
	Plan        Phase = "plan: the scheduler's next cycle"
	Bind        Phase = "bind"
	Image       Phase = "sandbox, network, image"
	Environment Phase = "environment: all addresses are gathered and written"
	Backoff     Phase = "environment, kubelet's back-off"
	Container   Phase = "container is made"
	Names       Phase = "names, DNS: the start barrier"
	Main        Phase = "main container starts"
	Program     Phase = "program: until its first step"
	Serving     Phase = "serves"
)

// Phases are all of them.
func Phases() []Phase {
	return []Phase{Admission, Enqueue, Pods, Plan, Bind, Image, Environment, Backoff, Container, Names, Main, Program, Serving}
}

// Span is a time that one phase took, counted from the job's creation.
type Span struct {
	Phase    Phase
	From, To time.Duration
	// Note says more.
	Note string
}

// Took is the span's length.
func (s Span) Took() time.Duration { return s.To - s.From }

// Row is what is drawn in one line: the job as a whole, or one of its pods.
type Row struct {
	Name  string
	Spans []Span
}

// mark is a phase's end.
type mark struct {
	phase Phase
	at    time.Time
	note  string
}

// spans put the marks one after the other. One that lies before its predecessor took no time: it was there already. One that
// is not known leaves its time to the next.
func (s *Stamps) spans(begin time.Time, marks ...mark) (spans []Span) {
	for _, m := range marks {
		if m.at.IsZero() || begin.IsZero() {
			continue
		}
		end := m.at
		if end.Before(begin) {
			end = begin
		}
		spans = append(spans, Span{Phase: m.phase, From: begin.Sub(s.Created), To: end.Sub(s.Created), Note: m.note})
		begin = end
	}
	return spans
}

// Path is the way of the whole gang, span after span without a gap: each phase ends when it has for the last of the pods,
// but for the first training step, which is the first that any pod tells of.
func (s *Stamps) Path() []Span {
	pods := s.first()
	bound := func(p Pod) time.Time { return p.Bound }
	// The plugin may say that the gang is placed before the first of its pods is bound, or after.
	decided := s.Placed
	for _, pod := range pods {
		decided = earliest(decided, pod.Bound)
	}
	start := Container
	for _, pod := range pods {
		if pod.backedOff() {
			start = Backoff
		}
	}
	return s.spans(s.Created,
		mark{Admission, s.VolcanoJob, ""},
		mark{Enqueue, s.Enqueued, ""},
		mark{Pods, latest(pods, func(p Pod) time.Time { return p.Created }), fmt.Sprintf("%d pods", len(pods))},
		mark{Plan, decided, s.planNote()},
		mark{Bind, latest(pods, bound), ""},
		mark{Image, latest(pods, func(p Pod) time.Time { return p.Pulled }), ""},
		mark{Environment, s.Environment, s.environmentNote(pods)},
		mark{start, latest(pods, Pod.starts), startNote(start)},
		mark{Names, latest(pods, func(p Pod) time.Time { return p.Barrier.Ended }), ""},
		mark{Main, latest(pods, func(p Pod) time.Time { return p.Main.Started }), ""},
		mark{Program, s.firstStep(), ""},
	)
}

// Rows are the whole gang's path, and the way of each pod.
func (s *Stamps) Rows() []Row {
	rows := []Row{{Name: "the gang", Spans: s.Path()}}
	for _, pod := range s.first() {
		rows = append(rows, Row{Name: pod.Name, Spans: s.way(pod)})
	}
	return rows
}

// way is what one pod's time was spent on, from its creation.
func (s *Stamps) way(pod Pod) []Span {
	marks := []mark{{Plan, pod.Bound, ""}, {Image, pod.Pulled, ""}}
	start := Container
	if !pod.starts().IsZero() && s.Environment.Before(pod.starts()) {
		marks = append(marks, mark{Environment, s.Environment, ""})
	}
	if pod.backedOff() {
		start = Backoff
	}
	marks = append(marks, mark{start, pod.starts(), startNote(start)}, mark{Names, pod.Barrier.Ended, ""}, mark{Main, pod.Main.Started, ""})
	if pod.FirstStep.IsZero() {
		marks = append(marks, mark{Serving, s.firstStep(), ""})
	} else {
		marks = append(marks, mark{Program, pod.FirstStep, ""})
	}
	return s.spans(pod.Created, marks...)
}

func (s *Stamps) planNote() string {
	if s.Plan == 0 {
		return ""
	}
	return "the plan itself took " + seconds(s.Plan)
}

func (s *Stamps) environmentNote(pods []Pod) string {
	last := latest(pods, func(p Pod) time.Time { return p.Addressed })
	switch {
	case s.Environment.IsZero() || last.IsZero():
		return ""
	case s.Environment.Before(last):
		return "written before the pods had addresses"
	}
	return seconds(s.Environment.Sub(last)) + " after the last pod's address"
}

func startNote(start Phase) string {
	if start == Backoff {
		return "containers that lacked it are tried again after a pause"
	}
	return ""
}

// seconds writes a duration with as many digits as mean something.
func seconds(d time.Duration) string {
	if d.Abs() < 100*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
