// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// policy has the API server log every request, with the bodies of those that are read or repeated. Leases are left out, because
// every scheduler renews them.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: ["*"]
- level: None
  resources: [{group: coordination.k8s.io}]
- level: Request
  resources: [{resources: ["pods/binding"]}]
- level: Request
  users: ["paddle-sandbox:kwok"]
  resources: [{resources: ["pods/status"]}]
- level: Metadata
`

// idle are the components without work where a scheduler is alone: nodes are ready, and the pods exist.
var idle = []string{sandbox.Kwok, sandbox.ControllerManager, sandbox.VolcanoController, sandbox.Controller}

// site is a sandbox on which turns are taken, no scheduler of which runs between them.
type site struct {
	*live.Plane
	cluster *sandbox.Topology
	folder  string
	log     *audit.Reader
	// history is what happened to the pods of the turn.
	history *times.History
	// quiet says that the idle components do not run.
	quiet    bool
	patience time.Duration
	progress io.Writer
}

func (s *Settings) start(ctx context.Context, nodes int, progress io.Writer) (*site, error) {
	folder, err := filepath.Abs(filepath.Join(s.Folder, "live-state"))
	if err != nil {
		return nil, fmt.Errorf("find the folder of the sandbox: %w", err)
	}
	rules := policy
	if s.Churn > 0 {
		rules = strings.Replace(policy, "rules:\n", "rules:\n"+eventBodies, 1)
	}
	args, log, err := audit.Prepare(folder+"-audit", rules)
	if err != nil {
		return nil, err
	}
	cluster := load.Cluster(nodes)
	made, err := sandbox.Start(ctx, sandbox.Options{
		StateDir: folder, Topology: cluster, Rivals: true, Progress: progress,
		Args: map[string][]string{
			sandbox.APIServer: append(args, "--delete-collection-workers=16"),
			sandbox.Scheduler: append([]string{"--enable-pprof"}, s.SchedulerArgs...), sandbox.VolcanoScheduler: {"--enable-pprof"},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	at := &site{cluster: cluster, folder: folder, patience: s.Patience, progress: progress, Plane: &live.Plane{Sandbox: made}}
	if err := at.open(ctx, log); err != nil {
		return nil, errors.Join(err, at.stop(false))
	}
	return at, nil
}

func (at *site) open(ctx context.Context, log string) (err error) {
	if at.Plane, err = live.Connect(at.Sandbox); err != nil {
		return err
	}
	if at.log, err = audit.Open(log); err != nil {
		return err
	}
	if err := at.MakeNamespace(ctx, load.Namespace); err != nil {
		return err
	}
	return at.Kill(sandbox.Scheduler, syscall.SIGTERM)
}

// stop removes the state unless it is wanted for reading.
func (at *site) stop(keep bool) error {
	errs := []error{at.Stop()}
	if at.log != nil {
		errs = append(errs, at.log.Close())
	}
	if !keep {
		errs = append(errs, os.RemoveAll(at.folder), os.RemoveAll(at.folder+"-audit"))
	}
	return errors.Join(errs...)
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

// until reads the audit log until count returns want or more.
func (at *site) until(ctx context.Context, what string, want int, count func() int) error {
	w := times.Waiter{Read: func() error { return at.log.Each(at.history.See) }, Failed: at.Failed(), Patience: at.patience}
	return w.Until(ctx, what, want, count)
}
