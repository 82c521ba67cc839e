// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// narrow is how much of a reason a row shows; -o wide shows all.
const narrow = 60

func (s *session) list() *cobra.Command {
	var everywhere bool
	var selector string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List jobs, and in a few words why some do not run", Args: none,
		Long: "List jobs, and in a few words why some do not run.\n\n" +
			"AHEAD IN QUEUE (-o wide) is how many pending jobs of the same queue precede a job: those of a higher priority, and the older\n" +
			"ones of the same priority. 2+ is 2 or more: you have no permission to read other namespaces. A job that fits may start before\n" +
			"one ahead of it that does not, and plugins that share a queue (drf) may change the order.",
		Example: "  kubectl paddle list\n  kubectl paddle list -A -l team=vision\n  kubectl paddle list -o wide",
	}
	output := newPrint(cmd, "")
	cmd.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list the jobs of all namespaces")
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "list jobs with these labels, such as team=vision,stage!=test")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := labels.Parse(selector); err != nil {
			return usage("--selector: %w", err)
		}
		if err := checkFormat(output, true); err != nil {
			return err
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		if everywhere {
			namespace = metav1.NamespaceAll
		}
		jobs, err := clients.Paddle.BatchV1().PaddleJobs(namespace).List(cmd.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		if !tables(output) {
			return s.printObject(output, listOf(jobs.Items))
		}
		if len(jobs.Items) == 0 {
			where := "any namespace"
			if !everywhere {
				where = "namespace " + namespace
			}
			s.note("No jobs found in %s.", where)
			return nil
		}
		if *output.OutputFormat != "wide" {
			return s.say(jobTable(jobs.Items, everywhere, nil))
		}
		queues, unread, err := clients.Queues(cmd.Context(), namespace)
		if err != nil {
			return err
		}
		s.printSkipped(unread)
		return s.say(jobTable(jobs.Items, everywhere, queues))
	}
	return cmd
}

// jobTable returns a row for each job; with queues the wide one.
func jobTable(jobs []v1.PaddleJob, everywhere bool, queues *describe.Queues) string {
	slices.SortFunc(jobs, func(a, b v1.PaddleJob) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	now := time.Now()
	rows := [][]string{{"NAME", "STATUS", "MODE", "PS", "WORKER", "QUEUE", "AGE", "WHY"}}
	if queues != nil {
		rows[0] = slices.Insert(rows[0], 6, "AHEAD IN QUEUE")
	}
	for i := range jobs {
		job := &jobs[i]
		row := []string{
			job.Name, string(job.Status.Phase), string(job.Status.Mode), describe.ReadyPods(job, builder.RolePS), describe.ReadyPods(job, builder.RoleWorker),
			job.Status.Queue,
		}
		most := narrow
		if queues != nil {
			row, most = append(row, queues.QueuePosition(job)), 0
		}
		rows = append(rows, append(row, duration.HumanDuration(now.Sub(job.CreationTimestamp.Time)), describe.Short(job, now, most)))
	}
	if everywhere {
		rows[0] = slices.Insert(rows[0], 0, "NAMESPACE")
		for i := range jobs {
			rows[i+1] = slices.Insert(rows[i+1], 0, jobs[i].Namespace)
		}
	}
	return table(rows)
}

// table returns rows in columns.
func table(rows [][]string) string {
	var lines, text strings.Builder
	for _, row := range rows {
		lines.WriteString(strings.TrimRight(strings.Join(row, "\t"), "\t") + "\n")
	}
	out := printers.GetNewTabWriter(&text)
	_, err := io.WriteString(out, lines.String())
	must(err)
	must(out.Flush())
	return text.String()
}
