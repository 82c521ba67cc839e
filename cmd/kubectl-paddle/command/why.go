// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

func (s *session) why() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "why JOB", Short: "Say why a job waits, restarts, is slow, or has failed, and what helps", Args: oneJob,
		ValidArgsFunction: s.jobNames(false),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json or yaml")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if output != "" && output != "json" && output != "yaml" {
			return usage("unknown output %q: json or yaml", output)
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		o, err := clients.Gather(cmd.Context(), namespace, args[0])
		if err != nil {
			return err
		}
		told := story.Why(o)
		if output != "" {
			return printData(s.Out, output, told)
		}
		fmt.Fprintln(s.Out, told.Headline)
		for _, sentence := range told.Sentences {
			text := sentence.Text
			if sentence.About == story.AboutHelp {
				text = "What helps: " + text
			}
			fmt.Fprintln(s.Out, "  "+text)
			for _, line := range sentence.Details {
				fmt.Fprintln(s.Out, "    "+line)
			}
		}
		s.left(told.Unread)
		return nil
	}
	return cmd
}
