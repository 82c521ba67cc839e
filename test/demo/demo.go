// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/simulation"
	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// DefaultStateDir is where the demo's sandbox lives, relative to the working folder.
const DefaultStateDir = "_output/demo"

// workersRun is how long each simulated worker trains.
const workersRun = 8 * time.Second

// emptyCycles is for how many scheduling cycles the job that does not fit has the cluster for itself.
const emptyCycles = 3

// Options say how the demo runs.
type Options struct {
	// StateDir is the sandbox's folder; unset means DefaultStateDir.
	StateDir string
	// Keep leaves the sandbox running until ctx ends.
	Keep bool
	// Out receives all output.
	Out io.Writer
}

// ErrFaults is returned after a whole run in which a job did not reach its expected state.
var ErrFaults = errors.New("not every job ended as it should")

const next = `
Try next:
  go run ./cmd/paddle-demo --keep        the same, and the cluster stays up for your kubectl
  go run ./cmd/paddle-demo --real        one job in real containers
  go run ./cmd/paddle-sandbox up --help  a cluster of your own: its size, its racks, how long workers train
  deploy/docs/how-to/install.md          how to install this on a real cluster`

// Run starts a sandbox, submits the jobs, shows them until they have finished, and stops the sandbox. It returns an error
// unless every job reached its expected state.
func Run(ctx context.Context, o Options) error {
	options := sandbox.Options{
		Topology: topology.Demo(), WorkerRunFor: workersRun,
		// A claim that is seen before its volume is looked at again only after this time, by default 15 seconds.
		Args: map[string][]string{sandbox.ControllerManager: {"--pvclaimbinder-sync-period=1s"}},
	}
	return o.run(ctx, options, next, func(ctx context.Context, d *demo) (faults []string, err error) {
		d.say("\nsubmitting the documentation's jobs, and one that does not fit (workers train for %s)", workersRun)
		for _, j := range jobs() {
			if err := d.submit(ctx, j); err != nil {
				return nil, err
			}
		}
		if err := d.awaitStarted(ctx); err != nil {
			return nil, err
		}
		d.kubectlPaddle(ctx, "map")
		for _, j := range jobs() {
			if j.waits { // all others have finished, and the scheduler has seen the empty cluster
				if err := d.UntilCycles(ctx, emptyCycles); err != nil {
					return nil, err
				}
			}
			fault, err := d.end(ctx, j)
			if err != nil {
				return nil, err
			}
			if fault != nil {
				faults = append(faults, fmt.Sprintf("%s: %v", j.namespace, fault))
			}
		}
		d.kubectlPaddle(ctx, "get", "-A")
		d.kubectlPaddle(ctx, "why", "-n", "too-large", "too-large")
		return faults, nil
	})
}

// demo is one run on a sandbox.
type demo struct {
	*live.Plane
	objects *manifests.Client
	out     io.Writer
	started time.Time
}

// run starts a sandbox for play, reports the faults that play returns and what to try next, and stops the sandbox.
func (o Options) run(ctx context.Context, options sandbox.Options, next string, play func(context.Context, *demo) ([]string, error)) (err error) {
	options.StateDir, options.Progress = o.StateDir, o.Out
	if options.StateDir == "" {
		options.StateDir = DefaultStateDir
	}
	s, err := sandbox.Start(ctx, options)
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-s.Failed():
			cancel(err)
		case <-ctx.Done():
		}
	}()
	d, err := connect(s, o.Out)
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go d.showProgress(watching)
	logs := filepath.Join(s.StateDir(), "logs")
	faults, err := play(ctx, d)
	stop()
	if ctx.Err() != nil {
		return fmt.Errorf("the demo was interrupted: %w\nlogs: %s", context.Cause(ctx), logs)
	}
	if err != nil {
		return fmt.Errorf("%w\nlogs: %s", err, logs)
	}
	d.say("\n%s", conclusion(faults, logs))
	if o.Keep {
		d.say("\nThe sandbox stays up until ^C. In another terminal:\n  export KUBECONFIG=%s\n  kubectl get pdj,pods -A -o wide\n"+
			"  kubectl paddle get -A\n  kubectl paddle submit -f deploy/examples/wide_and_deep.yaml", s.Kubeconfig())
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			return cause
		}
	} else {
		d.say("%s", next)
	}
	if len(faults) > 0 {
		return ErrFaults
	}
	return nil
}

