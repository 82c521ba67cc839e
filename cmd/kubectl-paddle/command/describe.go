// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

func (s *session) describe() *cobra.Command {
	cmd := &cobra.Command{
		Use: "describe JOB", Short: "Show a job: its roles and pods, where they are, its conditions and warnings", Args: cobra.ExactArgs(1),
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

// traffic returns rows about what each step of a running job sends over the network, where it is and on an empty cluster. A job
// that sends nothing cannot be placed better.
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
	rows := [][]string{{"Name:", job.Name}, {"Namespace:", job.Namespace}, {"Status:", string(job.Status.Phase)}}
	for _, row := range [][]string{{"Reason:", reason}, {"Mode:", cmp.Or(string(job.Status.Mode), string(builder.Mode(job)))}, {"Queue:", job.Status.Queue}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
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
		Use: "why JOB", Short: "Say why a job waits, restarts, is slow, or has failed, and what helps", Args: cobra.ExactArgs(1),
		ValidArgsFunction: s.jobNames(false),
	}
	output := dataFlag(cmd)
	cmd.Flags().BoolVar(&details, "details", false, "show the figures behind the sentences: what is missing, what fits into the best racks and nodes, what is on which node")
	cmd.RunE = s.loaded(func(ctx context.Context, c *cluster.Clients, o *describe.Objects) error {
		if o.Job.Status.Phase == v1.Running && len(describe.Spread(o.PodGroup)) > 0 {
			s.loadIdeal(ctx, c, o)
		}
		d := describe.Why(o)
		if *output == "" {
			printSkipped(s, d.Unread)
		}
		return s.printData(*output, d, strings.Join(append([]string{d.Headline}, describe.Lines(d.Sentences, details)...), "\n")+"\n")
	})
	return cmd
}
