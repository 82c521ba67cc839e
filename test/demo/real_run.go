// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/timeline"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

// stepTime makes each training step last so long that one can watch.
const stepTime = 100 * time.Millisecond

// training is one run of the first job in real containers.
type training struct {
	Options
	job     Job
	name    string // of the PaddleJob
	fitting fitting

	mu     sync.Mutex
	losses losses
}

// RunReal is [Run] on a real node, with the first job alone: its program really trains, and its pods' logs are shown.
// The error is a [*box.UnsupportedError] where the machine does not allow a real node.
func RunReal(ctx context.Context, o Options) (err error) {
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir
	}
	o.Out = &lines{out: o.Out}
	// First, because all else takes its time.
	if err := sandbox.RealAllowed(); err != nil {
		return err
	}
	r, err := newTraining(o)
	if err != nil {
		return err
	}
	archive, remove, err := r.packTrainer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	s, err := sandbox.Start(ctx, sandbox.Options{StateDir: o.StateDir, Progress: o.Out, Real: &sandbox.Real{Images: []string{archive}}})
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	faults, err := r.play(ctx, s)
	if err != nil {
		return fmt.Errorf("%w\nlogs: %s", err, filepath.Join(s.StateDir(), "logs"))
	}
	return o.conclude(ctx, s, faults, whileRealIsKept(s.Kubeconfig(), r.job.Name, r.name), nextAfterReal)
}

func newTraining(o Options) (*training, error) {
	state, err := filepath.Abs(o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("find the folder of the sandbox: %w", err)
	}
	r := &training{Options: o, job: Jobs()[0], fitting: fitting{volumes: filepath.Join(state, "volumes")}, losses: losses{}}
	r.job.fit = r.fitting.fit
	objects, err := r.job.objects()
	if err != nil {
		return nil, err
	}
	r.name = objects[0].GetName()
	return r, nil
}

// packTrainer makes the image that stands in for those of the manifest.
func (r *training) packTrainer(ctx context.Context) (archive string, remove func() error, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", nil, fmt.Errorf("find the clone of paddle-volcano: %w", err)
	}
	dir, err := os.MkdirTemp("", "paddle-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the trainer's image: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	options := image.Options{Env: []string{"TRAINER_STEP_TIME=" + stepTime.String()}}
	for _, name := range r.fitting.images {
		options.Names = append(options.Names, image.Full(name))
	}
	say(r.Out, "packing the trainer (test/trainer) as %s", strings.Join(options.Names, ", "))
	archive = filepath.Join(dir, "trainer.tar")
	if _, err := image.Build(ctx, filepath.Dir(strings.TrimSpace(string(root))), archive, options); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return archive, remove, nil
}

// play submits the job, follows it and its pods' logs to the end, writes what came of it, and returns what went wrong.
func (r *training) play(ctx context.Context, s *sandbox.Sandbox) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cluster, submitter, nodes, err := connect(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, folder := range r.fitting.folders {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // containers may run as anybody
			return nil, fmt.Errorf("make the folder of a volume: %w", err)
		}
	}
	p := newPlay(r.Out, []Job{r.job})
	p.afterwards = 0
	watched, err := timeline.Begin(ctx, cluster, r.job.Name, r.name, func(l timeline.Line) { r.hear(p, l) })
	if err != nil {
		return nil, err
	}
	defer watched.End()
	news, err := watch(ctx, cluster)
	if err != nil {
		return nil, err
	}
	say(r.Out, "\nsubmitting the documentation's %s to node %s; what its containers say is from kubectl logs", r.job.Files[0], sandbox.RealNode)
	for _, change := range r.fitting.told {
		say(r.Out, "changed for this node: %s", change)
	}
	go p.submitAll(ctx, submitter)
	if err := p.follow(ctx, news, s.Failed()); err != nil {
		return nil, err
	}
	watched.End()
	say(r.Out, "")
	if err := WriteTable(r.Out, p.stories, nodes, p.now()); err != nil {
		return nil, err
	}
	stamps := watched.Stamps()
	say(r.Out, "\n%s\n\n%s", r.losses.summary(), strings.TrimRight(stamps.Table(), "\n"))
	if cost, guarded := stamps.Barrier(); guarded {
		say(r.Out, "%s", cost)
	}
	return append(p.faults(nodes), r.faultsOfLogs()...), nil
}

// hear shows a line of a log.
func (r *training) hear(p *performance, l timeline.Line) {
	r.mu.Lock()
	r.losses.hear(l.Pod, l.Role, l.Text)
	r.mu.Unlock()
	p.tell(strings.TrimPrefix(l.Pod, r.name+"-"), l.Text)
}

// faultsOfLogs are those of the workers' logs.
func (r *training) faultsOfLogs() (faults []string) {
	for _, fault := range r.losses.faults(r.job.Roles[len(r.job.Roles)-1]) {
		faults = append(faults, r.job.Name+": "+fault)
	}
	return faults
}

// lines lets several write to one.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}
