// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
)

// planFlags are the flags of plan.
type planFlags struct {
	file, snapshot, configuration, scheduler, output string
	question                                         plan.Question
}

func (s *session) plan() *cobra.Command {
	p := &planFlags{}
	cmd := &cobra.Command{
		Use: "plan -f FILE | plan JOB", Short: "Say where a job would go now, or why it would wait; nothing is written",
		Long: `Say where a job would go now, and what a step of training would send over the network there, or why it would wait and
what would help. The scheduler itself is asked, in this process, with the cluster's own configuration: nothing is
written. Jobs that wait already take part. A job of a file that the API server would refuse is refused; with --snapshot
only submit finds all that it would.

It ends with 0 if the job would start now, and with 5 if it would wait.`,
		Example: `  kubectl paddle plan -f job.yaml
  kubectl paddle plan -f job.yaml --add-nodes 4 --like gpu-node-7
  kubectl paddle plan -f job.yaml --without-node gpu-node-7
  kubectl paddle plan -f job.yaml --snapshot monday.json.gz
  kubectl paddle plan resnet`,
		Args:              func(_ *cobra.Command, args []string) error { return p.check(args) },
		ValidArgsFunction: s.jobNames(false),
	}
	flags := cmd.Flags()
	flags.StringVarP(&p.file, "filename", "f", "", "file with one PaddleJob, in YAML or JSON; - is the standard input")
	flags.StringVar(&p.snapshot, "snapshot", "", "plan on what this file of kubectl paddle snapshot holds; the cluster is not asked")
	flags.StringVar(&p.configuration, "scheduler-config", "", "file with the scheduler's configuration, in place of the cluster's ConfigMap")
	flags.StringVar(&p.scheduler, "scheduler", "", "what the jobs call their scheduler, where it is not volcano (spec.schedulerName); see --scheduler-config")
	flags.IntVar(&p.question.AddNodes, "add-nodes", 0, "plan with so many more nodes, copies of --like or of a node of the largest group")
	flags.StringVar(&p.question.Like, "like", "", "the node that --add-nodes copies")
	flags.StringSliceVar(&p.question.Without, "without-node", nil, "plan without this node and what runs there")
	flags.StringVarP(&p.output, "output", "o", "", "output format: json or yaml; all nodes are in it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			p.question.Name = args[0]
		}
		return s.runPlan(cmd.Context(), p)
	}
	return cmd
}

func (p *planFlags) check(args []string) error {
	switch {
	case len(args) > 1 || (len(args) == 1) == (p.file != ""):
		return usage("name a file, -f FILE, or one job that waits")
	case p.question.AddNodes < 0:
		return usage("--add-nodes is %d: 1 or more", p.question.AddNodes)
	case p.question.Like != "" && p.question.AddNodes == 0:
		return usage("--like is for --add-nodes, which is missing")
	}
	return checkDataFormat(p.output)
}

func (s *session) runPlan(ctx context.Context, p *planFlags) error {
	q := &p.question
	if err := s.loadQuestion(ctx, p); err != nil {
		return err
	}
	response, err := s.simulate(ctx, &plan.Request{Question: q})
	switch {
	case errors.Is(err, plan.ErrNotFound):
		return notFound("%w", err)
	case errors.Is(err, plan.ErrPlaced):
		return refused("%w: see kubectl paddle describe %s", err, q.Name)
	case err != nil:
		return err
	}
	s.printUnread(q.Snapshot)
	answer := response.Plan
	if p.output != "" {
		err = printData(s.Out, p.output, answer)
	} else {
		err = s.say(planText(answer))
	}
	if err == nil && !answer.Fits {
		return errWaits
	}
	return err
}

// loadQuestion reads the job, and the cluster or a snapshot of it.
func (s *session) loadQuestion(ctx context.Context, p *planFlags) error {
	q := &p.question
	namespace, enforced, err := s.namespace()
	if err != nil {
		return err
	}
	q.Namespace, q.Config = namespace, settings
	q.Config.SchedulerName = p.scheduler
	q.Config.BarrierImage = "as shipped" // the shipped controller's start barrier asks for a little CPU and memory
	if err := s.loadSnapshot(ctx, p); err != nil {
		return err
	}
	if p.file == "" {
		return nil
	}
	documents, err := s.read([]string{p.file})
	if err != nil {
		return err
	}
	if len(documents) != 1 {
		return usage("%s holds %d jobs, and one is planned at a time", p.file, len(documents))
	}
	if err := setNamespaces(documents, namespace, enforced); err != nil {
		return err
	}
	q.Job = named(documents[0].job)
	own := func(job *v1.PaddleJob) *vcscheduling.PodGroup {
		return plan.OwnPodGroup(q.Snapshot, job.Namespace, job.Name)
	}
	q.Requested = plan.Requested(own(q.Job))
	if err := s.check(documents, own); err != nil || p.snapshot != "" {
		return err
	}
	return s.dryRun(ctx, documents[0])
}

// dryRun refuses a job with whose spec the API server finds fault. Other errors, such as a job of that name or no permission to create one,
// are no fault of the plan.
func (s *session) dryRun(ctx context.Context, d document) error {
	clients, _, err := s.connect()
	if err != nil {
		return err
	}
	if _, err := clients.Create(ctx, d.job, metav1.DryRunAll); apierrors.IsInvalid(err) {
		return refused("%s: job %s would be refused: %w", d.where, d.job.Name, err)
	}
	return nil
}

// loadSnapshot takes a snapshot, or reads one.
func (s *session) loadSnapshot(ctx context.Context, p *planFlags) error {
	configuration, err := s.readConfiguration(p.configuration)
	if err != nil {
		return err
	}
	q := &p.question
	if p.snapshot == "" {
		clients, _, err := s.connect()
		if err != nil {
			return err
		}
		if q.Snapshot, err = clients.Snapshot(ctx, p.scheduler, configuration); err != nil {
			return err
		}
	} else if q.Snapshot, err = openSnapshot(p.snapshot); err != nil {
		return err
	}
	if configuration != "" {
		q.Snapshot.SchedulerConfiguration = configuration
	}
	if q.Snapshot.SchedulerConfiguration != "" {
		return nil
	}
	shipped, err := deploy.Files.ReadFile("v1/scheduler.yaml")
	if err != nil {
		return err
	}
	s.note("Assumed: the scheduler's configuration is that of deploy/v1/scheduler.yaml. Name another one by --scheduler-config FILE.")
	q.Snapshot.SchedulerConfiguration, err = snapshot.ReadConfiguration(bytes.NewReader(shipped))
	return err
}

func openSnapshot(name string) (*snapshot.Snapshot, error) {
	in, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	taken, err := snapshot.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return taken, nil
}
