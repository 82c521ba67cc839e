// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Settings of a measurement.
type Settings struct {
	// Nodes are the sizes of clusters; Gangs what is submitted, as "500x20" for 500 gangs of 20; Scale how much of it.
	Nodes []int    `json:"nodes"`
	Gangs []string `json:"gangs"`
	Scale float64  `json:"scale"`
	// Forms are some of load.Forms, and Schedulers some of Schedulers and paths of other builds of paddle-scheduler.
	Forms      []string `json:"forms"`
	Schedulers []string `json:"schedulers"`
	// Rounds of each scheduler in each case, in turn.
	Rounds int `json:"rounds"`
	// Concurrency is how many requests the limits make at a time.
	Concurrency int `json:"limit_concurrency"`
	// Takeovers are how often a place changes hands, in each cluster, to see how soon a gang that waits is bound; 0 means
	// that this is left out.
	Takeovers int `json:"takeovers"`
	// SchedulerArgs are added to those of paddle-scheduler.
	SchedulerArgs []string `json:"scheduler_args"`
	// Churn is how long jobs come and go at each load on a cluster of the first size, and RunFor how long a job runs, in the mean.
	// Nothing else is measured then; 0 leaves it out.
	Churn  time.Duration `json:"-"`
	RunFor time.Duration `json:"-"`
	// Keep has what the folder's live.json holds not measured again.
	Keep bool `json:"-"`
	// Folder for live.json; the sandbox's state is below it as long as it runs.
	Folder string `json:"-"`
	// Patience is how long a turn may go without any progress before it is given up.
	Patience time.Duration `json:"-"`
}

// Default returns every form, scheduler and cluster size, scaled to two cores.
func Default() Settings {
	return Settings{
		Nodes: []int{500, 1000, 5000}, Gangs: []string{"10000x1", "500x20", "20x500", "1x5000"}, Scale: 0.4, Forms: load.Forms(),
		Schedulers: Schedulers(), Rounds: 3, Concurrency: 32, Takeovers: 100, RunFor: 8 * time.Minute,
		Folder: "_output/bench", Patience: 5 * time.Minute,
	}
}

// Flags declares the flags of the settings.
func (s *Settings) Flags(flags *pflag.FlagSet) {
	flags.BoolVar(&s.Keep, "keep", false, "do not measure again what the folder's live.json holds, at whatever scale")
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for live.json")
	flags.IntSliceVar(&s.Nodes, "nodes", s.Nodes, "simulated nodes, of 8 GPUs each")
	flags.StringSliceVar(&s.Gangs, "cases", s.Gangs, "gangs and their size, before they are scaled")
	flags.StringSliceVar(&s.Forms, "forms", s.Forms, fmt.Sprintf("some of %v", load.Forms()))
	flags.StringSliceVar(&s.Schedulers, "schedulers", s.Schedulers, fmt.Sprintf("some of %v, and paths of other builds of paddle-scheduler, each with a slash", Schedulers()))
	flags.Float64Var(&s.Scale, "scale", s.Scale, "how much of the cases is submitted")
	flags.IntVar(&s.Rounds, "rounds", s.Rounds, "rounds of each scheduler in each case")
	flags.IntVar(&s.Concurrency, "concurrency", s.Concurrency, "requests that the limit makes at a time")
	flags.IntVar(&s.Takeovers, "takeovers", s.Takeovers, "how often a place changes hands, to see how soon a gang that waits is bound; 0 leaves it out")
	flags.DurationVar(&s.Churn, "churn", 0, "measure only this: how all programs do while jobs come and go for this long at each load, on the first size of --nodes")
	flags.DurationVar(&s.RunFor, "run-for", s.RunFor, "--churn: how long jobs run, in the mean")
	flags.StringSliceVar(&s.SchedulerArgs, "scheduler-args", nil, "more arguments of our scheduler")
}

// Quick is a part of it for a few minutes: the case that has bars, a tenth of its size, and the same as PaddleJobs, once each.
func (s *Settings) Quick() {
	s.Forms = []string{load.PodGroups, load.PaddleJobs}
	s.Nodes, s.Gangs, s.Scale, s.Rounds, s.Takeovers = []int{5000}, []string{"500x20"}, 0.1, 1, 5
}

