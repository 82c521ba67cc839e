// SPDX-License-Identifier: Apache-2.0

// Package churn draws jobs that come and go at a load, and sums up what became of them. It is arithmetic on a seed and on what the
// audit log has; nothing is submitted here.
package churn

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Settings of a draw.
type Settings struct {
	Seed uint64
	// Load is the GPU-seconds for which jobs run in the window, by those of the cluster.
	Load float64
	// GPUs of the cluster.
	GPUs int
	// Window is how long jobs arrive.
	Window time.Duration
	// RunFor is how long a job of the trace runs, in the mean. The jobs of a short window are a small sample of them.
	RunFor time.Duration
}

// Job is one that comes and goes.
type Job struct {
	cluster.Job
	// Before reports that the job runs when the window begins.
	Before bool
	// Arrival is since the beginning of the window.
	Arrival time.Duration
	// RunFor is how long the job runs: since its start, when kwok ends its pods but for servers; or, if it ran before, since the beginning
	// of the window.
	RunFor time.Duration
}

// longest is the cap of the trace's durations in seconds: three and a half times their mean.
const longest = 24 * 60 * 60

// Draw returns the jobs of a window: first those that run when it begins, then the others in the order of their arrival. Pods, gangs
// and frameworks are those of the trace's realistic mix, and durations are the trace's, scaled. A job that would run beyond the end
// of the window runs for the same time at its beginning too. So the jobs have exactly the load of the settings if each starts
// when it arrives.
func Draw(prefix string, s Settings) ([]Job, error) {
	rows := philly.Rows()
	seconds, gpuSeconds := 0.0, 0.0
	for i := range rows {
		d := min(rows[i].Duration, longest)
		seconds += d
		gpuSeconds += float64(rows[i].GPUs) * d
	}
	count := s.Load * float64(s.GPUs) * (s.Window.Seconds() / s.RunFor.Seconds()) * (seconds / gpuSeconds)
	drawn, err := workload.Draw(rows, workload.Settings{
		Seed: s.Seed, Load: s.Load, GPUs: s.GPUs, Jobs: max(1, int(math.Round(count))), Cap: longest,
		Mix: workload.Realistic, PSShare: -1, Sparse: 1,
	})
	if err != nil {
		return nil, err
	}
	scaled := func(seconds float64) time.Duration {
		return time.Duration(seconds / drawn.Window * float64(s.Window)).Round(time.Millisecond)
	}
	var before, arriving []Job
	for _, of := range drawn.Jobs {
		if !of.Measured {
			continue
		}
		job := Job{Job: of.Job, Arrival: scaled(of.Arrival), RunFor: max(time.Millisecond, scaled(of.Ideal()))}
		arriving = append(arriving, job)
		for left := job.Arrival + job.RunFor - s.Window; left > 0; left -= s.Window {
			before = append(before, Job{Job: of.Job, Before: true, RunFor: left})
		}
	}
	jobs := slices.Concat(before, arriving)
	for i := range jobs {
		job := &jobs[i]
		job.Name, job.Roles = fmt.Sprintf("%s%05d", prefix, i), slices.Clone(job.Roles)
		for r := range job.Roles {
			runFor := "forever"
			if role := &job.Roles[r]; !job.Before && role.Task != cluster.ServerTask {
				runFor = job.RunFor.String()
			}
			job.Roles[r].Annotations = map[string]string{stages.AnnotationRunFor: runFor}
		}
	}
	return jobs, nil
}

// each calls see with each pod of the job, nil if the history does not have it.
func (j *Job) each(pods map[string]*times.Pod, see func(role *cluster.Role, pod *times.Pod)) {
	for i := range j.Roles {
		role := &j.Roles[i]
		for index := range role.Pods {
			see(role, pods[j.PodName(role.Task, index)])
		}
	}
}

// Finished returns when the last pod finished that is no server, which runs until it is deleted. It is zero while one has not.
func (j *Job) Finished(pods map[string]*times.Pod) (last time.Time) {
	all := true
	j.each(pods, func(role *cluster.Role, pod *times.Pod) {
		switch {
		case role.Task == cluster.ServerTask:
		case pod == nil || pod.Ended.IsZero():
			all = false
		case pod.Ended.After(last):
			last = pod.Ended
		}
	})
	if !all {
		return time.Time{}
	}
	return last
}
