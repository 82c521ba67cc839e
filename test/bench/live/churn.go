// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/churn"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Churn is how a scheduler and all other programs did while jobs came and went.
type Churn struct {
	Scheduler string  `json:"scheduler"`
	Nodes     int     `json:"nodes"`
	Load      float64 `json:"load"`
	Seconds   float64 `json:"seconds"`
	// RunFor is how long jobs run, in the mean of the trace.
	RunFor float64 `json:"run_for_s"`
	churn.Figures
	// Others are the requests of another user of the cluster.
	Others Answers `json:"others"`
	// Processes are what each program had used at the beginning, in the middle and at the end of the window.
	Processes []map[string]usage.Process `json:"processes"`
	// Writes and Events are those of each user, for each pod that was bound.
	Writes map[string]float64 `json:"writes_per_pod"`
	Events map[string]float64 `json:"events_per_pod"`
	// Dropped Events are those that the scheduler logged.
	Dropped  int       `json:"events_logged_as_dropped"`
	Failover *Failover `json:"failover,omitempty"`
}

const (
	churnSeed = 1
	// atOnce is how many jobs are created or deleted at a time at most.
	atOnce = 32
	// finishedFor is how long a job has finished before its user deletes it.
	finishedFor = 5 * time.Second
	// stalled is how long no pod may start before the window begins although some of the first jobs do not run.
	stalled = 30 * time.Second
	// afterwards is how long no Event Scheduled may come after the window before those that are missing count as lost.
	afterwards = 30 * time.Second
)

// churnLoads are parts of the cluster's GPUs.
var churnLoads = []float64{0.7, 0.9}

// eventBodies is a rule of the audit policy: what the schedulers' Events are about.
const eventBodies = `- level: Request
  users: ["` + volcanoUser + `"]
  resources: [{resources: ["events"]}]
`

