// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// barrier is the init container that the controller puts first.
const barrier = "paddle-barrier"

// line is one line of a container's log. Its time is that which the container runtime gave it.
type line struct {
	pod       *corev1.Pod
	container string
	at        time.Time
	text      string
}

func (l *line) role() string { return l.pod.Labels[vcbatch.TaskSpecKey] }

// journal is the pods of a job and their logs, also of deleted pods. All of it comes through the API server, as
// `kubectl get --watch` and `kubectl logs --follow` would show it.
type journal struct {
	begun   time.Time
	reading sync.WaitGroup

	mu    sync.Mutex
	lines []line
	pods  map[types.UID]*corev1.Pod
	// started are the names of the containers that have started, by their ids.
	started map[string]string
}

// follow begins a job's journal, which ends with the test.
func follow(t *testing.T, namespace, job string) *journal {
	t.Helper()
	j := &journal{begun: time.Now(), pods: map[types.UID]*corev1.Pod{}, started: map[string]string{}}
	// Not the test's context, which ends before the last lines are read.
	watching, stopWatching := context.WithCancel(context.Background())
	reading, stopReading := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactoryWithOptions(cluster.Kube, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = vcbatch.JobNameKey + "=" + job }))
	see := func(object any) {
		if pod, ok := object.(*corev1.Pod); ok {
			j.see(reading, pod)
		}
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, fresh any) { see(fresh) }})
	require.NoError(t, err)
	factory.Start(watching.Done())
	factory.WaitForCacheSync(watching.Done())
	t.Cleanup(func() {
		stopWatching()
		factory.Shutdown()
		if t.Failed() {
			<-time.After(2 * time.Second) // for the last lines
			t.Log(j.all())
		}
		stopReading()
		j.reading.Wait()
	})
	return j
}

// see begins to read the logs of containers that have started.
func (j *journal) see(ctx context.Context, pod *corev1.Pod) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pods[pod.UID] = pod
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if status.State.Running == nil && status.State.Terminated == nil || j.started[status.ContainerID] != "" {
			continue
		}
		j.started[status.ContainerID] = status.Name
		j.reading.Add(1)
		go func() {
			defer j.reading.Done()
			j.read(ctx, pod, status.Name)
		}()
	}
}

// read reads a container's log. A container that is gone before has none.
func (j *journal) read(ctx context.Context, pod *corev1.Pod, container string) {
	_ = cluster.Until(ctx, "the log of "+pod.Name, func(ctx context.Context) error {
		stream, err := cluster.Kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
			Container: container, Follow: true, Timestamps: true,
		}).Stream(ctx)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		defer stream.Close() //nolint:errcheck // it was only read
		for scanner := bufio.NewScanner(stream); scanner.Scan(); {
			stamp, text, _ := strings.Cut(scanner.Text(), " ")
			if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil { // else it is a message of the kubelet
				j.mu.Lock()
				j.lines = append(j.lines, line{pod, container, at, text})
				j.mu.Unlock()
			}
		}
		return nil
	})
}

// podsOf returns how many pods of a role there are or were.
func (j *journal) podsOf(role string) (count int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, pod := range j.pods {
		if pod.Labels[vcbatch.TaskSpecKey] == role {
			count++
		}
	}
	return count
}

// containers returns how many containers of a name have started.
func (j *journal) containers(name string) (count int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, started := range j.started {
		if started == name {
			count++
		}
	}
	return count
}

// said returns the lines with a text that the containers of a role's pods, or of all, have logged.
func (j *journal) said(role, text string) []line {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.lines), func(l line) bool { return role != "" && l.role() != role || !strings.Contains(l.text, text) })
}

// await waits until a number of lines of a role contain a text.
func (j *journal) await(t *testing.T, role, text string, want int) []line {
	t.Helper()
	var found []line
	cluster.Await(t, fmt.Sprintf("%d lines of %s with %q", want, role, text), func(context.Context) error {
		if found = j.said(role, text); len(found) < want {
			return fmt.Errorf("there are %d", len(found))
		}
		return nil
	})
	return found
}

// all returns all lines in the order of their times.
func (j *journal) all() string {
	lines := j.said("", "")
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "\n%6.1fs %s (%.4s) %s: %s", l.at.Sub(j.begun).Seconds(), l.pod.Name, l.pod.UID, l.container, l.text)
	}
	return out.String()
}
