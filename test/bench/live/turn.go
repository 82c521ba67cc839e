// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/limit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Turn is what one binder took in one round of a case.
type Turn struct {
	Scheduler string `json:"scheduler"`
	Round     int    `json:"round"`
	times.Figures
	// Processes and Calls are from when its work began until the last pod was bound, or ran.
	Processes map[string]usage.Process `json:"processes"`
	Calls     times.Calls              `json:"calls"`
	// Late is how much it wrote after the last binding, before it was ended.
	Late int `json:"writes_after"`
}

// player takes turns on a site.
type player struct {
	*site
	concurrency int
	// bindings are those that Paddle made in its last turn.
	bindings []*corev1.Binding
	// series counts loads of jobs.
	series int
}

// take has one binder bind a case, and removes the load.
func (p *player) take(ctx context.Context, c Case, who string) (Turn, error) {
	if err := p.stopIdle(c.Form == load.PodGroups); err != nil {
		return Turn{}, err
	}
	play := p.whole
	if c.Form == load.PodGroups {
		play = p.alone
	}
	turn, err := play(ctx, c, who)
	if err != nil {
		return Turn{}, fmt.Errorf("turn of %s, %s: %w", who, c, err)
	}
	turn.Scheduler = who
	return turn, load.Clear(ctx, p.Plane)
}

// alone creates all pods before the binder starts. No other component has work.
func (p *player) alone(ctx context.Context, c Case, who string) (Turn, error) {
	p.History = times.New(load.Namespace)
	if err := c.load(who, 0).Submit(ctx, p.Plane); err != nil { // the limit needs the same names
		return Turn{}, err
	}
	if err := p.AwaitPods(ctx, "created", c.Pods, func() int { return p.History.Created }); err != nil {
		return Turn{}, err
	}
	work, err := p.ready(ctx, who)
	if err != nil {
		return Turn{}, err
	}
	p.History.Watch(binderOf(who).user)
	mark, err := usage.Begin(p.Plane)
	if err != nil {
		return Turn{}, err
	}
	end, err := work()
	if err != nil {
		return Turn{}, err
	}
	if err := p.AwaitPods(ctx, "bound", c.Pods, func() int { return p.History.Bound }); err != nil {
		return Turn{}, err
	}
	turn, err := p.turn(p.History.Work(), mark)
	if err != nil {
		return Turn{}, err
	}
	if who == Paddle {
		if p.bindings, err = limit.Bindings(p.History.Writes()); err != nil {
			return Turn{}, err
		}
	}
	return turn, end()
}

// whole has jobs submitted while everything runs, and waits until their pods run.
func (p *player) whole(ctx context.Context, c Case, who string) (Turn, error) {
	work, err := p.ready(ctx, who)
	if err != nil {
		return Turn{}, err
	}
	end, err := work()
	if err != nil {
		return Turn{}, err
	}
	// One pod runs first, so that all programs are ready.
	probe := c
	probe.Gangs, probe.Gang, probe.Pods = 1, 1, 1
	var mark usage.Mark
	for _, c := range []Case{probe, c} {
		if err := load.Clear(ctx, p.Plane); err != nil {
			return Turn{}, err
		}
		p.History = times.New(load.Namespace)
		p.History.Watch(binderOf(who).user)
		if mark, err = usage.Begin(p.Plane); err != nil {
			return Turn{}, err
		}
		p.series++
		if err := c.load(who, p.series).Submit(ctx, p.Plane); err != nil {
			return Turn{}, err
		}
		if err := p.AwaitPods(ctx, "running", c.Pods, func() int { return p.History.Running }); err != nil {
			return Turn{}, err
		}
	}
	turn, err := p.turn(p.History.Whole(), mark)
	if err != nil {
		return Turn{}, err
	}
	return turn, end()
}

// startBinder starts the process of a binder that has one.
func (p *player) startBinder(who string) error {
	b := binderOf(who)
	if b.binary == "" {
		return p.StartComponent(b.component, b.args...)
	}
	binary, err := filepath.Abs(b.binary) // the component runs in another folder
	if err != nil {
		return fmt.Errorf("find %s: %w", who, err)
	}
	return p.StartBuild(b.component, binary, b.args...)
}

// turn returns the figures of a load.
func (p *player) turn(figures times.Figures, mark usage.Mark) (turn Turn, err error) {
	turn = Turn{Figures: figures, Calls: p.History.Calls(), Late: p.History.Late()}
	turn.Processes, err = mark.Since(p.Plane)
	return turn, err
}

