// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/term"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// paper is how wide text is where there is no terminal.
const paper = 100

var mapOutputs = []string{"text", "html", "svg", "json", "yaml"}

func (s *session) mapCommand() *cobra.Command {
	var output string
	var labels []string
	var width int
	cmd := &cobra.Command{
		Use: "map [JOB]", Short: "Show the cluster's racks and nodes with the jobs on them, and one job before all others",
		Long: "Show the cluster's racks and nodes with the jobs on them. A named job is seen before all others.\n" +
			"Racks and blocks are what the scheduler uses: HyperNodes, or else the node labels of its plugin's argument topology-labels.",
		Example:           "  kubectl paddle map\n  kubectl paddle map resnet -o html > map.html\n  kubectl paddle map --topology-labels example.com/rack,example.com/block",
		ValidArgsFunction: s.jobNames(false),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes the name of one job at most, and not %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "output format: "+strings.Join(mapOutputs, ", "))
	cmd.Flags().StringSliceVar(&labels, "topology-labels", nil, "keys of the node labels that name racks, blocks and so on, nearest first; the scheduler's own where it is not given")
	cmd.Flags().IntVar(&width, "width", 0, fmt.Sprintf("columns of text; the terminal's, or %d, where it is not given", paper))
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(mapOutputs, cobra.ShellCompDirectiveNoFileComp)))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(mapOutputs, output) {
			return usage("unknown output %q: %s", output, strings.Join(mapOutputs, ", "))
		}
		m, err := s.loadMap(cmd.Context(), args, labels)
		if err != nil {
			return err
		}
		return s.printMap(m, output, width)
	}
	return cmd
}

func (s *session) loadMap(ctx context.Context, args, labels []string) (*drawing.Map, error) {
	clients, namespace, err := s.connect()
	if err != nil {
		return nil, err
	}
	name := ""
	if len(args) > 0 {
		job, err := cluster.Get[v1.PaddleJob](ctx, clients, namespace, args[0])
		if err != nil {
			return nil, err
		}
		name = job.Name
	}
	o, err := clients.LoadMap(ctx, namespace, labels)
	if err != nil {
		return nil, err
	}
	o.Namespace, o.Name = namespace, name
	response, err := s.simulate(ctx, &plan.Request{Network: &o.Network})
	if err != nil {
		return nil, err
	}
	o.Tiers = response.Tiers
	return drawing.New(o), nil
}

func (s *session) printMap(m *drawing.Map, output string, width int) error {
	switch output {
	case "html":
		return s.say(m.HTML())
	case "svg":
		return s.say(m.SVG())
	case "text":
		columns, terminal := terminalWidth(s.Out)
		if width <= 0 {
			width = columns
		}
		return s.say(m.Text(drawing.Terminal{Width: width, Colour: terminal && os.Getenv("NO_COLOR") == ""}))
	}
	return printData(s.Out, output, m)
}

// terminalWidth returns how many columns the output has, and whether it is a terminal.
func terminalWidth(out io.Writer) (int, bool) {
	width, _, err := term.TerminalSize(out)
	switch {
	case err != nil:
		return paper, false
	case width <= 0:
		return paper, true
	}
	return width, true
}
