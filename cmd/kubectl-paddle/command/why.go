// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func (s *session) why() *cobra.Command {
	var details bool
	cmd := &cobra.Command{
		Use: "why JOB", Short: "Say why a job waits, restarts, is slow, or has failed, and what helps", Args: oneJob,
		ValidArgsFunction: s.jobNames(false),
	}
	output := dataFlag(cmd)
	cmd.Flags().BoolVar(&details, "details", false, "show the figures behind the sentences: what is missing, what fits into the best racks and nodes, what is on which node")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkDataFormat(*output); err != nil {
			return err
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		o, err := clients.Load(cmd.Context(), namespace, args[0])
		if err != nil {
			return err
		}
		if o.Job.Status.Phase == v1.Running && describe.Spread(o) {
			if _, err := s.ideal(cmd.Context(), clients, o); err != nil {
				return err
			}
		}
		d := describe.Why(o)
		if *output != "" {
			return printData(s.Out, *output, d)
		}
		s.printSkipped(d.Unread)
		return s.say(strings.Join(append([]string{d.Headline}, describe.Lines(d.Sentences, details)...), "\n") + "\n")
	}
	return cmd
}
