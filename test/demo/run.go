// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// DefaultStateDir is where the demo's sandbox lives, relative to the working folder.
const DefaultStateDir = "_output/demo"

const (
	// workersRun is how long each simulated worker trains.
	workersRun = 5 * time.Second
	// limit bounds the demo once its sandbox is ready; a good run takes a quarter of it.
	limit = 150 * time.Second
	// afterwards is how long the job that does not fit is watched on the then empty cluster: some scheduling cycles.
	afterwards = 4 * time.Second
)

// Options say how the demo runs.
type Options struct {
	// StateDir is the sandbox's folder; unset means DefaultStateDir.
	StateDir string
	// Keep leaves the sandbox running until ctx ends.
	Keep bool
	// Out is told everything.
	Out io.Writer
}

// ErrFaults is returned after a whole run in which a job did not end as it should.
var ErrFaults = errors.New("not every job ended as it should")

// Run starts a sandbox, submits the jobs, tells what becomes of them and takes the sandbox down. It returns an error
// unless every job ended as it should.
func Run(ctx context.Context, o Options) (err error) {
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir
	}
	s, err := sandbox.Start(ctx, sandbox.Options{
		StateDir: o.StateDir, Topology: sandbox.Demo(), WorkerRunFor: workersRun, Progress: o.Out,
		// A claim that is seen before its volume is looked at again only after this time, by default 15 seconds.
		Args: map[string][]string{sandbox.ControllerManager: {"--pvclaimbinder-sync-period=1s"}},
	})
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	faults, err := play(ctx, o.Out, s)
	if err != nil {
		return fmt.Errorf("%w\nlogs: %s", err, filepath.Join(s.StateDir(), "logs"))
	}
	return o.conclude(ctx, s, faults, whileKept(s.Kubeconfig()), next)
}

// conclude says how it went and what to try, and stays where that is wanted.
func (o Options) conclude(ctx context.Context, s *sandbox.Sandbox, faults []string, whileKept, next string) error {
	say(o.Out, "\n%s", conclusion(faults, filepath.Join(s.StateDir(), "logs")))
	if o.Keep {
		say(o.Out, "%s", whileKept)
		select {
		case <-ctx.Done():
		case err := <-s.Failed():
			return err
		}
	} else {
		say(o.Out, "%s", next)
	}
	if len(faults) > 0 {
		return ErrFaults
	}
	return nil
}

// connect makes the clients of a sandbox, and looks at its nodes.
func connect(ctx context.Context, s *sandbox.Sandbox) (*live.Plane, *submitter, map[string]Node, error) {
	cluster, err := live.Connect(s)
	if err != nil {
		return nil, nil, nil, err
	}
	submitter, err := newSubmitter(cluster)
	if err != nil {
		return nil, nil, nil, err
	}
	list, err := cluster.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("list the nodes: %w", err)
	}
	return cluster, submitter, nodesByName(list.Items), nil
}

// play submits the jobs, follows them to their ends, writes the table and returns what went wrong.
func play(ctx context.Context, out io.Writer, s *sandbox.Sandbox) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cluster, submitter, nodes, err := connect(ctx, s)
	if err != nil {
		return nil, err
	}
	news, err := watch(ctx, cluster)
	if err != nil {
		return nil, err
	}
	say(out, "\nsubmitting the documentation's jobs, and one that does not fit (workers train for %s)", workersRun)
	p := newPlay(out, Jobs())
	go p.submitAll(ctx, submitter)
	if err := p.follow(ctx, news, s.Failed()); err != nil {
		return nil, err
	}
	say(out, "")
	if err := WriteTable(out, p.stories, nodes, p.now()); err != nil {
		return nil, err
	}
	return p.faults(nodes), nil
}

// say writes a line; nobody is left to be told when that fails.
func say(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, format+"\n", args...) //nolint:errcheck // see above
}
