// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// idle are the components without work where a scheduler is alone: nodes are ready, and the pods exist.
var idle = []string{sandbox.Kwok, sandbox.ControllerManager, sandbox.VolcanoController, sandbox.Controller}

// Site is a sandbox whose API server logs all requests.
type Site struct {
	*live.Plane
	// History is what happened to the pods of the turn.
	History *times.History
	// Patience is how long AwaitPods goes on without any progress.
	Patience time.Duration
	log      *audit.Reader
}

// Open starts a sandbox whose API server logs what an audit policy asks for: times.Policy, or one with more rules. Its state, and its log in
// a folder next to it, are removed by Close.
func Open(ctx context.Context, o sandbox.Options, policy string, patience time.Duration) (*Site, error) {
	folder, err := filepath.Abs(o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("find the folder of the sandbox: %w", err)
	}
	args, log, err := audit.Prepare(folder+"-audit", policy)
	if err != nil {
		return nil, err
	}
	o.Args = maps.Clone(o.Args)
	if o.Args == nil {
		o.Args = map[string][]string{}
	}
	o.Args[sandbox.APIServer] = slices.Concat(args, o.Args[sandbox.APIServer])
	made, err := sandbox.Start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	at := &Site{Patience: patience}
	if at.Plane, err = live.Connect(made); err == nil {
		at.log, err = audit.Open(log)
	}
	if err == nil {
		err = at.MakeNamespace(ctx, load.Namespace)
	}
	if err != nil {
		return nil, errors.Join(err, made.Stop())
	}
	return at, nil
}

// Close stops the sandbox, and removes its state unless that is wanted for reading.
func (at *Site) Close(keep bool) error {
	errs := []error{at.Stop(), at.log.Close()}
	if !keep {
		errs = append(errs, os.RemoveAll(at.StateDir()), os.RemoveAll(at.StateDir()+"-audit"))
	}
	return errors.Join(errs...)
}

// Read adds to the history what was logged since the last call.
func (at *Site) Read() error { return at.log.Each(at.History.See) }

// AwaitPods reads the log until count returns want or more.
func (at *Site) AwaitPods(ctx context.Context, what string, want int, count func() int) error {
	w := times.Waiter{Read: at.Read, Failed: at.Failed(), Patience: at.Patience}
	return w.Until(ctx, what, want, count)
}

// site is one on which turns are taken, no scheduler of which runs between them.
type site struct {
	*Site
	cluster *topology.Topology
	// quiet says that the idle components do not run.
	quiet    bool
	progress io.Writer
}

func (s *Settings) start(ctx context.Context, nodes int, progress io.Writer) (*site, error) {
	cluster := load.Cluster(nodes)
	policy := times.Policy
	if s.Churn > 0 {
		policy = strings.Replace(policy, "rules:\n", "rules:\n"+eventBodies, 1)
	}
	made, err := Open(ctx, sandbox.Options{
		StateDir: filepath.Join(s.Folder, "live-state"), Topology: cluster, Rivals: true, Progress: progress,
		Args: map[string][]string{
			sandbox.APIServer: {"--delete-collection-workers=16"},
			sandbox.Scheduler: append([]string{"--enable-pprof"}, s.SchedulerArgs...), sandbox.VolcanoScheduler: {"--enable-pprof"},
		},
	}, policy, s.Patience)
	if err != nil {
		return nil, err
	}
	at := &site{Site: made, cluster: cluster, progress: progress}
	if err := at.Kill(sandbox.Scheduler, syscall.SIGTERM); err != nil {
		return nil, errors.Join(err, at.Close(false))
	}
	return at, nil
}

// stopIdle stops the idle components, or starts them again.
func (at *site) stopIdle(quiet bool) error {
	if at.quiet == quiet {
		return nil
	}
	at.quiet = quiet
	for _, name := range idle {
		var err error
		if quiet {
			err = at.Kill(name, syscall.SIGTERM)
		} else {
			err = at.StartComponent(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
