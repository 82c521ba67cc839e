// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// getFlags are the flags of get.
type getFlags struct {
	output                       *printFlags
	everywhere, watch, noHeaders bool
	selector, sortBy             string
}

func (s *session) get() *cobra.Command {
	g := &getFlags{}
	cmd := &cobra.Command{
		Use: "get [JOB...]", Aliases: []string{"list", "ls"}, Short: "List jobs, with the reason for the state of each", ValidArgsFunction: s.jobNames(true),
		Long: "List jobs, with the reason for the state of each. -o wide has the message of the reason too, and the position in the queue.\n\n" +
			"POSITION IN QUEUE is how many pending jobs of the same queue precede a job: those of a higher priority, and the older ones of\n" +
			"the same priority. 2+ is 2 or more: you have no permission to read other namespaces. A job that fits may start before one ahead\n" +
			"of it that does not, and plugins that share a queue (drf) may change the order.",
		Example: "  kubectl paddle get\n  kubectl paddle get -A -l team=vision --sort-by .metadata.creationTimestamp\n  kubectl paddle get -o wide\n  kubectl paddle get -w",
	}
	g.output = newPrint(cmd, "")
	cmd.Args = g.check
	flags := cmd.Flags()
	flags.BoolVarP(&g.everywhere, "all-namespaces", "A", false, "list the jobs of all namespaces")
	flags.StringVarP(&g.selector, "selector", "l", "", "list jobs with these labels, such as team=vision,stage!=test")
	flags.StringVar(&g.sortBy, "sort-by", "", "order by this field, a JSONPath such as .metadata.creationTimestamp")
	flags.BoolVarP(&g.watch, "watch", "w", false, "print a row for each change from then on")
	flags.BoolVar(&g.noHeaders, "no-headers", false, "print no headers")
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, names []string) error { return s.runGet(ctx, g, c, names) })
	return cmd
}

func (g *getFlags) check(_ *cobra.Command, names []string) error {
	_, err := labels.Parse(g.selector)
	switch {
	case err != nil:
		return fmt.Errorf("--selector: %w", err)
	case len(names) > 0 && g.everywhere:
		return errors.New("a resource cannot be retrieved by name across all namespaces")
	case len(names) > 0 && g.selector != "":
		return errors.New("name cannot be provided when a selector is specified")
	case len(names) > 1 && g.watch:
		return errors.New("you may only specify a single resource to watch")
	}
	return nil
}

