// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clientv1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// startPoll is how often it is looked whether a pod has started.
const startPoll = time.Second

// tails shows logs of pods, line by line.
type tails struct {
	*asked
	pods   clientv1.PodInterface
	mu     sync.Mutex // of out and errOut
	out    io.Writer
	errOut io.Writer
}

// show shows the logs of pods, one after the other, or all at once if they are followed.
func (t *tails) show(ctx context.Context, members []*observed.RolePod) error {
	prefix := func(m *observed.RolePod) string {
		if len(members) == 1 {
			return ""
		}
		return fmt.Sprintf("[%s-%d] ", m.Role, m.Index)
	}
	errs := make([]error, len(members))
	var following sync.WaitGroup
	for i, m := range members {
		if !t.Follow {
			errs[i] = t.one(ctx, m, prefix(m))
			continue
		}
		following.Add(1)
		go func() {
			defer following.Done()
			errs[i] = t.one(ctx, m, prefix(m))
		}()
	}
	following.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the user has seen enough
	}
	return errors.Join(errs...)
}

func (t *tails) one(ctx context.Context, m *observed.RolePod, prefix string) error {
	options := t.PodLogOptions
	if options.Container = t.container; options.Container == "" {
		options.Container = m.Pod.Spec.Containers[0].Name
	}
	if t.Follow && !started(m.Pod, options.Container) {
		t.tell(m.Pod.Name + " has not started yet: waiting for it")
		if err := t.await(ctx, m.Pod, options.Container); err != nil {
			return fmt.Errorf("wait for %s to start: %w", m.Pod.Name, err)
		}
	}
	stream, err := t.pods.GetLogs(m.Pod.Name, &options).Stream(ctx)
	if err != nil {
		return fmt.Errorf("logs of %s: %w", m.Pod.Name, err)
	}
	defer stream.Close() //nolint:errcheck // it was only read
	return t.copy(stream, prefix)
}

// copy writes whole lines, each behind the prefix.
func (t *tails) copy(from io.Reader, prefix string) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if !strings.HasSuffix(line, "\n") {
				line += "\n"
			}
			t.mu.Lock()
			_, writing := io.WriteString(t.out, prefix+line)
			t.mu.Unlock()
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

func (t *tails) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.errOut, text) //nolint:errcheck // who reads no notes misses none
}

// await waits until a container of a pod has started.
func (t *tails) await(ctx context.Context, pod *corev1.Pod, container string) error {
	return wait.PollUntilContextCancel(ctx, startPoll, true, func(ctx context.Context) (bool, error) {
		fresh, err := t.pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if fresh.UID != pod.UID {
			return false, errors.New("it is gone, and another pod has its name: ask again")
		}
		return started(fresh, container), nil
	})
}

// started says whether a container has run, or never will.
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
