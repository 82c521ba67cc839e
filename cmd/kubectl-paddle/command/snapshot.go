// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
)

func (s *session) snapshot() *cobra.Command {
	var file, configuration string
	cmd := &cobra.Command{
		Use: "snapshot", Short: "Write what the scheduler sees to one file, for bug reports and plans without the cluster", Args: none,
		Long: `Write what the scheduler sees to one file: nodes and their topology, pods, PodGroups, queues, priority classes,
quotas and the scheduler's configuration.

Of each object only what the scheduler reads is kept. Variables, commands, images, volumes, names of secrets and
everybody else's annotations are left out; names, labels and selectors are kept.`,
		Example: "  kubectl paddle snapshot -o monday.json.gz\n  kubectl paddle plan -f job.yaml --snapshot monday.json.gz",
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write: YAML for .yaml, JSON for .json, packed JSON for any other; - is the standard output, in YAML")
	cmd.Flags().StringVar(&configuration, "scheduler-config", "", "file with the scheduler's configuration, in place of the cluster's ConfigMap")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		clients, _, err := s.connect()
		if err != nil {
			return err
		}
		text, err := s.readConfiguration(configuration)
		if err != nil {
			return err
		}
		taken, err := clients.Snapshot(cmd.Context(), "", text)
		if err != nil {
			return err
		}
		s.printUnread(taken)
		if file == "-" {
			return taken.Write(s.Out, ".yaml")
		}
		if file == "" {
			file = "paddle-snapshot-" + taken.Time.UTC().Format("20060102-150405") + ".json.gz"
		}
		var packed bytes.Buffer
		if err := taken.Write(&packed, file); err != nil {
			return err
		}
		if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
			return err
		}
		return s.say(fmt.Sprintf("%s: %d nodes, %d pods and %d PodGroups at %s\n",
			file, len(taken.Nodes), len(taken.Pods), len(taken.PodGroups), taken.Time.UTC().Format(time.RFC3339)))
	}
	return cmd
}

// readConfiguration reads the scheduler's configuration from a file, if one is named.
func (s *session) readConfiguration(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	in, err := os.Open(file) //nolint:gosec // the user names it
	if err != nil {
		return "", err
	}
	defer in.Close() //nolint:errcheck // it was only read
	text, err := snapshot.ReadConfiguration(in)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return text, nil
}

// printUnread names what of the scheduler's view could not be read.
func (s *session) printUnread(taken *snapshot.Snapshot) {
	for _, unread := range taken.Unread {
		s.printSkipped([]string{unread.What + " (" + unread.Why + ")"})
	}
}
