// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned/scheme"
)

// newPrint gives a command the flags of kubectl's output.
func newPrint(cmd *cobra.Command, operation string) *genericclioptions.PrintFlags {
	flags := genericclioptions.NewPrintFlags(operation).WithTypeSetter(scheme.Scheme)
	flags.AddFlags(cmd)
	return flags
}

// tables reports whether a command prints its table: -o is not given, or is wide.
func tables(flags *genericclioptions.PrintFlags) bool {
	return *flags.OutputFormat == "" && *flags.TemplatePrinterFlags.TemplateArgument == "" || *flags.OutputFormat == "wide"
}

// printObject prints an object as -o says.
func (s *session) printObject(flags *genericclioptions.PrintFlags, object runtime.Object) error {
	printer, err := flags.ToPrinter()
	if err != nil {
		return usage("%w", err)
	}
	return printer.PrintObj(object, s.Out)
}

// printJobs prints one job as itself and several as a list, which kubectl does too.
func (s *session) printJobs(flags *genericclioptions.PrintFlags, jobs []v1.PaddleJob) error {
	if *flags.OutputFormat == "" || *flags.OutputFormat == "name" || len(jobs) == 1 {
		for i := range jobs {
			if err := s.printObject(flags, &jobs[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return s.printObject(flags, listOf(jobs))
}

// listOf returns a list whose items have their kinds.
func listOf(jobs []v1.PaddleJob) *v1.PaddleJobList {
	list := &v1.PaddleJobList{Items: append([]v1.PaddleJob{}, jobs...)}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("PaddleJob"))
	}
	return list
}

// checkFormat refuses an output before anything is done; wide is one where there are tables.
func checkFormat(flags *genericclioptions.PrintFlags, hasTables bool) error {
	if hasTables && tables(flags) {
		return nil
	}
	if _, err := flags.ToPrinter(); err != nil {
		return usage("%w", err)
	}
	return nil
}

// printData prints what is no object of Kubernetes.
func printData(out io.Writer, format string, data any) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "    ")
		return encoder.Encode(data)
	case "yaml":
		text, err := yaml.Marshal(data)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	return usage("unknown output %q: json or yaml", format)
}

// dataFlag gives a command the flag -o for printData.
func dataFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("output", "o", "", "output format: json or yaml")
}

// checkDataFormat refuses an output that printData does not know; "" is text.
func checkDataFormat(format string) error {
	if !slices.Contains([]string{"", "json", "yaml"}, format) {
		return usage("unknown output %q: json or yaml", format)
	}
	return nil
}

// printSkipped names what could not be read.
func (s *session) printSkipped(unread []string) {
	for _, what := range unread {
		s.note("Left out: %s.", what)
	}
}

// note writes a line for the user to the standard error.
func (s *session) note(format string, args ...any) {
	fmt.Fprintf(s.ErrOut, format+"\n", args...) //nolint:errcheck // the output does not depend on it
}

// say prints text.
func (s *session) say(text string) error {
	_, err := io.WriteString(s.Out, text)
	return err
}
