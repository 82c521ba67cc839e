// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// printFlags are the flags of a command that prints objects, as kubectl has them.
type printFlags struct {
	// format is that of -o, and operation what has been done to the objects.
	format, operation string
	// yaml begins each object but the first with a line of ---.
	yaml printers.YAMLPrinter
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
		_, err := io.WriteString(out, indent+strings.TrimRight(strings.Join(row, "\t"), "\t")+"\n")
		utilruntime.Must(err)
	}
	utilruntime.Must(out.Flush())
	return text.String()
}

// say prints text.
func (s *session) say(text string) error {
	_, err := io.WriteString(s.Out, text)
	return err
}
