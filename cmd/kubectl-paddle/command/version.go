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
	cmd := &cobra.Command{Use: "version", Short: "Print the versions of kubectl paddle, the controller and the scheduler", Args: cobra.NoArgs}
	output := dataFlag(cmd)
	client := cmd.Flags().Bool("client", false, "print the version of kubectl paddle only")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		v := versions{Client: plan.Version()}
		if !*client {
			clients, err := s.connect()
			if err != nil {
				return err
			}
			switch v.Components, err = clients.Components(cmd.Context()); {
			case apierrors.IsForbidden(err):
				s.note("Skipped: controller and scheduler (you have no permission to read the Deployments of all namespaces).")
			case err != nil:
				return err
			case len(v.Components) == 0:
				s.note("The cluster has no Deployment of the controller or of a scheduler.")
			}
		}
		text := &strings.Builder{}
		fmt.Fprintf(text, "Client Version: %s\n", v.Client)
		for _, c := range v.Components {
			fmt.Fprintf(text, "%s Version: %s (%s/%s, %s)\n", strings.ToUpper(c.Role[:1])+c.Role[1:], c.Version, c.Namespace, c.Name, c.Image)
		}
		return s.printData(*output, v, text.String())
	}
	return cmd
}
