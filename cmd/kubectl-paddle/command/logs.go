// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// logOptions select logs.
type logOptions struct {
	role      string
	rank      int
	container string
	most      int
	corev1.PodLogOptions
}

func (s *session) logs() *cobra.Command {
	var a logOptions
	var tail int64
	cmd := &cobra.Command{
		Use: "logs JOB", Short: "Show what the pods of a role write, or one of them", Args: oneJob,
		Long: "Show what the pods of a role write. With several pods each line begins with the role and the rank of its pod.\n" +
			"With -f a pod that has not started yet is waited for. A gang that restarts has new pods: run the command again.",
		Example:           "  kubectl paddle logs resnet\n  kubectl paddle logs resnet --role worker --rank 3 -f\n  kubectl paddle logs resnet --role ps --previous",
		ValidArgsFunction: s.jobNames(false),
	}
	flags := cmd.Flags()
	flags.StringVar(&a.role, "role", builder.RoleWorker, "role of the pods: "+strings.Join(observed.Roles, ", "))
	flags.IntVar(&a.rank, "rank", -1, "rank of the pod within its role; all pods of the role if it is not given")
	flags.StringVarP(&a.container, "container", "c", "", "container; the first, in which training is, if it is not given")
	flags.BoolVarP(&a.Follow, "follow", "f", false, "continue until the pods end")
	flags.BoolVarP(&a.Previous, "previous", "p", false, "show the container's run before this one")
	flags.BoolVar(&a.Timestamps, "timestamps", false, "begin each line with its time")
	flags.Int64Var(&tail, "tail", -1, "number of most recent lines to show")
	flags.IntVar(&a.most, "max-log-requests", 64, "follow at most so many pods at a time")
	must(cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(observed.Roles, cobra.ShellCompDirectiveNoFileComp)))
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
		job, err := cluster.Get[v1.PaddleJob](cmd.Context(), clients, namespace, args[0])
		if err != nil {
			return err
		}
		pods, err := clients.Pods(cmd.Context(), namespace, job.Name)
		if err != nil {
			return err
		}
		chosen := choose(pods, a.role, a.rank)
		if len(chosen) == 0 {
			return notFound("job %s (%s) has no pod of role %s and that rank: kubectl paddle describe %s shows those it has, and kubectl paddle why %s why", job.Name, job.Status.Phase, a.role, job.Name, job.Name)
		}
		if a.Follow && len(chosen) > a.most {
			return usage("%d pods would be followed, more than --max-log-requests %d: name one with --rank, or raise it", len(chosen), a.most)
		}
		l := &logStreamer{logOptions: &a, clients: clients, out: s.Out, errOut: s.ErrOut}
		return l.show(cmd.Context(), chosen)
	}
	return cmd
}

// choose returns the pods of a role in the order of ranks; only that of a rank if it is not negative.
func choose(pods []*corev1.Pod, role string, rank int) (chosen []*observed.RolePod) {
	for _, pod := range pods {
		if m := observed.NewRolePod(pod); m.Role == role && (rank < 0 || m.Index == rank) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// startPoll is how often a pod is read until it has started.
const startPoll = time.Second

// logStreamer writes logs of pods, line by line.
type logStreamer struct {
	*logOptions
	clients *cluster.Clients
	mu      sync.Mutex // of out and errOut
	out     io.Writer
	errOut  io.Writer
}

// show shows the logs of pods, one after the other, or all at once if they are followed.
func (l *logStreamer) show(ctx context.Context, members []*observed.RolePod) error {
	prefix := func(m *observed.RolePod) string {
		if len(members) == 1 {
			return ""
		}
		return fmt.Sprintf("[%s-%d] ", m.Role, m.Index)
	}
	errs := make([]error, len(members))
	var following sync.WaitGroup
	for i, m := range members {
		if !l.Follow {
			errs[i] = l.one(ctx, m, prefix(m))
			continue
		}
		following.Add(1)
		go func() {
			defer following.Done()
			errs[i] = l.one(ctx, m, prefix(m))
		}()
	}
	following.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the user has stopped it
	}
	return errors.Join(errs...)
}

func (l *logStreamer) one(ctx context.Context, m *observed.RolePod, prefix string) error {
	options := l.PodLogOptions
	if options.Container = l.container; options.Container == "" {
		options.Container = m.Pod.Spec.Containers[0].Name
	}
	if l.Follow && !started(m.Pod, options.Container) {
		l.note(m.Pod.Name + " has not started yet: waiting for it")
		if err := l.await(ctx, m.Pod, options.Container); err != nil {
			return fmt.Errorf("wait for %s to start: %w", m.Pod.Name, err)
		}
	}
	stream, err := l.clients.Logs(ctx, m.Pod, &options)
	if err != nil {
		return fmt.Errorf("logs of %s: %w", m.Pod.Name, err)
	}
	defer stream.Close() //nolint:errcheck // it was only read
	return l.copy(stream, prefix)
}

// copy writes whole lines, each behind the prefix.
func (l *logStreamer) copy(from io.Reader, prefix string) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if !strings.HasSuffix(line, "\n") {
				line += "\n"
			}
			l.mu.Lock()
			_, writing := io.WriteString(l.out, prefix+line)
			l.mu.Unlock()
			if writing != nil {
				return writing
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *logStreamer) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.errOut, text) //nolint:errcheck // the logs do not depend on it
}

// await waits until a container of a pod has started.
func (l *logStreamer) await(ctx context.Context, pod *corev1.Pod, container string) error {
	return wait.PollUntilContextCancel(ctx, startPoll, true, func(ctx context.Context) (bool, error) {
		fresh, err := cluster.Get[corev1.Pod](ctx, l.clients, pod.Namespace, pod.Name)
		if err != nil {
			return false, err
		}
		if fresh.UID != pod.UID {
			return false, errors.New("it was deleted, and another pod has its name: run the command again")
		}
		return started(fresh, container), nil
	})
}

// started reports whether a container has run, or never will.
func started(pod *corev1.Pod, container string) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if c := &statuses[i]; c.Name == container {
				return c.State.Running != nil || c.State.Terminated != nil
			}
		}
	}
	return false
}