// ready prepares a binder; what it returns begins the work, and returns what ends it.
func (p *player) ready(ctx context.Context, who string) (func() (func() error, error), error) {
	if component := binderOf(who).component; component != "" {
		return func() (func() error, error) {
			if err := p.startBinder(who); err != nil {
				return nil, err
			}
			return func() error { return p.Kill(component, syscall.SIGTERM) }, nil
		}, nil
	}
	pods, err := p.Kube.CoreV1().Pods(load.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the pods to bind: %w", err)
	}
	bindings, err := limit.Ready(p.bindings, pods.Items)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", p.ComponentKubeconfig(sandbox.Scheduler)) // the scheduler's user and encoding (JSON)
	if err != nil {
		return nil, fmt.Errorf("make a client for the limit: %w", err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the limit: %w", err)
	}
	return func() (func() error, error) {
		watching, end := context.WithCancel(ctx)
		var err error
		if who == ReadingLimit {
			err = limit.Watch(watching, config)
		}
		if err == nil {
			err = limit.Bind(ctx, client.CoreV1().Pods(load.Namespace), bindings, p.concurrency)
		}
		return func() error { end(); return nil }, err
	}, nil
}

// Those who bind pods.
const (
	// Stock is Volcano as published, Tuned is Stock for equal nodes, Paddle is Volcano with the plugin, KubeScheduler knows no gangs.
	Stock         = "stock"
	Tuned         = "stock-tuned"
	Paddle        = "paddle"
	KubeScheduler = "kube-scheduler"
	// Limit is a client that makes the bindings of Paddle's last turn again, and nothing else.
	Limit = "limit"
	// ReadingLimit also lists and watches nodes, pods and PodGroups, as any scheduler must.
	ReadingLimit = "limit-with-watches"
)

// Schedulers returns all that bind pods.
func Schedulers() []string { return []string{Stock, Tuned, Paddle, Limit, ReadingLimit, KubeScheduler} }

// binder is how one of them is run.
type binder struct {
	// component runs it; user is who it is to the API server; pods is the schedulerName that it looks for.
	component, user, pods string
	// binary is that of another build, "" for the component's own.
	binary string
	// args are added to the component's.
	args []string
}

const volcanoUser = "system:serviceaccount:volcano-system:volcano-scheduler"

// binders by name. The limits are to the API server who Volcano's scheduler is, so that it has the same to look up. Tuned scores 100 of 5,000
// nodes for a pod, where Stock scores 500, and logs less.
var binders = map[string]binder{
	Stock:         {component: sandbox.VolcanoScheduler, user: volcanoUser, pods: "volcano"},
	Tuned:         {component: sandbox.VolcanoScheduler, user: volcanoUser, pods: "volcano", args: []string{"--percentage-nodes-to-find=2", "-v=1"}},
	Paddle:        {component: sandbox.Scheduler, user: volcanoUser, pods: "volcano"},
	KubeScheduler: {component: sandbox.KubeScheduler, user: "system:kube-scheduler", pods: "default-scheduler"},
	Limit:         {user: volcanoUser, pods: "volcano"},
	ReadingLimit:  {user: volcanoUser, pods: "volcano"},
}

// binderOf returns the binder of a name, or of the path of another build of paddle-scheduler.
func binderOf(who string) binder {
	if !isBuild(who) {
		return binders[who]
	}
	b := binders[Paddle]
	b.binary = who
	return b
}

// isBuild reports whether a scheduler is given as a path. No name has a slash.
func isBuild(who string) bool { return strings.Contains(who, "/") }

// process is the name of a binder's own process.
func (b binder) process() string { return cmp.Or(b.component, usage.Self) }

// order returns whose turn it is in a round of a form. Each round begins with another scheduler; the limits follow the one
// that they repeat, and each build is one more. The limits and the scheduler without gangs are for pods that exist: they make no sense for jobs.
func order(schedulers []string, form string, round int) []string {
	var groups [][]string
	candidates := [][]string{{Stock}, {Tuned}, {Paddle, Limit, ReadingLimit}, {KubeScheduler}}
	for _, name := range schedulers {
		if isBuild(name) {
			candidates = append(candidates, []string{name})
		}
	}
	for _, group := range candidates {
		group = slices.DeleteFunc(group, func(name string) bool {
			return !slices.Contains(schedulers, name) || form != load.PodGroups && binderOf(name).pods != "volcano" ||
				form != load.PodGroups && binderOf(name).component == ""
		})
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	first := round % len(groups)
	return slices.Concat(append(slices.Clone(groups[first:]), groups[:first]...)...)
}
