// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

func (s *session) why() *cobra.Command {
	var output string
	var exactly bool
	cmd := &cobra.Command{
		Use: "why JOB", Short: "Say why a job waits, restarts, is slow, or has failed, and what helps", Args: oneJob,
		ValidArgsFunction: s.jobNames(false),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json or yaml")
	cmd.Flags().BoolVar(&exactly, "details", false, "show the figures behind the sentences: what is missing, what fits into the best racks and nodes, what is on which node")
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
		if o.Job.Status.Phase == v1.Running && story.Spread(o) {
			if _, err := ideal(cmd.Context(), clients, o); err != nil {
				return err
			}
		}
		told := story.Why(o)
		if output != "" {
			return printData(s.Out, output, told)
		}
		s.left(told.Unread)
		return s.say(inWords(told, exactly))
	}
	return cmd
}

// inWords is a story as lines. What pods wrote last is shown in any case, the figures behind other sentences if they are asked for.
func inWords(told *story.Story, exactly bool) string {
	lines := []string{told.Headline}
	for _, sentence := range told.Sentences {
		text := sentence.Text
		if sentence.About == story.AboutHelp {
			text = "What helps: " + strings.ToLower(text[:1]) + text[1:]
		}
		lines = append(lines, "  "+text)
		if !exactly && sentence.About != story.AboutPods {
			continue
		}
		for _, line := range sentence.Details {
			lines = append(lines, "    "+line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