// churns has jobs come and go at each load and with each scheduler.
func (s *Settings) churns(ctx context.Context, r *Report, progress io.Writer) error {
	nodes := s.Nodes[0]
	return s.on(ctx, nodes, progress, func(p *player) error {
		own, err := p.addUser(ctx)
		if err != nil {
			return err
		}
		for round, part := range churnLoads {
			draw := churn.Settings{Seed: churnSeed, Load: part, GPUs: nodes * load.GPUsOfNode, Window: s.Churn, RunFor: s.RunFor}
			for _, who := range order(s.Schedulers, load.VolcanoJobs, round) {
				if slices.ContainsFunc(r.Churn, func(c Churn) bool { return c.Nodes == nodes && c.Load == part && c.Scheduler == who }) {
					continue
				}
				c, err := p.comeAndGo(ctx, draw, who, own)
				if err != nil {
					return fmt.Errorf("jobs come and go, load %g, %s: %w", part, who, err)
				}
				c.Nodes = nodes
				r.Churn = append(r.Churn, c)
				result.Say(progress, "jobs come and go, load %g: %s bound %.1f pods/s and held %.0f %%; others waited %.3f s at most", part, who, c.Bound, 100*c.Held, c.Others.Write.Max)
				if err := r.write(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// turnover is a window in which jobs come and go.
type turnover struct {
	*player
	jobs      []churn.Job
	begin     time.Time
	scheduled map[string]bool
}

func (p *player) comeAndGo(ctx context.Context, s churn.Settings, who string, own corev1client.ConfigMapInterface) (c Churn, err error) {
	p.series++
	c = Churn{Scheduler: who, Load: s.Load, Seconds: s.Window.Seconds(), RunFor: s.RunFor.Seconds()}
	t := &turnover{player: p, scheduled: map[string]bool{}}
	if t.jobs, err = churn.Draw(fmt.Sprintf("s%dj", p.series), s); err != nil {
		return c, err
	}
	p.History = times.New(load.Namespace)
	p.History.Watch("") // calls are counted, and no writes are kept
	component := binderOf(who).component
	if err := p.startBinder(who); err != nil {
		return c, err
	}
	if err := t.fill(ctx); err != nil {
		return c, err
	}
	log, err := os.Open(p.Logs(component))
	if err != nil {
		return c, fmt.Errorf("read the scheduler's log: %w", err)
	}
	defer log.Close() //nolint:errcheck // it is only read
	if _, err := log.Seek(0, io.SeekEnd); err != nil {
		return c, fmt.Errorf("read the scheduler's log: %w", err)
	}
	asking, stop := context.WithCancel(ctx)
	asked := make(chan Answers)
	go ask(ctx, asking, own, asked)
	c.Processes, err = t.window(ctx, s.Window)
	stop()
	c.Others = <-asked
	if err != nil {
		return c, err
	}
	calls := p.History.Calls()
	p.History.Watch("")
	if c.Figures, err = t.figures(ctx, s); err != nil {
		return c, err
	}
	c.Writes, c.Events = perPod(calls, c.Pods)
	if c.Dropped, err = churn.Dropped(log); err != nil {
		return c, fmt.Errorf("read the scheduler's log: %w", err)
	}
	if who == Paddle {
		if c.Failover, err = p.failover(ctx); err != nil {
			return c, err
		}
	}
	return c, errors.Join(p.Kill(component, syscall.SIGTERM), load.Clear(ctx, p.Plane))
}

// fill creates the jobs that run when the window begins, and waits until they do, or until no more of them fit.
func (t *turnover) fill(ctx context.Context) error {
	requests, side := errgroup.WithContext(ctx)
	requests.SetLimit(atOnce)
	pods := 0
	for i := range t.jobs {
		if job := &t.jobs[i]; job.Before {
			pods += job.Pods()
			requests.Go(func() error { return load.Create(side, t.Plane, &job.Job) })
		}
	}
	if err := requests.Wait(); err != nil {
		return err
	}
	running, since := 0, time.Now()
	return t.AwaitPods(ctx, "running", pods, func() int {
		if now := t.History.Running; now > running {
			running, since = now, time.Now()
		}
		if time.Since(since) > stalled {
			return pods
		}
		return running
	})
}

// window has jobs come and go, and returns what the programs had used at its beginning, in its middle and at its end.
func (t *turnover) window(ctx context.Context, window time.Duration) (used []map[string]usage.Process, err error) {
	mark, err := usage.Begin(t.Plane)
	if err != nil {
		return nil, err
	}
	if err := t.log.Each(t.see); err != nil {
		return nil, err
	}
	t.History.Watch("")
	t.begin = time.Now()
	requests, ctx := errgroup.WithContext(ctx)
	requests.SetLimit(atOnce)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var existing []*churn.Job
	for next := 0; ; {
		if err := t.log.Each(t.see); err != nil {
			return nil, err
		}
		elapsed := time.Since(t.begin)
		if len(used) <= int(2*elapsed/window) {
			now, err := mark.Since(t.Plane)
			if err != nil {
				return nil, err
			}
			used = append(used, now)
		}
		if elapsed >= window {
			return used, requests.Wait()
		}
		for ; next < len(t.jobs) && t.jobs[next].Arrival <= elapsed; next++ {
			job := &t.jobs[next]
			existing = append(existing, job)
			if !job.Before {
				requests.Go(func() error { return load.Create(ctx, t.Plane, &job.Job) })
			}
		}
		existing = slices.DeleteFunc(existing, func(job *churn.Job) bool {
			over := elapsed >= job.Arrival+job.RunFor
			if over && !job.Before {
				finished := job.Finished(t.History.Pods)
				over = !finished.IsZero() && time.Since(finished) >= finishedFor
			}
			if over {
				requests.Go(func() error { return load.Delete(ctx, t.Plane, &job.Job) })
			}
			return over
		})
		select {
		case <-tick.C:
		case err := <-t.Failed():
			return nil, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// figures returns those of the window, once each pod that was bound in it has its Event Scheduled, or no such Event comes any more. A
// recorder sends one Event after another, which takes longer on a busy machine.
func (t *turnover) figures(ctx context.Context, s churn.Settings) (f churn.Figures, err error) {
	var awaited awaitedEvents
	for {
		if err := t.log.Each(t.see); err != nil {
			return f, err
		}
		f = churn.Sum(t.jobs, t.History.Pods, t.scheduled, t.begin, t.begin.Add(s.Window), s.GPUs)
		if awaited.over(f.Silent, time.Now()) {
			return f, nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return f, err
		}
	}
}

// awaitedEvents are those of pods that were bound in the window. Pods that are bound after it have Events too, which do not count.
type awaitedEvents struct {
	missing int
	since   time.Time
}

// over reports whether no Event is missing, or none of the missing ones has come for long enough.
func (a *awaitedEvents) over(missing int, now time.Time) bool {
	if a.since.IsZero() || missing < a.missing {
		a.missing, a.since = missing, now
	}
	return missing == 0 || now.Sub(a.since) > afterwards
}

// see takes the next entry of the log, unless it is of the other user.
func (t *turnover) see(e *auditv1.Event) {
	if e.ImpersonatedUser != nil {
		return
	}
	t.History.See(e)
	if pod := churn.Scheduled(e); pod != "" {
		t.scheduled[pod] = true
	}
}

// perPod returns the writes of each user by the number of pods, and the Events apart.
func perPod(calls times.Calls, pods int) (writes, events map[string]float64) {
	writes, events = map[string]float64{}, map[string]float64{}
	for user, of := range calls {
		for what, n := range written(times.Calls{user: of}) {
			into := writes
			if strings.HasSuffix(what, " events") {
				into = events
			}
			into[user] += float64(n) / float64(max(1, pods))
		}
	}
	return writes, events
}

// Failover is how long a program was missed that was killed (SIGKILL), and of which another process was started at once. None waits for
// a lease.
type Failover struct {
	// Scheduler is until the next pod was bound.
	Scheduler float64 `json:"scheduler_s"`
	// Controller is until a PaddleJob that was created in between had its Volcano Job.
	Controller float64 `json:"controller_s"`
}

func (p *player) failover(ctx context.Context) (f *Failover, err error) {
	f = &Failover{}
	small := cluster.Amounts{CPU: 1, Memory: 1}
	job, pod := cluster.Ring(fmt.Sprintf("s%djob", p.series), 1, small), cluster.Ring(fmt.Sprintf("s%dpod", p.series), 1, small)
	pod.Mode = cluster.Other
	if f.Scheduler, err = p.replace(ctx, sandbox.Scheduler, &pod, func(e *auditv1.Event) bool { return audit.What(e) == "create pods/binding" }); err != nil {
		return nil, err
	}
	f.Controller, err = p.replace(ctx, sandbox.Controller, &job, func(e *auditv1.Event) bool {
		return audit.What(e) == "create jobs" && e.ObjectRef.Name == job.Name
	})
	return f, err
}

// replace kills a component, creates a job, starts the component again, and returns how many seconds after the end of the first
// process a request was answered that done holds for.
func (p *player) replace(ctx context.Context, component string, job *cluster.Job, done func(*auditv1.Event) bool) (float64, error) {
	if err := p.Kill(component, syscall.SIGKILL); err != nil {
		return 0, err
	}
	killed, answered := time.Now(), time.Time{}
	if err := load.Create(ctx, p.Plane, job); err != nil {
		return 0, err
	}
	if err := p.StartComponent(component); err != nil {
		return 0, err
	}
	handled := 0
	w := times.Waiter{Failed: p.Failed(), Patience: p.Patience, Read: func() error {
		return p.log.Each(func(e *auditv1.Event) {
			if handled == 0 && e.RequestReceivedTimestamp.After(killed) && !audit.Refused(e) && done(e) {
				handled, answered = 1, e.StageTimestamp.Time
			}
		})
	}}
	err := w.Until(ctx, "handled after the end of "+component, 1, func() int { return handled })
	return answered.Sub(killed).Seconds(), err
}
