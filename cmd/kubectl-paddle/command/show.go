// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-base/term"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

func (s *session) describe() *cobra.Command {
	cmd := &cobra.Command{
		Use: "describe JOB", Short: "Show a job: its roles and pods, where they are, its conditions and events", Args: oneJob,
		ValidArgsFunction: s.jobNames(false),
	}
	cmd.RunE = s.loaded(func(ctx context.Context, c *cluster.Clients, o *describe.Objects) error {
		text := describeText(o, s.traffic(ctx, c, o))
		printSkipped(s, o.Unread)
		return s.say(text)
	})
	return cmd
}

// loaded returns what a command runs that is about one job and what belongs to it.
func (s *session) loaded(run func(context.Context, *cluster.Clients, *describe.Objects) error) func(*cobra.Command, []string) error {
	return s.connected(func(ctx context.Context, c *cluster.Clients, args []string) error {
		o, err := c.Load(ctx, args[0])
		if err != nil {
			return err
		}
		return run(ctx, c, o)
	})
}

// traffic returns rows about what each step of a running job sends over the network, here and, unless it is nothing, on an empty cluster.
func (s *session) traffic(ctx context.Context, clients *cluster.Clients, o *describe.Objects) [][]string {
	here := describe.Placement(o.PodGroup)
	if here == nil || here.Traffic() == "" || observed.Finished(o.Job) {
		return nil
	}
	rows := [][]string{{"A step sends:", sent(here)}}
	if !slices.ContainsFunc(here.Tiers, func(t report.Tier) bool { return t.Crossing > 0 }) || !s.loadIdeal(ctx, clients, o) {
		return rows
	}
	best := "it would not fit as it is"
	if o.Ideal != nil {
		if best = sent(o.Ideal); best == sent(here) {
			best = "the same"
		}
	}
	return append(rows, []string{"On an empty cluster:", best})
}

// sent returns what a step sends over the network, and what the busiest link takes if that is known.
func sent(p *report.Placement) string {
	text := p.Traffic()
	if busiest := p.Busiest(); busiest != "" {
		text += "; the busiest link takes " + busiest
	}
	return text
}

// loadIdeal finds where a job would run on an empty cluster, by the nodes and the simulator, and reports whether that is known.
func (s *session) loadIdeal(ctx context.Context, clients *cluster.Clients, o *describe.Objects) (known bool) {
	const what = "what a step would send on an empty cluster"
	alone, err := clients.Alone(ctx, o)
	if err == nil {
		var response *plan.Response
		if response, err = s.simulate(ctx, &plan.Request{Alone: alone}); err == nil {
			o.Ideal = response.Ideal
			return true
		}
	}
	why := err.Error()
	if apierrors.IsForbidden(err) {
		why = "nodes (you have no permission to read them)"
	}
	o.Unread = append(o.Unread, what+": "+why)
	return false
}

func describeText(o *describe.Objects, traffic [][]string) string {
	job := o.Job
	reason, _ := describe.Cause(job, o.Now)
	rows := slices.DeleteFunc([][]string{
		{"Name:", job.Name}, {"Namespace:", job.Namespace}, {"Status:", cmp.Or(string(job.Status.Phase), "<none>")}, {"Reason:", reason},
		{"Mode:", cmp.Or(string(job.Status.Mode), string(builder.Mode(job)))}, {"Queue:", job.Status.Queue},
	}, func(row []string) bool { return row[1] == "" })
	for _, role := range builder.Roles(job) {
		count := strconv.Itoa(int(role.Spec.Replicas)) + " desired"
		if ready := describe.ReadyPods(job, role.Name); ready != "" {
			count = ready + " running"
		}
		rows = append(rows, []string{"Role " + role.Name + ":", count})
	}
	rows = append(rows, []string{"Restarts:", strconv.Itoa(int(job.Status.Restarts))})
	text := []string{table("", append(rows, traffic...))}
	for _, section := range []struct {
		title  string
		header []string
		rows   [][]string
	}{
		{"Pods", []string{"Role", "Rank", "Pod", "Status", "Node", "Address", "Restarts", "Age"}, describe.PodRows(o)},
		{"Conditions", []string{"Type", "Status", "Reason", "Age", "Message"}, describe.ConditionRows(o)},
		{"Events", []string{"Type", "Reason", "Age", "Object", "Message"}, describe.EventRows(o)},
	} {
		if len(section.rows) == 0 {
			text = append(text, section.title+": <none>\n")
			continue
		}
		var dashes []string
		for _, name := range section.header {
			dashes = append(dashes, strings.Repeat("-", len(name)))
		}
		text = append(text, section.title+":\n", table("  ", append([][]string{section.header, dashes}, section.rows...)))
	}
	return strings.Join(text, "")
}

