// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// controllerUser is what the API server knows the controller by (deploy/v1/operator.yaml).
const controllerUser = "system:serviceaccount:paddle-system:paddle-controller-manager"

// Kinds of jobs that are compared.
const (
	KindPaddle  = "PaddleJob"
	kindVolcano = "Volcano Job"
	// kindBare has pods that do not wait: without the status of an init container the simulated kubelets write a third less.
	kindBare = "Volcano Job without start barrier"
)

// JobSettings are those of a comparison of PaddleJobs with equal Volcano Jobs.
type JobSettings struct {
	// Jobs of 10 pods each, 2 of them servers, on simulated nodes.
	Jobs, Nodes int
	// Rounds of each of the two kinds that are compared: forth and back, so that a machine that gets slower meanwhile is unfair
	// to none.
	Rounds int
	// RunFor is how long workers run once they are placed: longer than it takes until the last pod is, since what is measured is
	// how jobs begin. kwok does not hold a container back until its environment is there either.
	RunFor time.Duration
	// Folder for controller.json; the sandboxes' state is below it as long as they run.
	Folder string
	// Patience is how long a round may go without any progress before it is given up.
	Patience time.Duration
}

// DefaultJobs returns what the bars are for.
func DefaultJobs() JobSettings {
	return JobSettings{Jobs: barJobs, Nodes: 200, Rounds: 3, RunFor: 8 * time.Minute, Folder: "_output/bench", Patience: 2 * time.Minute}
}

// PodsOfJob are 2 servers and 8 workers.
const PodsOfJob = 10

func (s *JobSettings) check() error {
	switch {
	case s.Jobs < 1 || s.Nodes < 1 || s.Rounds < 1:
		return errors.New("jobs, nodes and rounds must each be 1 or more")
	case s.Patience < time.Second:
		return fmt.Errorf("patience is %s: give a round at least a second", s.Patience)
	}
	return nil
}

func (s *JobSettings) load(kind string) load.Load {
	l := load.Load{Form: load.VolcanoJobs, Gangs: s.Jobs, Gang: PodsOfJob, NoGPUs: true, RunFor: s.RunFor}
	switch kind {
	case KindPaddle:
		l.Form = load.PaddleJobs
	case kindVolcano:
		l.Barrier = "barrier" // kwok runs no image
	}
	return l
}

// JobRound is what one round took, in seconds from the first create.
type JobRound struct {
	Kind string `json:"kind"`
	// Created is when the last pod had been created, Ready when every pod had an IP and, of PaddleJobs, every job its
	// environment.
	Created float64 `json:"created_s"`
	Ready   float64 `json:"ready_s"`
	// AllRunning is when every pod had been Running.
	AllRunning float64 `json:"all_running_s"`
	// Timeline is when each kind of object was created, and pods were bound and ran.
	Timeline []times.Stage `json:"timeline"`
	// Ended is how many pods had ended by then: of none is the end part of what is measured, if workers run for long enough.
	Ended int `json:"ended_before_ready,omitempty"`
	// Running is how many pods ran by then, and Requests the writes of all users: rounds are comparable if both are equal.
	Running  int            `json:"running_when_ready"`
	Requests map[string]int `json:"writes_until_ready"`
	// Processes are what each has used until then, by name.
	Processes map[string]usage.Process `json:"processes"`
	// Of the last round of PaddleJobs, which lasts until every job is Completed: when that was, the controller's peak of
	// resident memory, what it wrote, by verb and resource, and its Events.
	Completed float64        `json:"completed_s,omitempty"`
	RSS       float64        `json:"controller_rss_mib,omitempty"`
	Writes    map[string]int `json:"writes,omitempty"`
	Events    int            `json:"events,omitempty"`
	// WritesBy is how often each user had written by then, Events included.
	WritesBy map[string]int `json:"writes_by,omitempty"`
}

