// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// migration is what migrate-check prints as data.
type migration struct {
	Warnings []string             `json:"warnings,omitempty"`
	Steps    []migrate.Step       `json:"steps,omitempty"`
	Jobs     []migrate.Assessment `json:"jobs"`
}

func (s *session) migrateCheck() *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use: "migrate-check", Short: "Show what a migration from paddle-operator does to each job, and its commands; changes nothing", Args: cobra.NoArgs,
		Long: "Finds paddle-operator, shows for each PaddleJob what the controller does with it, and prints the commands of the migration in their order. " +
			"It only reads: get and list of PaddleJobs, Deployments, pods, Services, ConfigMaps, CRDs, PriorityClasses and Volcano's objects.",
	}
	output := dataFlag(cmd)
	cmd.Flags().BoolVar(&here, "only-namespace", false, "only the jobs of the current namespace")
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, _ []string) error {
		if !here {
			c.Namespace = metav1.NamespaceAll
		}
		found, err := c.Migration(ctx)
		if err != nil {
			return err
		}
		var views []*observed.State
		if found.API && found.Volcano {
			if views, err = c.Views(ctx); err != nil {
				return err
			}
		}
		if *output == "" && found.API && !found.Volcano {
			s.note("The outcome for each job is shown once Volcano is installed.")
		}
		return s.printMigration(*output, found, views)
	})
	return cmd
}

// printMigration prints the outcome for each job, in the order of their names.
func (s *session) printMigration(output string, found *migrate.Cluster, views []*observed.State) error {
	m := migration{Warnings: found.Warnings(), Steps: found.Steps(), Jobs: []migrate.Assessment{}}
	for _, v := range views {
		m.Jobs = append(m.Jobs, migrate.Assess(v, settings))
	}
	slices.SortFunc(m.Jobs, func(a, b migrate.Assessment) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return s.printData(output, m, m.text())
}

// text returns the warnings, the jobs and the steps.
func (m *migration) text() string {
	var out strings.Builder
	for _, warning := range m.Warnings {
		fmt.Fprintf(&out, "WARNING: %s\n", warning)
	}
	if len(m.Jobs) > 0 {
		rows := [][]string{{"NAMESPACE", "NAME", "OUTCOME", "MESSAGE"}}
		for i := range m.Jobs {
			job := &m.Jobs[i]
			rows = append(rows, []string{job.Namespace, job.Name, job.Outcome.Words(), job.Message})
			for _, note := range job.Notes {
				rows = append(rows, []string{"", "", "", "- " + note})
			}
		}
		out.WriteString(table("", rows))
	}
	if len(m.Steps) == 0 {
		out.WriteString("Nothing is left to do: the controller runs the PaddleJobs.\n")
		return out.String()
	}
	out.WriteString("To switch, in this order:\n")
	for i, step := range m.Steps {
		fmt.Fprintf(&out, "%d. %s\n", i+1, step.Do)
		if step.Command != "" {
			fmt.Fprintf(&out, "   %s\n", step.Command)
		}
	}
	return out.String()
}
