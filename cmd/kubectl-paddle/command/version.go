// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
)

// versions is what version prints as data.
type versions struct {
	Client     string              `json:"clientVersion"`
	Components []cluster.Component `json:"components,omitempty"`
}

func (s *session) version() *cobra.Command {
	var client bool
	cmd := &cobra.Command{Use: "version", Short: "Print the versions of kubectl paddle, the controller and the scheduler", Args: none}
	output := dataFlag(cmd)
	cmd.Flags().BoolVar(&client, "client", false, "print the version of kubectl paddle only")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkDataFormat(*output); err != nil {
			return err
		}
		v := versions{Client: plan.Version()}
		if !client {
			clients, _, err := s.connect()
			if err != nil {
				return err
			}
			v.Components, err = clients.Components(cmd.Context())
			switch {
			case apierrors.IsForbidden(err):
				s.printSkipped([]string{"controller and scheduler (you have no permission to read the Deployments of all namespaces)"})
			case err != nil:
				return err
			case len(v.Components) == 0:
				s.note("The cluster has no Deployment of the controller or of a scheduler.")
			}
		}
		if *output != "" {
			return printData(s.Out, *output, v)
		}
		lines := []string{"Client Version: " + v.Client}
		for _, c := range v.Components {
			lines = append(lines, fmt.Sprintf("%s Version: %s (%s/%s, %s)", strings.ToUpper(c.Role[:1])+c.Role[1:], c.Version, c.Namespace, c.Name, c.Image))
		}
		return s.say(strings.Join(lines, "\n") + "\n")
	}
	return cmd
}