// Round runs one round in a new sandbox. All kinds have paddle-scheduler and paddlejob-controller, which has nothing to do for
// Volcano Jobs. A whole round lasts until every job is Completed, and the controller's writes are counted.
func (s *JobSettings) Round(ctx context.Context, kind string, whole bool, progress io.Writer) (r JobRound, err error) {
	at, err := (&Settings{Folder: s.Folder, Patience: s.Patience}).start(ctx, s.Nodes, progress)
	if err != nil {
		return r, err
	}
	defer func() {
		if err = errors.Join(err, at.Close(err != nil)); err != nil {
			err = fmt.Errorf("round of %s: %w", kind, err)
		}
	}()
	if err := at.StartComponent(sandbox.Scheduler); err != nil {
		return r, err
	}
	at.History = times.New(load.Namespace)
	at.History.Watch(controllerUser)
	mark, err := usage.Begin(at.Plane)
	if err != nil {
		return r, err
	}
	l, begin := s.load(kind), time.Now()
	if err := l.Submit(ctx, at.Plane); err != nil {
		return r, err
	}
	if err := at.AwaitPods(ctx, "created", l.Pods(), func() int { return at.History.Created }); err != nil {
		return r, err
	}
	r = JobRound{Kind: kind, Created: time.Since(begin).Seconds()}
	known := func() int {
		if kind == KindPaddle {
			return min(at.History.Addressed, PodsOfJob*at.History.Environments)
		}
		return at.History.Addressed
	}
	if err := at.AwaitPods(ctx, "known to their peers", l.Pods(), known); err != nil {
		return r, err
	}
	r.Ready, r.Ended, r.Running, r.Requests = time.Since(begin).Seconds(), at.History.Ended, at.History.Running, written(at.History.Calls())
	if r.Processes, err = mark.Since(at.Plane); err != nil {
		return r, err
	}
	if err := at.AwaitPods(ctx, "that have been Running", l.Pods(), func() int { return at.History.Running }); err != nil {
		return r, err
	}
	r.AllRunning, r.Timeline = time.Since(begin).Seconds(), at.History.Timeline()
	if !whole {
		return r, nil
	}
	if err := s.completed(ctx, at); err != nil {
		return r, err
	}
	r.Completed = time.Since(begin).Seconds()
	if err := at.Read(); err != nil {
		return r, err
	}
	calls := at.History.Calls()
	r.WritesBy = map[string]int{}
	for user, of := range calls {
		r.WritesBy[user] = sumOf(written(times.Calls{user: of}))
	}
	r.Writes = written(times.Calls{controllerUser: calls[controllerUser]})
	for what, n := range r.Writes {
		if strings.HasSuffix(what, " events") {
			r.Events += n
			delete(r.Writes, what)
		}
	}
	_, r.RSS, err = at.Memory(sandbox.Controller)
	return r, err
}

// completed waits until the controller has written the last status of each job.
func (s *JobSettings) completed(ctx context.Context, at *site) error {
	at.Patience = s.Patience + s.RunFor
	var failed, listed error
	asked := time.Time{}
	done := 0
	err := at.AwaitPods(ctx, "of jobs that are Completed", s.Jobs*PodsOfJob, func() int {
		if time.Since(asked) < time.Second {
			return PodsOfJob * done
		}
		asked, done = time.Now(), 0
		list, err := at.Paddle.BatchV1().PaddleJobs(load.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			listed = fmt.Errorf("list PaddleJobs: %w", err)
			return s.Jobs * PodsOfJob
		}
		for i := range list.Items {
			switch phase := list.Items[i].Status.Phase; phase {
			case v1.Completed:
				done++
			case v1.Failed:
				failed = fmt.Errorf("job %s has failed", list.Items[i].Name)
				return s.Jobs * PodsOfJob
			}
		}
		return PodsOfJob * done
	})
	return errors.Join(err, listed, failed)
}

// written returns the writes of all users in calls.
func written(calls times.Calls) map[string]int {
	writes := map[string]int{}
	for _, of := range calls {
		for what, n := range of {
			switch verb, _, _ := strings.Cut(what, " "); verb {
			case "create", "update", "patch", "delete", "deletecollection":
				writes[what] += n
			}
		}
	}
	return writes
}

// Bars of PaddleJobs compared with equal Volcano Jobs.
const (
	barJobs   = 1000
	ratioBar  = 1.3
	rssBar    = 200
	writesBar = 8
	eventsBar = 5
)

