// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/term"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

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
	terminal := drawing.Terminal{Width: cmp.Or(width, columns, 100), Colour: err == nil && os.Getenv("NO_COLOR") == ""}
	return s.printData(output, m, m.Text(terminal))
}
