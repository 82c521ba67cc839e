// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
)

const long = `Submit PaddlePaddle training jobs (PaddleJobs), see where they are and why, and look after them.

Exit codes:
  0  done
  1  failed: the API server cannot be reached, a right is missing, ...
  2  wrong usage: an unknown command or flag, a missing argument
  3  not found: there is no such job, pod or log
  4  refused: the job is not valid, or the cluster does not admit it
  5  would wait: plan found no room for the job now`

const examples = `  kubectl paddle submit -f job.yaml
  kubectl paddle list
  kubectl paddle why resnet
  kubectl paddle logs resnet --role worker --rank 0 -f`

// session is one run of a command: where it reads and writes, and which cluster it is about.
type session struct {
	genericiooptions.IOStreams
	flags *genericclioptions.ConfigFlags
}

// Run runs kubectl paddle with arguments and returns the exit code.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	s := &session{IOStreams: streams, flags: genericclioptions.NewConfigFlags(true)}
	root := s.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		s.note("error: %v", err)
	}
	code := exitCode(err)
	if code == exitUsage {
		s.note("see kubectl paddle --help")
	}
	return code
}

func (s *session) root() *cobra.Command {
	root := &cobra.Command{
		Use: "kubectl-paddle", Short: "Work with PaddleJobs", Long: long, Example: examples,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl paddle"},
		SilenceErrors: true, SilenceUsage: true,
		Args: none, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.ErrOut)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%w", err) })
	s.flags.AddFlags(root.PersistentFlags())
	s.completeFlags(root)
	root.AddCommand(s.submit(), s.plan(), s.snapshot(), s.list(), s.get(), s.why(), s.mapped(), s.top(), s.logs(), s.scale(), s.suspend(), s.resume(), s.delete(),
		s.migrateCheck())
	return root
}

// none takes no arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unknown command or argument %q for %q", args[0], cmd.CommandPath())
	}
	return nil
}

// oneJob takes the name of a job.
func oneJob(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("%s takes the name of one job, and not %d", cmd.CommandPath(), len(args))
	}
	return nil
}

// connect makes the clients, and tells the namespace that is meant.
func (s *session) connect() (clients *cluster.Clients, namespace string, err error) {
	if namespace, _, err = s.flags.ToRawKubeConfigLoader().Namespace(); err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	config, err := s.flags.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NewWarningWriter(s.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	clients, err = cluster.Connect(config)
	return clients, namespace, err
}
