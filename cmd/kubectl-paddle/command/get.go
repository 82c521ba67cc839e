// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// getter is one run of get.
type getter struct {
	*session
	output                       *printFlags
	everywhere, watch, noHeaders bool
	selector, sortBy             string
	clients                      *cluster.Clients
	namespace                    string
	// queues are read for -o wide.
	queues *describe.Queues
	rows   interface {
		io.Writer
		Flush() error
	}
}

func (s *session) get() *cobra.Command {
	g := &getter{session: s, rows: printers.GetNewTabWriter(s.Out)}
	cmd := &cobra.Command{
		Use: "get [JOB...]", Aliases: []string{"list", "ls"}, Short: "List jobs, with the reason for which some do not run", ValidArgsFunction: s.jobNames(true),
		Long: "List jobs, with the reason for which some do not run. -o wide has the message of the reason too, and the position in the queue.\n\n" +
			"POSITION IN QUEUE is how many pending jobs of the same queue precede a job: those of a higher priority, and the older ones of\n" +
			"the same priority. 2+ is 2 or more: you have no permission to read other namespaces. A job that fits may start before one ahead\n" +
			"of it that does not, and plugins that share a queue (drf) may change the order.",
		Example: "  kubectl paddle get\n  kubectl paddle get -A -l team=vision --sort-by .metadata.creationTimestamp\n  kubectl paddle get -o wide\n  kubectl paddle get -w",
	}
	g.output = newPrint(cmd, "")
	flags := cmd.Flags()
	flags.BoolVarP(&g.everywhere, "all-namespaces", "A", false, "list the jobs of all namespaces")
	flags.StringVarP(&g.selector, "selector", "l", "", "list jobs with these labels, such as team=vision,stage!=test")
	flags.StringVar(&g.sortBy, "sort-by", "", "order by this field, a JSONPath such as .metadata.creationTimestamp")
	flags.BoolVarP(&g.watch, "watch", "w", false, "print a row for each change from then on")
	flags.BoolVar(&g.noHeaders, "no-headers", false, "print no headers")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), args) }
	return cmd
}

func (g *getter) run(ctx context.Context, names []string) (err error) {
	switch _, err := labels.Parse(g.selector); {
	case err != nil:
		return usage("--selector: %w", err)
	case len(names) > 0 && (g.everywhere || g.selector != "" || g.watch):
		return usage("--all-namespaces, --selector and --watch are for lists: name no jobs")
	}
	if err := g.output.check(true); err != nil {
		return err
	}
	if g.clients, g.namespace, err = g.connect(); err != nil {
		return err
	}
	if g.everywhere {
		g.namespace = metav1.NamespaceAll
	}
	list, missing := g.read(ctx, names)
	if list == nil || len(list.Items) == 0 && missing != nil {
		return missing
	}
	if err := sortJobs(list.Items, g.sortBy); err != nil {
		return usage("--sort-by: %w", err)
	}
	if g.output.format == "wide" {
		var unread []string
		if g.queues, unread, err = g.clients.Queues(ctx, g.namespace); err != nil {
			return err
		}
		g.printSkipped(unread)
	}
	if len(list.Items) == 0 && g.output.table() && !g.watch {
		if g.everywhere {
			g.note("No resources found")
		} else {
			g.note("No resources found in %s namespace.", g.namespace)
		}
		return nil
	}
	printer, err := g.output.printer()
	switch {
	case g.output.table():
		printer = printers.NewTablePrinter(printers.PrintOptions{WithNamespace: g.everywhere, Wide: g.queues != nil, NoHeaders: g.noHeaders})
		err = g.print(printer, list.Items)
	case err != nil: // check has refused it
	case g.output.format == "name" || len(names) == 1:
		err = g.printJobs(g.output, list.Items...)
	default:
		err = printer.PrintObj(list, g.Out)
	}
	if err = errors.Join(err, missing); err != nil || !g.watch {
		return err
	}
	return g.follow(ctx, list.ResourceVersion, printer)
}

