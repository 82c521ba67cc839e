// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// asked is which logs are wanted.
type asked struct {
	role      string
	rank      int
	container string
	most      int
	corev1.PodLogOptions
}

func (s *session) logs() *cobra.Command {
	var a asked
	var tail int64
	cmd := &cobra.Command{
		Use: "logs JOB", Short: "Show what the pods of a role write, or one of them", Args: oneJob,
		Long: "Show what the pods of a role write. With several pods each line begins with the role and the rank of its pod.\n" +
			"With -f a pod that has not started yet is waited for. A gang that starts again has new pods: ask again.",
		Example:           "  kubectl paddle logs resnet\n  kubectl paddle logs resnet --role worker --rank 3 -f\n  kubectl paddle logs resnet --role ps --previous",
		ValidArgsFunction: s.jobNames(false),
	}
	flags := cmd.Flags()
	flags.StringVar(&a.role, "role", builder.RoleWorker, "role of the pods: "+strings.Join(observed.Roles, ", "))
	flags.IntVar(&a.rank, "rank", -1, "rank of the pod within its role; all pods of the role if it is not given")
	flags.StringVarP(&a.container, "container", "c", "", "container; the first, in which training is, if it is not given")
	flags.BoolVarP(&a.Follow, "follow", "f", false, "go on until the pods end")
	flags.BoolVarP(&a.Previous, "previous", "p", false, "show the container's run before this one")
	flags.BoolVar(&a.Timestamps, "timestamps", false, "begin each line with its time")
	flags.Int64Var(&tail, "tail", -1, "show so many of the last lines only")
	flags.IntVar(&a.most, "max-log-requests", 64, "follow at most so many pods at a time")
	completeRoles(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !slices.Contains(observed.Roles, a.role):
			return usage("--role is %q: %s", a.role, strings.Join(observed.Roles, ", "))
		case a.rank < -1:
			return usage("--rank is %d: ranks begin with 0", a.rank)
		case a.Follow && a.Previous:
			return usage("--previous shows a run that is over: leave --follow out")
		}
		if tail >= 0 {
			a.TailLines = &tail
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		job, err := clients.Paddle.BatchV1().PaddleJobs(namespace).Get(cmd.Context(), args[0], metav1.GetOptions{})
		if err != nil {
			return err
		}
		pods, err := clients.Pods(cmd.Context(), namespace, job.Name)
		if err != nil {
			return err
		}
		chosen := choose(pods, a.role, a.rank)
		if len(chosen) == 0 {
			return absent(job.Name, string(job.Status.Phase), a)
		}
		if a.Follow && len(chosen) > a.most {
			return usage("%d pods would be followed, more than --max-log-requests %d: name one with --rank, or raise it", len(chosen), a.most)
		}
		t := &tails{asked: &a, pods: clients.Kube.CoreV1().Pods(namespace), out: s.Out, errOut: s.ErrOut}
		return t.show(cmd.Context(), chosen)
	}
	return cmd
}

// choose are the pods of a role in the order of ranks; of one rank if it is not negative.
func choose(pods []*corev1.Pod, role string, rank int) (chosen []*observed.RolePod) {
	for _, pod := range pods {
		if m := observed.NewRolePod(pod); m.Role == role && (rank < 0 || m.Index == rank) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

func absent(job, phase string, a asked) error {
	which := a.role
	if a.rank >= 0 {
		which = fmt.Sprintf("%s of rank %d", a.role, a.rank)
	}
	return notFound("job %s (%s) has no pod that is %s: kubectl paddle get %s shows those it has, and kubectl paddle why %s why", job, phase, which, job, job)
}
