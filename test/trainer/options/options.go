// SPDX-License-Identifier: Apache-2.0

// Package options holds the settings of the trainer, which are its own and none of Paddle's.
package options

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// Options are what tests and users may set. Each has a flag and an environment variable: TRAINER_STEPS is --steps.
type Options struct {
	// Steps is how many steps the job takes; every LogEvery of them is a line of the log.
	Steps, LogEvery int
	// Seed makes the clicks, Batch is how many of them each rank sees in a step.
	Seed  uint64
	Batch int
	// ModelDir is where checkpoints and the model are written, "models" in the working directory where it is empty.
	ModelDir string
	// CheckpointEvery is in steps; 0 writes none.
	CheckpointEvery int
	// Deadline is how long any peer is waited for.
	Deadline time.Duration
	// SlowStart is how long the process does nothing at first, StepTime how long a step takes at least.
	SlowStart, StepTime time.Duration
	// CrashAtStep ends trainer CrashRank (-1: each) with exit code 7 before that step, in attempt CrashAttempt of its (0: in
	// each); -1 is never. Attempts are counted in ModelDir.
	CrashAtStep, CrashRank, CrashAttempt int
	// ExpectWorld is how many ranks there must be; 0 takes what the environment says.
	ExpectWorld int
	// ServersExit ends servers once all trainers are done. Paddle's run for ever.
	ServersExit bool
	// Paddle is the release whose launcher is followed: one of Releases.
	Paddle string
	// CloudTrain and IsLocal are what the CTR example's train.py takes.
	CloudTrain, IsLocal int
}

// Releases of Paddle whose launchers differ.
const (
	Paddle20   = "2.0"     // to 2.2, the images of the published examples
	Paddle23   = "2.3"     // the first of today's launchers
	Paddle2022 = "2022"    // until mid-2023
	Current    = "current" // since mid-2023
)

// Parse reads flags, the environment where a flag is not given, and then the defaults.
func Parse(args []string, env map[string]string, out io.Writer) (Options, error) {
	var o Options
	set := flag.NewFlagSet("train.py", flag.ContinueOnError)
	set.SetOutput(out)
	set.IntVar(&o.Steps, "steps", 60, "how many steps to train")
	set.IntVar(&o.LogEvery, "log-every", 10, "steps between two lines of the log")
	set.Uint64Var(&o.Seed, "seed", 1, "seed of the clicks")
	set.IntVar(&o.Batch, "batch", 64, "clicks of each rank in a step")
	set.StringVar(&o.ModelDir, "model-dir", env["MODEL_DIR"], "where to write checkpoints and the model (also MODEL_DIR)")
	set.IntVar(&o.CheckpointEvery, "checkpoint-every", 10, "steps between two checkpoints, 0 for none")
	set.DurationVar(&o.Deadline, "deadline", time.Minute, "how long to wait for any peer")
	set.DurationVar(&o.SlowStart, "slow-start", 0, "test hook: do nothing for so long at first")
	set.DurationVar(&o.StepTime, "step-time", 0, "test hook: let each step take at least so long")
	set.IntVar(&o.CrashAtStep, "crash-at-step", -1, "test hook: exit with code 7 before this step")
	set.IntVar(&o.CrashRank, "crash-rank", 0, "test hook: which trainer crashes, -1 for each")
	set.IntVar(&o.CrashAttempt, "crash-attempt", 1, "test hook: in which attempt it crashes, 0 for each")
	set.IntVar(&o.ExpectWorld, "expect-world", 0, "fail unless there are so many trainers")
	set.BoolVar(&o.ServersExit, "servers-exit", false, "end servers once all trainers are done")
	set.StringVar(&o.Paddle, "paddle", Current, "the release whose launcher to follow: 2.0, 2.3, 2022 or current")
	set.IntVar(&o.IsLocal, "is_local", 0, "as the CTR example's train.py takes it")
	set.IntVar(&o.CloudTrain, "cloud_train", 0, "as the CTR example's train.py takes it")
	if err := fromEnv(set, env); err != nil {
		return o, err
	}
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if set.NArg() > 0 {
		return o, fmt.Errorf("train.py takes no arguments but flags: %q", set.Args())
	}
	return o, o.validate()
}

func fromEnv(set *flag.FlagSet, env map[string]string) (err error) {
	set.VisitAll(func(f *flag.Flag) {
		name := "TRAINER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value, ok := env[name]; ok && err == nil {
			if err = set.Set(f.Name, value); err != nil {
				err = fmt.Errorf("%s=%q: %w", name, value, err)
			}
		}
	})
	return err
}

func (o *Options) validate() error {
	switch {
	case o.Steps < 1 || o.Batch < 1 || o.LogEvery < 1:
		return fmt.Errorf("steps, batch and log-every must be above 0: they are %d, %d and %d", o.Steps, o.Batch, o.LogEvery)
	case o.CheckpointEvery < 0 || o.ExpectWorld < 0 || o.CrashAttempt < 0:
		return fmt.Errorf("checkpoint-every, expect-world and crash-attempt must not be below 0: they are %d, %d and %d", o.CheckpointEvery, o.ExpectWorld, o.CrashAttempt)
	case o.Deadline <= 0:
		return fmt.Errorf("deadline must be above 0: it is %s", o.Deadline)
	case o.Paddle != Paddle20 && o.Paddle != Paddle23 && o.Paddle != Paddle2022 && o.Paddle != Current:
		return fmt.Errorf("paddle is 2.0, 2.3, 2022 or current: it is %q", o.Paddle)
	}
	return nil
}