// read returns the jobs of these names, as far as they exist, or all.
func (g *getter) read(ctx context.Context, names []string) (*v1.PaddleJobList, error) {
	if len(names) == 0 {
		list, err := cluster.List[v1.PaddleJobList](ctx, g.clients, g.namespace, metav1.ListOptions{LabelSelector: g.selector})
		if err != nil {
			return nil, err
		}
		kept := listOf(list.Items)
		kept.ListMeta = list.ListMeta
		return kept, nil
	}
	var found []v1.PaddleJob
	var errs []error
	for _, name := range names {
		job, err := cluster.Get[v1.PaddleJob](ctx, g.clients, g.namespace, name)
		if err == nil {
			found = append(found, *job)
		}
		errs = append(errs, err)
	}
	return listOf(found), errors.Join(errs...)
}

// print prints rows. Columns keep their widths from one time to the next.
func (g *getter) print(printer printers.ResourcePrinter, jobs []v1.PaddleJob) error {
	return errors.Join(printer.PrintObj(g.table(jobs), g.rows), g.rows.Flush())
}

// follow prints each change of the jobs, until the user stops it or the API server ends the watch.
func (g *getter) follow(ctx context.Context, from string, printer printers.ResourcePrinter) error {
	changes, err := g.clients.Watch(ctx, g.namespace, metav1.ListOptions{LabelSelector: g.selector, ResourceVersion: from})
	if err != nil {
		return err
	}
	defer changes.Stop()
	for event := range changes.ResultChan() {
		if event.Type == watch.Error {
			return apierrors.FromObject(event.Object)
		}
		job, ok := event.Object.(*v1.PaddleJob)
		if !ok {
			continue
		}
		printed := listOf([]v1.PaddleJob{*job})
		if g.output.table() {
			err = g.print(printer, printed.Items)
		} else {
			err = printer.PrintObj(&printed.Items[0], g.Out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// table returns a row for each job.
func (g *getter) table(jobs []v1.PaddleJob) *metav1.Table {
	table := &metav1.Table{}
	for _, name := range []string{"Name", "Status", "Reason", "Mode", "PS", "Worker", "Queue", "Age"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for _, name := range []string{"Heter", "Position in Queue", "Message"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string", Priority: 1})
	}
	now := time.Now()
	for i := range jobs {
		job := &jobs[i]
		reason, message := describe.Cause(job, now)
		position := ""
		if g.queues != nil {
			position = g.queues.QueuePosition(job)
		}
		row := metav1.TableRow{Object: runtime.RawExtension{Object: job}}
		for _, cell := range []string{
			job.Name, string(job.Status.Phase), reason, string(job.Status.Mode), describe.ReadyPods(job, builder.RolePS),
			describe.ReadyPods(job, builder.RoleWorker), job.Status.Queue, duration.HumanDuration(now.Sub(job.CreationTimestamp.Time)),
			describe.ReadyPods(job, builder.RoleHeter), position, message,
		} {
			row.Cells = append(row.Cells, cmp.Or(cell, "<none>"))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// sortJobs orders jobs by a field, numbers as numbers, and equal ones by name.
func sortJobs(jobs []v1.PaddleJob, by string) error {
	keys := map[string]string{}
	if by != "" {
		path := jsonpath.New("sort-by").AllowMissingKeys(true)
		if err := path.Parse("{." + strings.Trim(by, "{.}") + "}"); err != nil {
			return err
		}
		for i := range jobs {
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&jobs[i])
			if err != nil {
				return err
			}
			var key bytes.Buffer
			if err := path.Execute(&key, object); err != nil {
				return err
			}
			keys[nameOf(&jobs[i])] = key.String()
		}
	}
	slices.SortFunc(jobs, func(a, b v1.PaddleJob) int {
		return cmp.Or(compare(keys[nameOf(&a)], keys[nameOf(&b)]), cmp.Compare(nameOf(&a), nameOf(&b)))
	})
	return nil
}

func nameOf(job *v1.PaddleJob) string { return fmt.Sprintf("%s/%s", job.Namespace, job.Name) }

func compare(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}
