// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

func (s *session) get() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get JOB", Short: "Show a job: its roles and pods, where they are, and what has happened", Args: oneJob,
		ValidArgsFunction: s.jobNames(false),
	}
	output := newPrint(cmd, "")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkFormat(output, true); err != nil {
			return err
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		if !tables(output) {
			job, err := clients.Paddle.BatchV1().PaddleJobs(namespace).Get(cmd.Context(), args[0], metav1.GetOptions{})
			if err != nil {
				return err
			}
			return s.printObject(output, job)
		}
		o, err := clients.Load(cmd.Context(), namespace, args[0])
		if err != nil {
			return err
		}
		sends, err := s.traffic(cmd.Context(), clients, o)
		if err != nil {
			return err
		}
		return s.getTables(o, sends)
	}
	return cmd
}

// traffic returns rows about what each step of a running job sends over the network, where it is and on an empty cluster. A job
// that sends nothing cannot be placed better.
func (s *session) traffic(ctx context.Context, clients *cluster.Clients, o *describe.Objects) ([][]string, error) {
	here := describe.Placement(o.PodGroup)
	if here == nil || here.Traffic() == "" || observed.Finished(o.Job) {
		return nil, nil
	}
	rows := [][]string{{"A step sends:", sent(here)}}
	if !slices.ContainsFunc(here.Tiers, func(t report.Tier) bool { return t.Crossing > 0 }) {
		return rows, nil
	}
	known, err := ideal(ctx, clients, o)
	if err != nil || !known {
		return rows, err
	}
	best := "it would not fit as it is"
	if o.Ideal != nil {
		if best = sent(o.Ideal); best == sent(here) {
			best = "as much"
		}
	}
	return append(rows, []string{"On an empty cluster:", best}), nil
}

// sent returns what a step sends over the network, and what the busiest link takes if that is known.
func sent(p *report.Placement) string {
	text := p.Traffic()
	if busiest := p.Busiest(); busiest != "" {
		text += "; the busiest link takes " + busiest
	}
	return text
}

// ideal finds where a job would run on an empty cluster, and reports whether that is known. It needs the permission to read nodes.
func ideal(ctx context.Context, clients *cluster.Clients, o *describe.Objects) (known bool, err error) {
	alone, err := clients.Alone(ctx, o)
	if apierrors.IsForbidden(err) {
		o.Unread = append(o.Unread, "what a step would send on an empty cluster (you have no permission to read nodes)")
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, unread := range alone.Unread {
		o.Unread = append(o.Unread, "what a step would send on an empty cluster: "+unread.What+" ("+unread.Why+")")
	}
	if len(alone.Unread) > 0 {
		return false, nil
	}
	o.Ideal, err = plan.Ideal(alone)
	return err == nil, err
}

func (s *session) getTables(o *describe.Objects, sends [][]string) error {
	job := o.Job
	mode := string(job.Status.Mode)
	if mode == "" {
		mode = string(builder.Mode(job))
	}
	rows := [][]string{
		{"Name:", job.Name}, {"Namespace:", job.Namespace}, {"Status:", string(job.Status.Phase)}, {"Mode:", mode},
	}
	if job.Status.Queue != "" {
		rows = append(rows, []string{"Queue:", job.Status.Queue})
	}
	for _, role := range observed.Roles {
		if spec := observed.Spec(job, role); spec != nil {
			count := strconv.Itoa(int(spec.Replicas)) + " wanted"
			if ready := describe.ReadyPods(job, role); ready != "" {
				count = ready + " running"
			}
			rows = append(rows, []string{"Role " + role + ":", count})
		}
	}
	rows = append(rows, []string{"Restarts:", strconv.Itoa(int(job.Status.Restarts))})
	rows = append(rows, sends...)
	text := table(rows)
	if members := describe.Members(o); len(members) > 0 {
		rows := [][]string{{"ROLE", "RANK", "POD", "STATUS", "NODE", "ADDRESS", "RESTARTS", "AGE"}}
		for _, m := range members {
			rows = append(rows, []string{m.Role, strconv.Itoa(m.Rank), m.Pod, m.Phase, dash(m.Node), dash(m.Address), strconv.Itoa(int(m.Restarts)), m.Age})
		}
		text += "\n" + table(rows)
	}
	if conditions := describe.Conditions(o); len(conditions) > 0 {
		text += "\n" + strings.Join(conditions, "\n") + "\n"
	}
	s.printSkipped(o.Unread)
	return s.say(text)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
