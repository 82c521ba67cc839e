// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// performance is one run of all jobs.
type performance struct {
	out         io.Writer
	started     time.Time
	stories     []*Story
	byNamespace map[string]*Story
	submitted   chan submission
	// limit bounds the whole; afterwards is how long the job that does not fit is watched once all others have ended.
	limit, afterwards time.Duration
}

// submission tells that a job was handed to the API server.
type submission struct {
	job      Job
	warnings []string
	err      error
}

func newPlay(out io.Writer, jobs []Job) *performance {
	p := &performance{
		out: out, started: time.Now(), byNamespace: map[string]*Story{}, submitted: make(chan submission),
		limit: limit, afterwards: afterwards,
	}
	for _, job := range jobs {
		story := NewStory(job, 0)
		p.stories = append(p.stories, story)
		p.byNamespace[job.Name] = story
	}
	return p
}

func (p *performance) now() time.Duration { return time.Since(p.started) }

func (p *performance) tell(job string, lines ...string) {
	for _, line := range lines {
		say(p.out, "%6.1fs  %-18s %s", p.now().Seconds(), job, line)
	}
}

// submitAll submits the jobs one after the other and reports each.
func (p *performance) submitAll(ctx context.Context, s *submitter) {
	for _, story := range p.stories {
		warnings, err := s.submit(ctx, story.Job)
		select {
		case p.submitted <- submission{story.Job, warnings, err}:
		case <-ctx.Done():
			return
		}
	}
}

// follow takes in what is seen until every story is settled and the job that does not fit had its last chance, or
// until the limit is over: that is then for the verdict.
func (p *performance) follow(ctx context.Context, news <-chan seen, failed <-chan error) error {
	over := time.After(p.limit)
	var lastChance <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the demo was interrupted: %w", context.Cause(ctx))
		case err := <-failed:
			return err
		case s := <-p.submitted:
			if s.err != nil {
				return s.err
			}
			p.byNamespace[s.job.Name].Submitted = p.now()
			p.tell(s.job.Name, "submitted "+strings.Join(s.job.Files, " and "))
			for _, warning := range s.warnings {
				p.tell(s.job.Name, "the API server warns: "+warning)
			}
		case n := <-news:
			p.take(n)
			if lastChance == nil && p.settled() {
				lastChance = time.After(p.afterwards)
			}
		case <-lastChance:
			return nil
		case <-over:
			p.tell("", fmt.Sprintf("giving up: not every job has ended after %s", p.limit))
			return nil
		}
	}
}

func (p *performance) take(n seen) {
	story, ours := p.byNamespace[n.namespace]
	switch {
	case !ours:
	case n.pod != nil:
		p.tell(story.Job.Name, story.SeePod(*n.pod)...)
	case n.status != nil:
		p.tell(story.Job.Name, story.SeeStatus(p.now(), *n.status)...)
	}
}

func (p *performance) settled() bool {
	for _, story := range p.stories {
		if !story.Settled() {
			return false
		}
	}
	return true
}

func (p *performance) faults(nodes map[string]Node) []string {
	var faults []string
	for _, story := range p.stories {
		for _, fault := range story.Faults(nodes) {
			faults = append(faults, story.Job.Name+": "+fault)
		}
	}
	return faults
}
