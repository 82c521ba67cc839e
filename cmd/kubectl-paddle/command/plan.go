// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// planFlags are the flags of plan.
type planFlags struct {
	file, snapshot, configuration, scheduler string
	question                                 plan.Question
}

func (s *session) plan() *cobra.Command {
	p := &planFlags{}
	cmd := &cobra.Command{
		Use: "plan -f FILE | plan JOB", Short: "Say where a job would go now, or why it would wait; nothing is written",
		Long: `Say where a job would go now, and what a step of training would send over the network there, or why it would wait and
what would help. The scheduler itself is asked, with the cluster's own configuration: nothing is
written. Jobs that wait already take part. A job of a file that the API server would refuse is refused; with --snapshot
only submit finds all that it would.

It ends with 0 if the job would start now, and with 5 if it would wait.`,
		Example: `  kubectl paddle plan -f job.yaml
  kubectl paddle plan -f job.yaml --add-nodes 4
  kubectl paddle plan -f job.yaml --without-node gpu-node-7
  kubectl paddle plan -f job.yaml --snapshot monday.json.gz
  kubectl paddle plan resnet`,
		Args:              p.check,
		ValidArgsFunction: s.jobNames(false),
	}
	flags := cmd.Flags()
	flags.StringVarP(&p.file, "filename", "f", "", "file with one PaddleJob, in YAML or JSON; - is the standard input")
	flags.StringVar(&p.snapshot, "snapshot", "", "plan on what this file of kubectl paddle snapshot holds; the cluster is not asked")
	flags.StringVar(&p.configuration, "scheduler-config", "", "file with the scheduler's configuration, instead of the cluster's ConfigMap")
	flags.StringVar(&p.scheduler, "scheduler", "", "what the jobs call their scheduler, where it is not volcano (spec.schedulerName); see --scheduler-config")
	flags.IntVar(&p.question.AddNodes, "add-nodes", 0, "number of nodes to add, copies of --like or of a node of the largest group")
	flags.StringVar(&p.question.Like, "like", "", "the node that --add-nodes copies")
	flags.StringSliceVar(&p.question.Without, "without-node", nil, "plan without this node and what runs there")
	output := dataFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q := &p.question
		q.Name = strings.Join(args, "")
		if err := s.loadQuestion(cmd.Context(), p); err != nil {
			return err
		}
		response, err := s.simulate(cmd.Context(), &plan.Request{Question: q})
		if err != nil {
			return err
		}
		printSkipped(s, q.Snapshot.Unread)
		if err := s.printData(*output, response.Plan, planText(response.Plan)); err != nil || response.Plan.Fits {
			return err
		}
		return plan.Errorf(plan.Waits, "")
	}
	return cmd
}

func (p *planFlags) check(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1 || (len(args) == 1) == (p.file != ""):
		return usage("name a file, -f FILE, or one job that waits")
	case p.question.AddNodes < 0 || p.question.Like != "" && p.question.AddNodes == 0:
		return usage("--add-nodes is %d and --like is %q: add 1 or more", p.question.AddNodes, p.question.Like)
	}
	return nil
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
	q.Config.BarrierImage = "as shipped" // the start barrier of the released controller requests some CPU and memory
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
	q.Requested = plan.Requested(q.Job, q.Snapshot.PodGroups...)
	if err := s.check(documents, func(*v1.PaddleJob) builder.PodGroupOverrides { return q.Requested }); err != nil || p.snapshot != "" {
		return err
	}
	clients, err := s.connect()
	if err != nil {
		return err
	}
	d := documents[0]
	// Other errors, such as a job of that name, do not concern the plan.
	if _, err := clients.Create(ctx, d.job, metav1.DryRunAll); apierrors.IsInvalid(err) {
		return refused("%s: job %s would be refused: %v", d.where, d.job.Name, err)
	}
	return nil
}

// loadSnapshot takes a snapshot, or reads one.
func (s *session) loadSnapshot(ctx context.Context, p *planFlags) (err error) {
	q, configuration := &p.question, ""
	if p.configuration != "" {
		if configuration, err = readAs(s, p.configuration, snapshot.ReadConfiguration); err != nil {
			return err
		}
	}
	if p.snapshot == "" {
		clients, err := s.connect()
		if err != nil {
			return err
		}
		if q.Snapshot, err = clients.Snapshot(ctx, p.scheduler, configuration); err != nil {
			return err
		}
	} else if q.Snapshot, err = readAs(s, p.snapshot, snapshot.Read); err != nil {
		return err
	}
	if q.Snapshot.SchedulerConfiguration = cmp.Or(configuration, q.Snapshot.SchedulerConfiguration); q.Snapshot.SchedulerConfiguration != "" {
		return nil
	}
	shipped, err := deploy.Files.ReadFile("v1/scheduler.yaml")
	if err != nil {
		return err
	}
	s.note("Assumed: the scheduler's configuration is that of deploy/v1/scheduler.yaml. Name another one by --scheduler-config FILE.")
	q.Snapshot.SchedulerConfiguration, err = snapshot.ReadConfiguration(shipped)
	return err
}

// readAs reads a file.
func readAs[T any](s *session, name string, read func([]byte) (T, error)) (content T, err error) {
	file, err := s.readFile(name)
	if err != nil {
		return content, err
	}
	if content, err = read(file); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return content, err
}

