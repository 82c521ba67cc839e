// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func (s *session) logs() *cobra.Command {
	var role string
	var rank int
	cmd := &cobra.Command{
		Use: "logs JOB", Short: "Show what the pods of a role write, or one of them: kubectl logs with their labels", Args: cobra.ExactArgs(1),
		Long: "Show what the pods of a role write: kubectl logs with their labels. With several pods each line begins with its pod.\n" +
			"With -f pods that have not started yet are waited for. A gang that restarts has new pods: run the command again.",
		Example:           "  kubectl paddle logs resnet\n  kubectl paddle logs resnet --role worker --rank 3 -f\n  kubectl paddle logs resnet --role ps --previous",
		ValidArgsFunction: s.jobNames(false),
	}
	flags := cmd.Flags()
	flags.StringVar(&role, "role", builder.RoleWorker, "role of the pods: "+strings.Join(observed.Roles, ", "))
	flags.IntVar(&rank, "rank", -1, "rank of the pod within its role; all pods of the role if it is not given")
	follow := flags.BoolP("follow", "f", false, "continue until the pods end")
	flags.StringP("container", "c", "", "container; the first, in which training is, if it is not given")
	flags.BoolP("previous", "p", false, "show the container's run before this one")
	flags.Bool("timestamps", false, "begin each line with its time")
	flags.Int("tail", -1, "number of most recent lines to show")
	flags.Int("max-log-requests", 64, "number of pods to follow at most")
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(observed.Roles, cobra.ShellCompDirectiveNoFileComp)))
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, args []string) error {
		if !slices.Contains(observed.Roles, role) {
			return usage("--role is %q: %s", role, strings.Join(observed.Roles, ", "))
		}
		job, err := cluster.Get[v1.PaddleJob](ctx, c, c.Namespace, args[0])
		if err != nil {
			return err
		}
		chosen := labels.Set{v1.JobNameLabel: job.Name, v1.ResourceTypeLabel: role}
		if flags.Changed("rank") {
			chosen[v1.TaskIndexLabel] = strconv.Itoa(rank)
		}
		pods, err := awaitStart(ctx, c, chosen, *follow)
		if err != nil {
			return err
		}
		if pods == 0 {
			return plan.Errorf(exitNotFound, "job %s (%s) has no pod of role %s and that rank: kubectl paddle describe %[1]s shows those it has, and kubectl paddle why %[1]s why", job.Name, job.Status.Phase, role)
		}
		// --tail and --max-log-requests have other defaults in kubectl.
		kubectl := []string{"logs", "--selector=" + chosen.String(), "--prefix=" + strconv.FormatBool(pods > 1), "--tail=-1", "--max-log-requests=64"}
		flags.Visit(func(f *pflag.Flag) {
			if f.Name != "role" && f.Name != "rank" {
				kubectl = append(kubectl, "--"+f.Name+"="+f.Value.String())
			}
		})
		run := exec.CommandContext(ctx, "kubectl", kubectl...) //nolint:gosec // the user's flags
		run.Stdin, run.Stdout, run.Stderr = s.In, s.Out, s.ErrOut
		if err := run.Run(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("kubectl logs: %w", err)
		}
		return nil
	})
	return cmd
}

// startPoll is how often pods are read until they have started.
const startPoll = time.Second

// awaitStart returns how many pods have the labels. If they are followed it waits until all have started.
func awaitStart(ctx context.Context, clients *cluster.Clients, chosen labels.Set, follow bool) (count int, err error) {
	err = wait.PollUntilContextCancel(ctx, startPoll, true, func(ctx context.Context) (bool, error) {
		pods, err := clients.Pods(ctx, chosen)
		count = len(pods)
		return !follow || !slices.ContainsFunc(pods, starts), err
	})
	return count, err
}

// starts reports whether a pod has not started its first container yet, and still may.
func starts(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodPending {
		return false
	}
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.State.Running != nil || c.State.Terminated != nil })
}