// JobReport is what controller.json holds. Times are medians over the rounds, memory and writes those of the whole round.
type JobReport struct {
	Jobs       int     `json:"jobs"`
	Pods       int     `json:"pods"`
	Nodes      int     `json:"nodes"`
	PaddleJob  float64 `json:"paddlejob_s"`
	VolcanoJob float64 `json:"volcano_job_s"`
	Ratio      float64 `json:"ratio"`
	// PaddleJobRate and VolcanoJobRate are pods per second from the first create until every pod has been Running.
	PaddleJobRate  float64 `json:"paddlejob_pods_per_second"`
	VolcanoJobRate float64 `json:"volcano_job_pods_per_second"`
	// Bare are Volcano Jobs whose pods have no start barrier.
	Bare        float64    `json:"volcano_job_without_barrier_s"`
	BareRatio   float64    `json:"ratio_without_barrier"`
	RSS         float64    `json:"controller_rss_mib"`
	Writes      float64    `json:"writes_per_job"`
	Events      float64    `json:"events_per_job"`
	RoundsTaken []JobRound `json:"rounds"`
	// RunFor is how long workers ran, in seconds.
	RunFor  float64        `json:"worker_run_for_s"`
	Machine result.Machine `json:"machine"`
	Bars    []bars.Bar     `json:"bars"`
}

// turns returns the kinds of the rounds in their order. The two kinds that are compared go first in turn; the third, which no bar
// is about, has one round.
func (s *JobSettings) turns() []string {
	kinds := []string{kindBare}
	for i := range s.Rounds {
		pair := []string{kindVolcano, KindPaddle}
		if i%2 == 1 {
			slices.Reverse(pair)
		}
		kinds = append(kinds, pair...)
	}
	return kinds
}

// RunJobs compares, and writes controller.json.
func RunJobs(ctx context.Context, s JobSettings, progress io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	var rounds []JobRound
	turns := s.turns()
	for i, kind := range turns {
		whole := kind == KindPaddle && !slices.Contains(turns[i+1:], KindPaddle)
		taken, err := s.Round(ctx, kind, whole, progress)
		if err != nil {
			return err
		}
		result.Say(progress, "%s: %d jobs: pods created after %.1f s, peers known after %.1f s, all Running after %.1f s", kind, s.Jobs, taken.Created, taken.Ready, taken.AllRunning)
		if taken.Ended > 0 {
			result.Say(progress, "%d pods had ended before the last was ready: let workers run for longer (--run-for)", taken.Ended)
		}
		rounds = append(rounds, taken)
	}
	return result.Write(s.Folder, "controller.json", s.report(rounds))
}

func (s *JobSettings) report(rounds []JobRound) *JobReport {
	r := &JobReport{
		Jobs: s.Jobs, Pods: s.Jobs * PodsOfJob, Nodes: s.Nodes, RunFor: s.RunFor.Seconds(), Machine: result.ThisMachine(), RoundsTaken: rounds,
	}
	taken, rates := map[string][]float64{}, map[string][]float64{}
	for i := range rounds {
		round := &rounds[i]
		taken[round.Kind] = append(taken[round.Kind], round.Ready)
		rates[round.Kind] = append(rates[round.Kind], float64(r.Pods)/round.AllRunning)
		r.RSS = max(r.RSS, round.RSS)
		r.Writes = max(r.Writes, float64(sumOf(round.Writes))/float64(s.Jobs))
		r.Events = max(r.Events, float64(round.Events)/float64(s.Jobs))
	}
	r.PaddleJob, r.VolcanoJob, r.Bare = stats.Median(taken[KindPaddle]), stats.Median(taken[kindVolcano]), stats.Median(taken[kindBare])
	r.Ratio, r.BareRatio = r.PaddleJob/r.VolcanoJob, r.PaddleJob/r.Bare
	r.PaddleJobRate, r.VolcanoJobRate = stats.Median(rates[KindPaddle]), stats.Median(rates[kindVolcano])
	r.Bars = append(bars.OfSlice(s.Jobs >= barJobs,
		bars.Most("time of PaddleJobs by that of equal Volcano Jobs", r.Ratio, ratioBar),
		bars.Most("controller's memory, MiB", r.RSS, rssBar)),
		bars.Most("writes per job, Events apart", r.Writes, writesBar),
		bars.Most("Events per job", r.Events, eventsBar),
	)
	return r
}

// ProcessorSeconds returns what each process has used until the pods knew their peers, by process and kind, of each round: where
// the machine's processors are all busy, the time is made of it.
func (r *JobReport) ProcessorSeconds() map[string]map[string][]float64 {
	used := map[string]map[string][]float64{}
	for i := range r.RoundsTaken {
		round := &r.RoundsTaken[i]
		for name, process := range round.Processes {
			if used[name] == nil {
				used[name] = map[string][]float64{}
			}
			used[name][round.Kind] = append(used[name][round.Kind], process.CPU)
		}
	}
	return used
}

func sumOf(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