func (s *session) why() *cobra.Command {
	var details bool
	cmd := &cobra.Command{
		Use: "why JOB", Short: "Say why a job waits, restarts, is slow, or has failed, and what helps", Args: oneJob,
		ValidArgsFunction: s.jobNames(false),
	}
	output := dataFlag(cmd)
	cmd.Flags().BoolVar(&details, "details", false, "show the figures behind the sentences: what is missing, what fits into the best racks and nodes, what is on which node")
	cmd.RunE = s.loaded(func(ctx context.Context, c *cluster.Clients, o *describe.Objects) error {
		if meta.IsStatusConditionTrue(o.Job.Status.Conditions, v1.ConditionRunning) && len(describe.Spread(o.PodGroup)) > 0 {
			s.loadIdeal(ctx, c, o)
		}
		o.Catalog = report.English
		if *output == "" {
			o.Catalog = report.ForLocale(os.Getenv)
			printSkipped(s, o.Unread)
		}
		d := describe.Why(o)
		return s.printData(*output, d, strings.Join(append([]string{d.Headline}, describe.Lines(o.Catalog, d.Sentences, details)...), "\n")+"\n")
	})
	return cmd
}

func (s *session) mapCommand() *cobra.Command {
	var labels []string
	var width int
	cmd := &cobra.Command{
		Use: "map [JOB]", Short: "Show the cluster's racks and nodes with the jobs on them, and one job before all others",
		Long: "Show the cluster's racks and nodes with the jobs on them. A named job is seen before all others.\n" +
			"Racks and blocks are what the scheduler uses: HyperNodes, or else the node labels of its plugin's argument topology-labels.",
		Example:           "  kubectl paddle map\n  kubectl paddle map resnet -o html > map.html\n  kubectl paddle map --topology-labels example.com/rack,example.com/block",
		ValidArgsFunction: s.jobNames(false),
		Args:              cobra.MaximumNArgs(1),
	}
	output := dataFlag(cmd, "text", "html", "svg")
	cmd.Flags().StringSliceVar(&labels, "topology-labels", nil, "keys of the node labels that name racks, blocks and so on, nearest first; the scheduler's own where it is not given")
	cmd.Flags().IntVar(&width, "width", 0, "columns of text; the terminal's, or 100, where it is not given")
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, args []string) error {
		for _, name := range args {
			if _, err := cluster.Get[v1.PaddleJob](ctx, c, c.Namespace, name); err != nil {
				return err
			}
		}
		o, err := c.LoadMap(ctx, labels)
		if err != nil {
			return err
		}
		o.Namespace, o.Name = c.Namespace, strings.Join(args, "")
		response, err := s.simulate(ctx, &plan.Request{Network: &o.Network})
		if err != nil {
			return err
		}
		o.Tiers = response.Tiers
		return s.printMap(drawing.New(o), *output, width)
	})
	return cmd
}

func (s *session) printMap(m *drawing.Map, output string, width int) error {
	switch output {
	case "html":
		return s.say(m.HTML())
	case "svg":
		return s.say(m.SVG())
	}
	columns, _, err := term.TerminalSize(s.Out)
	return s.printData(output, m, m.Text(cmp.Or(width, columns, 100), err == nil && os.Getenv("NO_COLOR") == ""))
}

func (s *session) logs() *cobra.Command {
	var role string
	var rank int
	cmd := &cobra.Command{
		Use: "logs JOB", Short: "Show what the pods of a role write, or one of them: kubectl logs with their labels", Args: oneJob,
		Long: "Show what the pods of a role write: kubectl logs with their labels. With several pods each line begins with its pod.\n" +
			"With -f pods that have not started yet are waited for. A gang that restarts has new pods: run the command again.",
		Example:           "  kubectl paddle logs resnet\n  kubectl paddle logs resnet --role worker --rank 3 -f\n  kubectl paddle logs resnet --role ps --previous",
		ValidArgsFunction: s.jobNames(false),
	}
	flags := cmd.Flags()
	flags.StringVar(&role, "role", builder.RoleWorker, "role of the pods: "+strings.Join(observed.Roles, ", "))
	flags.IntVar(&rank, "rank", -1, "rank of the pod within its role; all pods of the role if it is not given")
	follow := flags.BoolP("follow", "f", false, "continue until the pods end")
	flags.StringP("container", "c", "", "container; the first, in which training is, if it is not given")
	flags.BoolP("previous", "p", false, "show the container's run before this one")
	flags.Bool("timestamps", false, "begin each line with its time")
	flags.Int("tail", -1, "number of most recent lines to show")
	flags.Int("max-log-requests", 64, "number of pods to follow at most")
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(observed.Roles, cobra.ShellCompDirectiveNoFileComp)))
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, args []string) error {
		if !slices.Contains(observed.Roles, role) {
			return usage("--role %q is not one of %s", role, strings.Join(observed.Roles, ", "))
		}
		job, err := cluster.Get[v1.PaddleJob](ctx, c, c.Namespace, args[0])
		if err != nil {
			return err
		}
		chosen := labels.Set{v1.JobNameLabel: job.Name, v1.ResourceTypeLabel: role}
		if flags.Changed("rank") {
			chosen[v1.TaskIndexLabel] = strconv.Itoa(rank)
		}
		pods, err := awaitStart(ctx, c, chosen, *follow)
		if err != nil {
			return err
		}
		if pods == 0 {
			return plan.Errorf(plan.NotFound, "job %s (%s) has no pod of role %s and that rank: kubectl paddle describe %[1]s shows those it has, and kubectl paddle why %[1]s why", job.Name, job.Status.Phase, role)
		}
		// --tail and --max-log-requests have other defaults in kubectl.
		kubectl := []string{"logs", "--selector=" + chosen.String(), "--prefix=" + strconv.FormatBool(pods > 1), "--tail=-1", "--max-log-requests=64"}
		flags.Visit(func(f *pflag.Flag) {
			if f.Name != "role" && f.Name != "rank" {
				kubectl = append(kubectl, "--"+f.Name+"="+f.Value.String())
			}
		})
		run := exec.CommandContext(ctx, "kubectl", kubectl...) //nolint:gosec // the user's flags
		run.Stdin, run.Stdout, run.Stderr = s.In, s.Out, s.ErrOut
		err = run.Run()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
			return plan.Errorf(plan.Failed, "") // kubectl has printed why
		}
		return cmp.Or(ctx.Err(), err)
	})
	return cmd
}

