// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// journal is what the pods of a namespace have done and said, also of those that are no more. All of it comes through the
// API server, as `kubectl get --watch` and `kubectl logs --follow` would show it.
type journal struct {
	mu    sync.Mutex
	begun time.Time
	pods  map[types.UID]*story
	// following are the goroutines that read logs.
	following sync.WaitGroup
}

// story is one pod's.
type story struct {
	name, role string
	bound      time.Time
	// containers are by their names.
	containers map[string]*container
}

// container is one of a pod's, in the order in which it was seen to start.
type container struct {
	id      string
	started time.Time
	lines   []line
}

type line struct {
	at   time.Time
	text string
}

// follow begins a journal, which ends with the test.
func follow(t *testing.T, namespace string) *journal {
	t.Helper()
	j := &journal{begun: time.Now(), pods: map[types.UID]*story{}}
	ctx, cancel := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactoryWithOptions(cluster.Kube, 0, informers.WithNamespace(namespace))
	see := func(object any) {
		if pod, ok := object.(*corev1.Pod); ok {
			j.see(ctx, pod)
		}
	}
	pods := factory.Core().V1().Pods().Informer()
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, fresh any) { see(fresh) }, DeleteFunc: see}); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(j.told())
		}
		cancel()
		factory.Shutdown()
		j.following.Wait()
	})
	return j
}

// see takes down what is new about a pod, and begins to read the logs of containers that have started.
func (j *journal) see(ctx context.Context, pod *corev1.Pod) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.pods[pod.UID]
	if s == nil {
		s = &story{name: pod.Name, role: pod.Labels[vcbatch.TaskSpecKey], containers: map[string]*container{}}
		j.pods[pod.UID] = s
	}
	if s.bound.IsZero() && pod.Spec.NodeName != "" {
		s.bound = time.Now()
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.containers[status.Name] != nil || status.State.Running == nil && status.State.Terminated == nil {
			continue
		}
		c := &container{id: status.ContainerID, started: time.Now()}
		s.containers[status.Name] = c
		j.following.Add(1)
		go func() {
			defer j.following.Done()
			j.read(ctx, pod.Namespace, pod.Name, status.Name, c)
		}()
	}
}

// read reads a container's log until it ends. A pod that has just started may have none yet.
func (j *journal) read(ctx context.Context, namespace, pod, name string, into *container) {
	_ = cluster.Until(ctx, "the log of "+pod, func(ctx context.Context) error { // what is missing is seen by who looks for it
		stream, err := cluster.Kube.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: name, Follow: true, Timestamps: true}).Stream(ctx)
		if err != nil {
			return err
		}
		defer stream.Close() //nolint:errcheck // it was only read
		for lines := bufio.NewScanner(stream); lines.Scan(); {
			j.mu.Lock()
			into.lines = append(into.lines, parseLine(lines.Text()))
			j.mu.Unlock()
		}
		return nil
	})
}

// stories are those of a role's pods, or of all, in the order of their names and then of their binding.
func (j *journal) stories(role string) (found []*story) {
	for _, s := range j.pods {
		if role == "" || s.role == role {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *story) int { return cmp.Or(cmp.Compare(a.name, b.name), a.bound.Compare(b.bound)) })
	return found
}

// parseLine takes the time at which the runtime read a line off it.
func parseLine(said string) line {
	stamp, text, _ := strings.Cut(said, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return line{at: time.Now(), text: said}
	}
	return line{at: at, text: text}
}

// lines are what the containers of pods have said that has a text in it.
func (j *journal) lines(role, text string) (found []line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.stories(role) {
		for _, c := range s.containers {
			for _, l := range c.lines {
				if strings.Contains(l.text, text) {
					found = append(found, l)
				}
			}
		}
	}
	return found
}

// await waits until so many lines of a role have a text in them.
func (j *journal) await(t *testing.T, role, text string, want int) []line {
	t.Helper()
	var found []line
	cluster.Await(t, fmt.Sprintf("%d lines of %s with %q", want, role, text), func(context.Context) error {
		if found = j.lines(role, text); len(found) < want {
			return fmt.Errorf("there are %d", len(found))
		}
		return nil
	})
	return found
}

// told is all that was said.
func (j *journal) told() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out strings.Builder
	for _, s := range j.stories("") {
		fmt.Fprintf(&out, "\n%s bound after %s", s.name, since(j.begun, s.bound))
		for name, c := range s.containers {
			fmt.Fprintf(&out, "\n  %s started after %s", name, since(j.begun, c.started))
			for _, l := range c.lines {
				fmt.Fprintf(&out, "\n    %s %s", since(j.begun, l.at), l.text)
			}
		}
	}
	return out.String()
}

func since(begun, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%.1fs", at.Sub(begun).Seconds())
}