func conclusion(faults []string, logs string) string {
	if len(faults) == 0 {
		return "Every job ended as it should."
	}
	return "Not every job ended as it should:\n  " + strings.Join(faults, "\n  ") + "\nThe logs of all components are in " + logs + "."
}

func connect(s *sandbox.Sandbox, out io.Writer) (*demo, error) {
	d := &demo{out: &serial{out: out}, started: time.Now()}
	var err error
	if d.Plane, err = live.Connect(s); err != nil {
		return nil, err
	}
	config := s.RESTConfig()
	config.WarningHandler = rest.NewWarningWriter(d.out, rest.WarningWriterOptions{})
	d.objects, err = manifests.NewClient(config)
	return d, err
}

// serial lets goroutines share a writer.
type serial struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements [io.Writer].
func (w *serial) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// say writes lines. An output that does not take them cannot report the error either.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, format+"\n", args...) //nolint:errcheck // see above
}

func (d *demo) tell(namespace, text string) {
	d.say("%6.1fs  %-18s %s", time.Since(d.started).Seconds(), namespace, text)
}

// kubectlPaddle shows a command of kubectl paddle and what it prints, and returns the standard output.
func (d *demo) kubectlPaddle(ctx context.Context, args ...string) string {
	d.say("\n$ kubectl paddle %s", strings.Join(args, " "))
	var printed strings.Builder
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.MultiWriter(d.out, &printed), ErrOut: d.out}
	command.RunWith(ctx, simulation.Simulate, append([]string{"--kubeconfig", d.Kubeconfig()}, args...), streams)
	return printed.String()
}

// showProgress writes a line for each new phase of a PaddleJob.
func (d *demo) showProgress(ctx context.Context) {
	phases := map[string]paddlev1.Phase{}
	show := func(object any) {
		job, ok := object.(*paddlev1.PaddleJob)
		if !ok || job.Status.Phase == "" || phases[job.Namespace] == job.Status.Phase {
			return
		}
		phases[job.Namespace] = job.Status.Phase
		var roles []string
		for _, role := range observed.Roles {
			if ready := describe.ReadyPods(job, role); ready != "" {
				roles = append(roles, role+" "+ready)
			}
		}
		d.tell(job.Namespace, fmt.Sprintf("%-9s  %s", job.Status.Phase, strings.Join(roles, ", ")))
	}
	informer := externalversions.NewSharedInformerFactory(d.Paddle, 0).Batch().V1().PaddleJobs().Informer()
	handler := cache.ResourceEventHandlerFuncs{AddFunc: show, UpdateFunc: func(_, object any) { show(object) }}
	if _, err := informer.AddEventHandler(handler); err != nil { // only once the informer has stopped
		d.say("%v", err)
	}
	informer.RunWithContext(ctx)
}

// submit creates the objects of a job in its namespace, as kubectl create does.
func (d *demo) submit(ctx context.Context, j job) error {
	objects, err := manifests.Read(j.from, j.files...)
	if err != nil {
		return err
	}
	if err := d.MakeNamespace(ctx, j.namespace); err != nil {
		return err
	}
	d.tell(j.namespace, "submitted "+strings.Join(j.files, " and "))
	if _, err := d.objects.Create(ctx, j.namespace, metav1.CreateOptions{}, objects...); err != nil {
		return fmt.Errorf("submit %s: %w", j.namespace, err)
	}
	return nil
}