func (s *session) snapshot() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "snapshot", Short: "Write what the scheduler sees to one file, for bug reports and plans without the cluster", Args: cobra.NoArgs,
		Long: `Write what the scheduler sees to one file: nodes and their topology, pods, PodGroups, queues, priority classes,
quotas and the scheduler's configuration.

Of each object only what the scheduler reads is kept. Variables, commands, images, volumes, names of secrets and
everybody else's annotations are left out; names, labels and selectors are kept.`,
		Example: "  kubectl paddle snapshot -o monday.json.gz\n  kubectl paddle plan -f job.yaml --snapshot monday.json.gz",
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write: YAML for .yaml, JSON for .json, packed JSON for any other; - is the standard output, in YAML")
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, _ []string) error {
		taken, err := c.Snapshot(ctx, "", "")
		if err != nil {
			return err
		}
		printSkipped(s, taken.Unread)
		if file == "-" {
			return taken.Write(s.Out, ".yaml")
		}
		if file == "" {
			file = "paddle-snapshot-" + taken.Time.UTC().Format("20060102-150405") + ".json.gz"
		}
		var packed bytes.Buffer
		if err := taken.Write(&packed, file); err != nil {
			return err
		}
		if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
			return err
		}
		return s.say(fmt.Sprintf("%s: %d nodes, %d pods and %d PodGroups at %s\n",
			file, len(taken.Nodes), len(taken.Pods), len(taken.PodGroups), taken.Time.UTC().Format(time.RFC3339)))
	})
	return cmd
}

// planText returns a plan as text.
func planText(p *plan.Plan) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	switch {
	case !p.Fits:
		say("%s does not fit now: it would wait.", p.Name)
		for _, line := range describe.Lines(report.English, p.Why, false) {
			say("%s", line)
		}
	case len(p.Evicted) > 0:
		say("%s fits once others have been evicted: %s.", p.Name, gangWords(p.Evicted))
	default:
		say("%s fits: it would start now.", p.Name)
	}
	if p.Fits {
		say("\n%s", placeTable(p))
		if len(p.Traffic) > 0 {
			say("%s", trafficTable(p))
		}
	}
	if len(p.First) > 0 {
		say("Jobs that wait already would take their nodes in the same moment: %s.", gangWords(p.First))
	}
	switch {
	case p.Fits:
	case p.Blocked:
		say("Without them it would fit.")
	case p.Empty.Fits:
		say("It would fit on an empty cluster: %s", p.Empty.Where)
	case len(p.Empty.Why) > 0 && len(p.Why) > 0 && p.Empty.Why[0].Text == p.Why[0].Text:
		say("It would not fit on an empty cluster either.")
	case len(p.Empty.Why) > 0:
		say("It would not fit on an empty cluster either: %s", p.Empty.Why[0].Text)
	}
	if len(p.Displaced) > 0 {
		say("Pods on the removed nodes that need other nodes: %s.", gangWords(p.Displaced))
	}
	for _, note := range p.Notes {
		say("Note: %s.", note)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// maxPlaces is how many lines a role has at most; -o json and -o yaml have all.
const maxPlaces = 12

// placeTable has a line for each role and domain.
func placeTable(p *plan.Plan) string {
	rows := [][]string{{"ROLE", "PODS", "WHERE"}}
	for _, role := range p.Roles {
		placed := 0
		for _, place := range role.Places {
			placed += place.Pods
		}
		name, pods := role.Name, strconv.Itoa(placed)
		if placed != role.Pods {
			pods = fmt.Sprintf("%d of %d", placed, role.Pods) // the minimum of the job fits
		}
		lines := placeLines(role.Places)
		if len(lines) > maxPlaces+1 {
			lines = append(lines[:maxPlaces:maxPlaces], fmt.Sprintf("and %d more places (-o yaml has all)", len(lines)-maxPlaces))
		}
		for _, line := range lines {
			rows = append(rows, []string{name, pods, line})
			name, pods = "", ""
		}
	}
	return table("", rows)
}

// placeLines returns the nodes by domain: "rack-0: node-0 x2, node-1 x2".
func placeLines(places []plan.Place) (lines []string) {
	if len(places) == 0 {
		return []string{"-"}
	}
	for i, place := range places {
		text := fmt.Sprintf("%s x%d", place.Node, place.Pods)
		switch {
		case i > 0 && places[i-1].Domain == place.Domain:
			lines[len(lines)-1] += ", " + text
		case place.Domain != "":
			lines = append(lines, place.Domain+": "+text)
		default:
			lines = append(lines, text)
		}
	}
	return lines
}

// trafficTable compares what a step of training sends here with what it would send on the empty cluster.
func trafficTable(p *plan.Plan) string {
	unit := report.Placement{InBytes: p.Unit == plan.Bytes}
	amount := func(amount float64) string {
		if amount == 0 {
			return "nothing"
		}
		return unit.Amount(amount)
	}
	rows := [][]string{{"EACH STEP SENDS", "HERE", "ON AN EMPTY CLUSTER"}}
	for _, tier := range p.Traffic {
		best := "-"
		if tier.Best != nil {
			best = amount(*tier.Best)
		}
		rows = append(rows, []string{"between " + report.Domains(2, tier.Tier), amount(tier.Now), best})
	}
	return table("", rows)
}

func gangWords(gangs []plan.Gang) string {
	var words []string
	for _, gang := range gangs {
		words = append(words, fmt.Sprintf("%s/%s (%s)", gang.Namespace, gang.Name, describe.Count(gang.Pods, "pod")))
	}
	return report.English.Some(words)
}
