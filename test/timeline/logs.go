// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bufio"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// started are the containers of a pod that have begun.
func started(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.DeleteFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.State.Running == nil && s.State.Terminated == nil
	})
}

func (w *Watch) readStarted(ctx context.Context, n *notes, pod *corev1.Pod) {
	for _, status := range started(pod) {
		if n.read[status.ContainerID] || ctx.Err() != nil {
			continue
		}
		n.read[status.ContainerID] = true
		from := Line{Pod: pod.Name, UID: pod.UID, Role: n.pod.Role, Container: status.Name}
		w.reading.Add(1)
		go func() {
			defer w.reading.Done()
			w.read(ctx, n, from)
		}()
	}
}

// read reads a container's log, as `kubectl logs --follow --timestamps` does. A container that is gone before has none.
func (w *Watch) read(ctx context.Context, n *notes, from Line) {
	_ = w.plane.Until(ctx, "the log of "+from.Pod, func(ctx context.Context) error {
		stream, err := w.plane.Kube.CoreV1().Pods(w.namespace).GetLogs(from.Pod, &corev1.PodLogOptions{
			Container: from.Container, Follow: true, Timestamps: true,
		}).Stream(ctx)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		defer stream.Close() //nolint:errcheck // it was only read
		for lines := bufio.NewScanner(stream); lines.Scan(); {
			w.addLine(n, from, lines.Text())
		}
		return nil
	})
}

// stepLine is what the trainer logs after a training step.
var stepLine = regexp.MustCompile(`^step \d+ loss `)

// addLine records what follows from a line that begins with its time.
func (w *Watch) addLine(n *notes, from Line, text string) {
	stamp, text, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return // a message of the kubelet
	}
	w.mu.Lock()
	run := n.run(from.Container)
	note(&run.Started, at)
	if from.Container == barrier {
		run.Ended = at // it logs when it starts and when it ends
	}
	if stepLine.MatchString(text) {
		note(&n.pod.FirstStep, at)
	}
	w.mu.Unlock()
	if w.onLine != nil {
		from.At, from.Text = at, text
		w.onLine(from)
	}
}