// awaitStarted waits until every PaddleJob that fits has pods that run, or has run.
func (d *demo) awaitStarted(ctx context.Context) error {
	return d.Until(ctx, "every job that fits to run", func(ctx context.Context) error {
		for _, j := range jobs() {
			if j.raw || j.waits {
				continue
			}
			now, err := d.Paddle.BatchV1().PaddleJobs(j.namespace).Get(ctx, j.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if now.Status.Phase != paddlev1.Running && !observed.Finished(now) {
				return fmt.Errorf("%s is %q", j.namespace, now.Status.Phase)
			}
		}
		return nil
	})
}

// end waits until a job has the expected final state, or another one. It returns what is wrong with it.
func (d *demo) end(ctx context.Context, j job) (fault, err error) {
	err = d.Until(ctx, j.namespace+" to end", func(ctx context.Context) error {
		var final bool
		final, fault = d.look(ctx, j)
		if final {
			return nil
		}
		return fault
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return err, nil // it is a fault of the job
	}
	return fault, nil
}

// look returns what is wrong with a job, and whether that is final.
func (d *demo) look(ctx context.Context, j job) (final bool, fault error) {
	if j.raw {
		now, err := d.Volcano.BatchV1alpha1().Jobs(j.namespace).Get(ctx, j.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		switch phase := now.Status.State.Phase; phase {
		case batchv1alpha1.Completed:
			d.tell(j.namespace, "Completed, a Volcano Job without a PaddleJob")
			return true, nil
		case batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted:
			return true, fmt.Errorf("its phase is %q, not %q: %s", phase, batchv1alpha1.Completed, now.Status.State.Message)
		default:
			return false, fmt.Errorf("its phase is %q", phase)
		}
	}
	now, err := d.Paddle.BatchV1().PaddleJobs(j.namespace).Get(ctx, j.name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	pods, err := d.Kube.CoreV1().Pods(j.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	fault = j.fault(now, pods.Items)
	return fault == nil || observed.Finished(now), fault
}

//go:embed too_large.yaml
var ownFiles embed.FS

// job is one job of the demo.
type job struct {
	// namespace holds this job alone: three of the published jobs have the same name.
	namespace, name string
	from            fs.FS
	// files are created in this order.
	files []string
	// raw is a Volcano Job without a PaddleJob.
	raw bool
	// waits is a job whose gang does not fit.
	waits bool
}

// jobs are in the order of their submission.
func jobs() []job {
	published := func(namespace, name string, files ...string) job {
		return job{namespace: namespace, name: name, from: deploy.Files, files: files}
	}
	raw := published("ctr-volcano", "ctr-volcano", "examples/ctr-volcano.yaml")
	raw.raw = true
	return []job{
		published("wide-and-deep", "wide-ande-deep", "examples/wide_and_deep.yaml"),
		published("resnet", "resnet", "examples/resnet.yaml"),
		published("gpu-node-selector", "wide-ande-deep", "examples/gpu_node_selector.yaml"),
		published("volume-claim", "paddlejob-demo-1", "examples/pv-pvc.yaml", "examples/wide_and_deep_pvc.yaml"),
		published("own-podgroup", "wide-ande-deep", "examples/wide_and_deep_podgroup.yaml"),
		raw,
		{namespace: "too-large", name: "too-large", from: ownFiles, files: []string{"too_large.yaml"}, waits: true},
	}
}

// fault returns what an ended demo requires of a PaddleJob and does not find: Completed, or for a job that waits, pods without nodes and
// the reason why.
func (j job) fault(now *paddlev1.PaddleJob, pods []corev1.Pod) error {
	want := paddlev1.Completed
	if j.waits {
		want = paddlev1.Pending
	}
	for i := range pods {
		if node := pods[i].Spec.NodeName; j.waits && node != "" {
			return fmt.Errorf("pod %s is bound to %s although its gang does not fit", pods[i].Name, node)
		}
	}
	scheduled := meta.FindStatusCondition(now.Status.Conditions, paddlev1.ConditionScheduled)
	switch {
	case now.Status.Phase != want:
		return fmt.Errorf("its phase is %q, not %q", now.Status.Phase, want)
	case j.waits && len(pods) == 0:
		return errors.New("it has no pods")
	case j.waits && (scheduled == nil || scheduled.Status != metav1.ConditionFalse || !lifecycle.IsWaitingReason(scheduled.Reason)):
		return errors.New("it gives no reason for being Pending")
	}
	return nil
}
