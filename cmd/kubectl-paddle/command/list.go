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

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

// narrow is how much of a reason a row shows; -o wide shows all.
const narrow = 60

func (s *session) list() *cobra.Command {
	var everywhere bool
	var selector string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List jobs, and in a few words why some do not run", Args: none,
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
		most := narrow
		if *output.OutputFormat == "wide" {
			most = 0
		}
		return s.listTable(jobs.Items, everywhere, most)
	}
	return cmd
}

func (s *session) listTable(jobs []v1.PaddleJob, everywhere bool, most int) error {
	slices.SortFunc(jobs, func(a, b v1.PaddleJob) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	now := time.Now()
	rows := [][]string{{"NAME", "STATUS", "MODE", "PS", "WORKER", "QUEUE", "AGE", "WHY"}}
	for i := range jobs {
		job := &jobs[i]
		rows = append(rows, []string{
			job.Name, string(job.Status.Phase), string(job.Status.Mode), ready(job.Status.PS), ready(job.Status.Worker), job.Status.Queue,
			duration.HumanDuration(now.Sub(job.CreationTimestamp.Time)), story.Short(job, now, most),
		})
	}
	if everywhere {
		rows[0] = append([]string{"NAMESPACE"}, rows[0]...)
		for i := range jobs {
			rows[i+1] = append([]string{jobs[i].Namespace}, rows[i+1]...)
		}
	}
	return s.say(table(rows))
}

func ready(status *v1.ResourceStatus) string {
	if status == nil {
		return ""
	}
	return status.Ready
}

// table is rows in columns.
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