func (s *Settings) check() error {
	for name, list := range map[string][2][]string{"form": {s.Forms, load.Forms()}, "scheduler": {s.Schedulers, Schedulers()}} {
		if len(list[0]) == 0 {
			return fmt.Errorf("no %s is given: want some of %s", name, strings.Join(list[1], ", "))
		}
		for _, item := range list[0] {
			if slices.Contains(list[1], item) {
				continue
			}
			if name != "scheduler" || !isBuild(item) {
				return fmt.Errorf("unknown %s %q: want some of %s", name, item, strings.Join(list[1], ", "))
			}
			if _, err := exec.LookPath(item); err != nil {
				return fmt.Errorf("find another build of paddle-scheduler: %w", err)
			}
		}
	}
	if len(s.Nodes) == 0 || slices.Min(s.Nodes) < 1 || s.Rounds < 1 || s.Concurrency < 1 || s.Scale <= 0 || s.Takeovers < 0 {
		return errors.New("nodes, rounds, concurrency and scale must each be above 0, and takeovers not below")
	}
	if s.Churn < 0 || s.Churn > 0 && s.RunFor <= 0 {
		return fmt.Errorf("jobs come and go for %s and run for %s: both must be above 0", s.Churn, s.RunFor)
	}
	if s.Patience < time.Second {
		return fmt.Errorf("patience is %s: give a turn at least a second", s.Patience)
	}
	for _, limit := range []string{Limit, ReadingLimit} {
		if slices.Contains(s.Schedulers, limit) && !slices.Contains(s.Schedulers, Paddle) {
			return fmt.Errorf("%s makes the bindings of %s again: add %[2]s to the schedulers", limit, Paddle)
		}
	}
	_, err := s.cases()
	return err
}

// Cases returns what these settings ask for. Where the sandbox is not the cluster another program measures them (test/kind).
func (s Settings) Cases() ([]Case, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.cases()
}

// cases returns what is measured, in this order: all of a cluster together.
func (s *Settings) cases() ([]Case, error) {
	var cases []Case
	for _, nodes := range s.Nodes {
		for _, form := range s.Forms {
			for _, text := range s.Gangs {
				gangs, gang, err := load.ParseGangs(text)
				if err != nil {
					return nil, err
				}
				c := Case{Nodes: nodes, Form: form, Asked: text}
				c.Gangs, c.Gang = load.Fit(gangs, gang, nodes, s.Scale)
				c.Pods = c.Gangs * c.Gang
				cases = append(cases, c)
			}
		}
	}
	if len(cases) == 0 {
		return nil, errors.New("no gangs are given: want some such as 500x20")
	}
	return cases, nil
}

// Case is what is submitted to which cluster, and what came of it.
type Case struct {
	Nodes int    `json:"nodes"`
	Pods  int    `json:"pods"`
	Gang  int    `json:"gang"`
	Form  string `json:"form"`
	Gangs int    `json:"gangs"`
	// Asked is what it was scaled from.
	Asked string `json:"asked"`

	// Rates are the medians of the pods bound per second, by scheduler; Processor those of the processor seconds that it and the API server
	// used for 1,000 pods.
	Rates     map[string]float64 `json:"median_pods_s"`
	Processor map[string]Spread  `json:"processor_s_per_1000_pods"`
	// Ratios are Paddle's rate by another's of the same round.
	Ratios map[string]Spread `json:"paddle_by"`

	Turns []Turn `json:"rounds"`
}

func (c Case) String() string {
	return fmt.Sprintf("%d nodes, %dx%d as %s", c.Nodes, c.Gangs, c.Gang, c.Form)
}

// load returns what is submitted for one binder.
func (c Case) load(who string, series int) load.Load {
	return load.Load{Form: c.Form, Gangs: c.Gangs, Gang: c.Gang, Scheduler: binderOf(who).pods, Series: series}
}

// Spread is a median with the least and the greatest.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

func spread(all []float64) Spread {
	return Spread{Median: stats.Median(all), Least: slices.Min(all), Most: slices.Max(all)}
}

// sum fills in what the turns come to.
func (c *Case) sum() {
	rates, processor, ratios, paddle := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}, map[int]float64{}
	for i := range c.Turns {
		t := &c.Turns[i]
		rates[t.Scheduler] = append(rates[t.Scheduler], t.Bound)
		used := t.Processes[binderOf(t.Scheduler).process()].CPU + t.Processes[sandbox.APIServer].CPU
		processor[t.Scheduler] = append(processor[t.Scheduler], 1000*used/float64(c.Pods))
		if t.Scheduler == Paddle {
			paddle[t.Round] = t.Bound
		}
	}
	for i := range c.Turns {
		if t := &c.Turns[i]; t.Scheduler != Paddle && t.Bound > 0 && paddle[t.Round] > 0 {
			ratios[t.Scheduler] = append(ratios[t.Scheduler], paddle[t.Round]/t.Bound)
		}
	}
	c.Rates, c.Processor, c.Ratios = map[string]float64{}, map[string]Spread{}, map[string]Spread{}
	for who, all := range rates {
		c.Rates[who], c.Processor[who] = stats.Median(all), spread(processor[who])
	}
	for who, all := range ratios {
		c.Ratios[who] = spread(all)
	}
}