func (s *session) runGet(ctx context.Context, g *getFlags, c *cluster.Clients, names []string) error {
	where := fmt.Sprintf(" in %s namespace.", c.Namespace)
	if g.everywhere {
		c.Namespace, where = metav1.NamespaceAll, ""
	}
	list, missing := read(ctx, c, g.selector, names)
	if len(list.Items) == 0 && missing != nil {
		return missing
	}
	if err := sortJobs(list.Items, g.sortBy); err != nil {
		return usage("--sort-by: %v", err)
	}
	if len(list.Items) == 0 && g.output.table() && !g.watch {
		s.note("No resources found%s", where)
		return nil
	}
	show := func(asList bool, jobs ...v1.PaddleJob) error { return s.printJobs(g.output, asList, jobs...) }
	if g.output.table() {
		var positions map[string]string
		wide := g.output.format == "wide"
		if wide {
			queues, err := c.Queues(ctx)
			if err != nil {
				return err
			}
			printSkipped(s, queues.Unread)
			positions = queues.Positions()
		}
		out := printers.GetNewTabWriter(s.Out) // columns keep their widths from one time to the next
		printer := printers.NewTablePrinter(printers.PrintOptions{WithNamespace: g.everywhere, Wide: wide, NoHeaders: g.noHeaders})
		show = func(_ bool, jobs ...v1.PaddleJob) error {
			return errors.Join(printer.PrintObj(jobTable(jobs, positions), out), out.Flush())
		}
	}
	if err := errors.Join(show(len(names) != 1, list.Items...), missing); err != nil || !g.watch {
		return err
	}
	options := metav1.ListOptions{LabelSelector: g.selector, ResourceVersion: list.ResourceVersion, Watch: true}
	for _, name := range names {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
	}
	changes, err := c.Request(http.MethodGet, list, c.Namespace).VersionedParams(&options, cluster.Options).Watch(ctx)
	if err != nil {
		return err
	}
	defer changes.Stop()
	for event := range changes.ResultChan() { // until the user stops it, or the API server does
		job, ok := event.Object.(*v1.PaddleJob)
		if !ok {
			return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
		}
		if err := show(false, *job); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// read returns the jobs of these names, as far as they exist, or all with the labels.
func read(ctx context.Context, c *cluster.Clients, selector string, names []string) (*v1.PaddleJobList, error) {
	if len(names) == 0 {
		return cluster.List[v1.PaddleJobList](ctx, c, c.Namespace, metav1.ListOptions{LabelSelector: selector})
	}
	found := &v1.PaddleJobList{}
	var errs []error
	for _, name := range names {
		job, err := cluster.Get[v1.PaddleJob](ctx, c, c.Namespace, name)
		if err == nil {
			found.ResourceVersion = job.ResourceVersion
			found.Items = append(found.Items, *job)
		}
		errs = append(errs, err)
	}
	return found, errors.Join(errs...)
}

// sortJobs orders jobs by a field, the numbers in it as numbers. Without a field they stay in their order.
func sortJobs(jobs []v1.PaddleJob, by string) error {
	if by == "" {
		return nil
	}
	field, err := printers.NewJSONPathPrinter("{." + strings.Trim(by, "{.}") + "}")
	if err != nil {
		return err
	}
	field.AllowMissingKeys(true)
	keys := map[string]string{}
	for i := range jobs {
		var key strings.Builder
		if err := field.PrintObj(&jobs[i], &key); err != nil {
			return err
		}
		keys[nameOf(&jobs[i])] = key.String()
	}
	slices.SortStableFunc(jobs, func(a, b v1.PaddleJob) int { return drawing.CompareNatural(keys[nameOf(&a)], keys[nameOf(&b)]) })
	return nil
}

// jobTable returns a row for each job, with positions in queues by the names of jobs.
func jobTable(jobs []v1.PaddleJob, positions map[string]string) *metav1.Table {
	table := &metav1.Table{}
	for i, name := range []string{"Name", "Status", "Mode", "PS", "Worker", "Reason", "Queue", "Age", "Heter", "Position in Queue", "Message"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string", Priority: int32(i / 8)}) // 1 is -o wide
	}
	now := time.Now()
	for i := range jobs {
		job := &jobs[i]
		reason, message := describe.Cause(job, now)
		position := positions[nameOf(job)]
		if meta.IsStatusConditionTrue(job.Status.Conditions, v1.ConditionScheduled) { // the phase of its PodGroup may be older
			position = ""
		}
		row := metav1.TableRow{Object: runtime.RawExtension{Object: job}}
		for _, cell := range []string{
			job.Name, string(job.Status.Phase), string(job.Status.Mode), describe.ReadyPods(job, builder.RolePS),
			describe.ReadyPods(job, builder.RoleWorker), reason, job.Status.Queue, duration.HumanDuration(now.Sub(job.CreationTimestamp.Time)),
			describe.ReadyPods(job, builder.RoleHeter), position, message,
		} {
			row.Cells = append(row.Cells, cmp.Or(cell, "<none>"))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// printFlags are the flags of a command that prints objects, as kubectl has them.
type printFlags struct {
	format, operation string               // of -o, and what has been done to the objects
	yaml              printers.YAMLPrinter // begins each object but the first with a line of ---
}

func newPrint(cmd *cobra.Command, operation string) *printFlags {
	p := &printFlags{operation: operation}
	cmd.Flags().StringVarP(&p.format, "output", "o", "", "output format: json, yaml, name, jsonpath=..., and wide where there are rows")
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if !p.table() {
			_, err = p.printer()
		}
		return err
	}
	return p
}

// table reports whether a command prints rows.
func (p *printFlags) table() bool { return p.operation == "" && (p.format == "" || p.format == "wide") }

func (p *printFlags) printer() (printer printers.ResourcePrinter, err error) {
	switch format, template, _ := strings.Cut(p.format, "="); format {
	case "":
		printer = &printers.NamePrinter{Operation: p.operation}
	case "name":
		printer = &printers.NamePrinter{ShortOutput: true}
	case "json":
		printer = &printers.OmitManagedFieldsPrinter{Delegate: &printers.JSONPrinter{}}
	case "yaml":
		printer = &printers.OmitManagedFieldsPrinter{Delegate: &p.yaml}
	case "jsonpath":
		if printer, err = printers.NewJSONPathPrinter(template); err != nil {
			return nil, usage("--output: %v", err)
		}
	default:
		return nil, usage("unable to match a printer suitable for the output format %q, allowed formats are: json,jsonpath=...,name,wide,yaml", p.format)
	}
	return printers.NewTypeSetter(cluster.Scheme).ToPrinter(printer), nil
}

// printJobs prints several jobs as a list, which kubectl does too, and one job as itself unless asList is set.
func (s *session) printJobs(flags *printFlags, asList bool, jobs ...v1.PaddleJob) error {
	printer, err := flags.printer()
	if err != nil {
		return err
	}
	for i := range jobs {
		jobs[i].SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("PaddleJob"))
	}
	if flags.format != "" && flags.format != "name" && (asList || len(jobs) != 1) {
		return printer.PrintObj(&v1.PaddleJobList{Items: append([]v1.PaddleJob{}, jobs...)}, s.Out)
	}
	for i := range jobs {
		if err := printer.PrintObj(&jobs[i], s.Out); err != nil {
			return err
		}
	}
	return nil
}

// printData prints what is no object of Kubernetes: as JSON, as YAML, or as its text.
func (s *session) printData(format string, data any, text string) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(s.Out)
		encoder.SetIndent("", "    ")
		return encoder.Encode(data)
	case "yaml":
		out, err := yaml.Marshal(data)
		if err != nil {
			return err
		}
		text = string(out)
	}
	return s.say(text)
}

// dataFlag gives a command the flag -o for printData, with more formats. Without -o it is text.
func dataFlag(cmd *cobra.Command, more ...string) *string {
	formats := slices.Concat(more, []string{"json", "yaml"})
	format := cmd.Flags().StringP("output", "o", "", "output format: "+strings.Join(formats, ", "))
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *format != "" && !slices.Contains(formats, *format) {
			return usage("unknown output %q: %s", *format, strings.Join(formats, ", "))
		}
		return nil
	}
	return format
}

// printSkipped names what could not be read.
func printSkipped[T any](s *session, unread []T) {
	for _, what := range unread {
		s.note("Skipped: %v.", what)
	}
}

// note writes a line for the user to the standard error.
func (s *session) note(format string, args ...any) {
	fmt.Fprintf(s.ErrOut, format+"\n", args...) //nolint:errcheck // the output does not depend on it
}

// table returns rows in columns, each line after an indent.
func table(indent string, rows [][]string) string {
	var text strings.Builder
	out := printers.GetNewTabWriter(&text)
	for _, row := range rows {
		fmt.Fprintln(out, indent+strings.TrimRight(strings.Join(row, "\t"), "\t")) //nolint:errcheck // Flush reports it
	}
	utilruntime.Must(out.Flush())
	return text.String()
}

// say prints text.
func (s *session) say(text string) error {
	_, err := io.WriteString(s.Out, text)
	return err
}