// startPoll is how often pods are read until they have started.
const startPoll = time.Second

// awaitStart returns how many pods have the labels. If they are followed it waits until all have started.
func awaitStart(ctx context.Context, clients *cluster.Clients, chosen labels.Set, follow bool) (count int, err error) {
	err = wait.PollUntilContextCancel(ctx, startPoll, true, func(ctx context.Context) (bool, error) {
		pods, err := clients.Pods(ctx, chosen)
		count = len(pods)
		return !follow || !slices.ContainsFunc(pods, starts), err
	})
	return count, err
}

// starts reports whether a pod has not started its first container yet, and still may.
func starts(pod *corev1.Pod) bool {
	started := func(c corev1.ContainerStatus) bool { return c.State.Running != nil || c.State.Terminated != nil }
	return pod.Status.Phase == corev1.PodPending && !slices.ContainsFunc(pod.Status.ContainerStatuses, started)
}

// migration is what migrate-check prints as data.
type migration struct {
	Warnings []string             `json:"warnings,omitempty"`
	Steps    []migrate.Step       `json:"steps,omitempty"`
	Jobs     []migrate.Assessment `json:"jobs"`
}

func (s *session) migrateCheck() *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use: "migrate-check", Short: "Show what a migration from paddle-operator does to each job, and its commands; changes nothing", Args: cobra.NoArgs,
		Long: "Finds paddle-operator, shows for each PaddleJob what the controller does with it, and prints the commands of the migration in their order. " +
			"It only reads: get and list of PaddleJobs, Deployments, pods, Services, ConfigMaps, CRDs, PriorityClasses and Volcano's objects.",
	}
	output := dataFlag(cmd)
	cmd.Flags().BoolVar(&here, "only-namespace", false, "only the jobs of the current namespace")
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, _ []string) error {
		if !here {
			c.Namespace = metav1.NamespaceAll
		}
		found, err := c.Migration(ctx)
		if err != nil {
			return err
		}
		var views []*observed.State
		if found.API && found.Volcano {
			if views, err = c.Views(ctx); err != nil {
				return err
			}
		}
		if *output == "" && found.API && !found.Volcano {
			s.note("The outcome for each job is shown once Volcano is installed.")
		}
		return s.printMigration(*output, found, views)
	})
	return cmd
}

// printMigration prints the outcome for each job, in the order of their names.
func (s *session) printMigration(output string, found *migrate.Cluster, views []*observed.State) error {
	m := migration{Warnings: found.Warnings(), Steps: found.Steps(), Jobs: []migrate.Assessment{}}
	for _, v := range views {
		m.Jobs = append(m.Jobs, migrate.Assess(v, settings))
	}
	slices.SortFunc(m.Jobs, func(a, b migrate.Assessment) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return s.printData(output, m, m.text())
}

// text returns the warnings, the jobs and the steps.
func (m *migration) text() string {
	var out strings.Builder
	for _, warning := range m.Warnings {
		fmt.Fprintf(&out, "WARNING: %s\n", warning)
	}
	if len(m.Jobs) > 0 {
		rows := [][]string{{"NAMESPACE", "NAME", "OUTCOME", "MESSAGE"}}
		for _, job := range m.Jobs {
			rows = append(rows, []string{job.Namespace, job.Name, job.Outcome.Words(), job.Message})
			for _, note := range job.Notes {
				rows = append(rows, []string{"", "", "", "- " + note})
			}
		}
		out.WriteString(table("", rows))
	}
	if len(m.Steps) == 0 {
		out.WriteString("Nothing is left to do: the controller runs the PaddleJobs.\n")
		return out.String()
	}
	out.WriteString("To switch, in this order:\n")
	for i, step := range m.Steps {
		fmt.Fprintf(&out, "%d. %s\n", i+1, step.Do)
		if step.Command != "" {
			fmt.Fprintf(&out, "   %s\n", step.Command)
		}
	}
	return out.String()
}
