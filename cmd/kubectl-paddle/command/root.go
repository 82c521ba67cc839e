// SPDX-License-Identifier: Apache-2.0

// Package command holds the commands of kubectl paddle: flags, requests to the API server, and what is printed.
package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

const long = `Submit PaddlePaddle training jobs (PaddleJobs), see where they are and why, and look after them.

Exit codes:

    0    done
    1    failed: the API server cannot be reached, permission is denied, ...
    2    wrong usage: an unknown command or flag, a missing argument
    3    not found: there is no such job, pod or log
    4    refused: the job is not valid, or the cluster does not admit it
    5    would wait: plan found no free resources for the job now
    130  interrupted`

const examples = `  kubectl paddle submit -f job.yaml
  kubectl paddle get
  kubectl paddle why resnet
  kubectl paddle logs resnet --role worker --rank 0 -f`

// session is one run of a command: its streams, and the cluster.
type session struct {
	genericiooptions.IOStreams
	config   clientcmd.ClientConfig
	simulate plan.Simulator
}

// Run runs kubectl paddle with arguments and returns the exit code. Questions to the scheduler go to the program paddle-simulator.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	return RunWith(ctx, plan.RunProgram, args, streams)
}

// RunWith is Run with another simulator.
func RunWith(ctx context.Context, simulate plan.Simulator, args []string, streams genericiooptions.IOStreams) int {
	s := &session{IOStreams: streams, simulate: simulate}
	root := s.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && err == ctx.Err() { //nolint:errorlint // an error that wraps it says more
		return plan.Interrupted
	}
	s.printError(err)
	code := exitCode(err)
	if code == plan.Usage {
		s.note("See '%s --help' for usage.", cmd.CommandPath())
	}
	return code
}

// printError prints each of several errors in the words of kubectl.
func (s *session) printError(err error) {
	several, joined := err.(interface{ Unwrap() []error }) // what errors.Join has joined, and not within another error
	var status apierrors.APIStatus
	var unreachable *url.Error
	var coded *plan.ExitError
	switch {
	case err == nil, errors.As(err, &coded) && err.Error() == "":
	case joined:
		for _, one := range several.Unwrap() {
			s.printError(one)
		}
	case errors.As(err, &status) && status.Status().Reason != "":
		s.note("Error from server (%s): %v", status.Status().Reason, err)
	case errors.As(err, &unreachable):
		s.note("Unable to connect to the server: %v", unreachable.Err)
	default:
		s.note("error: %v", err)
	}
}

func (s *session) root() *cobra.Command {
	root := &cobra.Command{
		Use: "kubectl-paddle", Short: "Work with PaddleJobs", Long: long, Example: examples,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl paddle"},
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.ErrOut)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%v", err) })
	files, overrides := clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}
	s.config = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(files, overrides)
	root.PersistentFlags().StringVar(&files.ExplicitPath, "kubeconfig", "", "path to the kubeconfig file")
	flags := clientcmd.RecommendedConfigOverrideFlags("") // kubectl's, with its shorthands
	flags.ContextOverrideFlags.Namespace.ShortName, flags.ClusterOverrideFlags.APIServer.ShortName = "n", "s"
	clientcmd.BindOverrideFlags(overrides, root.PersistentFlags(), flags)
	root.AddCommand(s.submit(), s.plan(), s.snapshot(), s.get(), s.describe(), s.why(), s.mapCommand(), s.logs(),
		s.suspend(true, "suspend JOB", "Delete the pods of a job and free its resources; resume starts it again", "suspended"),
		s.suspend(false, "resume JOB", "Start a suspended job again, from its own checkpoints", "resumed"),
		s.migrateCheck(), s.version())
	for _, cmd := range append(root.Commands(), root) {
		check := cmd.Args
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usage("%v", err)
			}
			return nil
		}
	}
	return root
}

// namespace returns the namespace of the flags and the kubeconfig. enforced reports that a flag names it.
func (s *session) namespace() (namespace string, enforced bool, err error) {
	if namespace, enforced, err = s.config.Namespace(); err != nil {
		return "", false, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return namespace, enforced, nil
}

// connect returns clients for the namespace.
func (s *session) connect() (*cluster.Clients, error) {
	namespace, _, err := s.namespace()
	if err != nil {
		return nil, err
	}
	config, err := s.config.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.WarningHandler = rest.NewWarningWriter(s.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	return cluster.Connect(config, namespace)
}

// connected returns what a command runs that needs the cluster.
func (s *session) connected(run func(ctx context.Context, c *cluster.Clients, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		clients, err := s.connect()
		if err != nil {
			return err
		}
		return run(cmd.Context(), clients, args)
	}
}

func usage(format string, args ...any) error { return plan.Errorf(plan.Usage, format, args...) }

func refused(format string, args ...any) error { return plan.Errorf(plan.Refused, format, args...) }

// oneJob checks the arguments of a command that is about one job.
func oneJob(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one job, not %d", len(args))
	}
	return nil
}

// missingPermission is the API server's message to users without permission. Other refusals concern the object.
var missingPermission = regexp.MustCompile(` cannot [a-z]+ resource "`)

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	var coded *plan.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.Code
	case apierrors.IsNotFound(err):
		return plan.NotFound
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsAlreadyExists(err),
		apierrors.IsForbidden(err) && !missingPermission.MatchString(err.Error()):
		return plan.Refused
	}
	return plan.Failed
}

// jobNames completes names of jobs that are not among the arguments yet.
func (s *session) jobNames(several bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		err := s.connected(func(ctx context.Context, c *cluster.Clients, _ []string) error {
			jobs, err := cluster.List[v1.PaddleJobList](ctx, c, c.Namespace, metav1.ListOptions{})
			for i := range jobs.Items {
				if job := &jobs.Items[i]; !slices.Contains(args, job.Name) {
					names = append(names, job.Name+"\t"+string(job.Status.Phase))
				}
			}
			return err
		})(cmd, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

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
			}
			for _, role := range []string{"controller", "scheduler"} {
				if err == nil && !slices.ContainsFunc(v.Components, func(c cluster.Component) bool { return c.Role == role }) {
					s.note("No Deployment of a %s was found.", role)
				}
			}
		}
		var text strings.Builder
		fmt.Fprintf(&text, "Client Version: %s\n", v.Client)
		for _, c := range v.Components {
			fmt.Fprintf(&text, "%s Version: %s (%s/%s, %s)\n", strings.ToUpper(c.Role[:1])+c.Role[1:], c.Version, c.Namespace, c.Name, c.Image)
		}
		return s.printData(*output, v, text.String())
	}
	return cmd
}
