// SPDX-License-Identifier: Apache-2.0

package process

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// Options are the trainer's own settings. Each has a flag and a variable: TRAINER_STEPS is --steps.
type Options struct {
	Steps                               int
	ModelDir                            string
	Deadline, SlowStart, StepTime       time.Duration
	CrashAtStep, CrashRank, ExpectWorld int
	ServersExit                         bool
}

// ParseOptions reads flags, then variables for the flags that are not given, then the defaults.
func ParseOptions(args []string, env map[string]string, out io.Writer) (Options, error) {
	var o Options
	set := flag.NewFlagSet("train.py", flag.ContinueOnError)
	set.SetOutput(out)
	set.IntVar(&o.Steps, "steps", 60, "how many steps to train")
	set.StringVar(&o.ModelDir, "model-dir", env["MODEL_DIR"], "where to write checkpoints and the model (also MODEL_DIR)")
	set.DurationVar(&o.Deadline, "deadline", time.Minute, "how long to wait for any peer")
	set.DurationVar(&o.SlowStart, "slow-start", 0, "test hook: do nothing for this time at first")
	set.DurationVar(&o.StepTime, "step-time", 0, "test hook: let each step take at least this time")
	set.IntVar(&o.CrashAtStep, "crash-at-step", -1, "test hook: exit with code 7 before this step in the first attempt")
	set.IntVar(&o.CrashRank, "crash-rank", 0, "test hook: which trainer crashes, -1 for each")
	set.IntVar(&o.ExpectWorld, "expect-world", 0, "fail unless there is this number of trainers")
	set.BoolVar(&o.ServersExit, "servers-exit", false, "end servers once all trainers are done")
	var err error
	set.VisitAll(func(f *flag.Flag) {
		name := "TRAINER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value, ok := env[name]; ok && err == nil {
			if err = set.Set(f.Name, value); err != nil {
				err = fmt.Errorf("%s=%q: %w", name, value, err)
			}
		}
	})
	if err == nil {
		err = set.Parse(args)
	}
	switch {
	case err != nil:
	case set.NArg() > 0:
		err = fmt.Errorf("train.py takes no arguments but flags: %q", set.Args())
	case o.Steps < 1 || o.Deadline <= 0:
		err = fmt.Errorf("steps and deadline must be above 0: they are %d and %s", o.Steps, o.Deadline)
	}
	return o, err
}
