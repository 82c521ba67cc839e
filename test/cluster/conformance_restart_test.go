// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// A kubelet may start a container, and read its ConfigMap, at any moment from the pod's binding on. So at no moment may
// there be a ConfigMap that holds another address for a pod than its own.
func TestNoPodReadsTheAddressesOfTheDead(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	stop := record(t, space)
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: v1.PaddleJobSpec{PS: role(2), Worker: role(2), Intranet: v1.PodIP}}
	// Long enough for the addresses to be known, also on a busy machine.
	job.Spec.Worker.Template.Annotations[stages.AnnotationRunFor] = "6s"
	job.Spec.Worker.Template.Annotations[stages.AnnotationExitCode] = "1"
	job.Spec.Worker.Template.Annotations[stages.AnnotationFailAttempt] = "0"
	_, err := cluster.Paddle.BatchV1().PaddleJobs(space).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	cluster.Await(t, "the second attempt", func(ctx context.Context) error {
		seen, err := cluster.Paddle.BatchV1().PaddleJobs(space).Get(ctx, "job", metav1.GetOptions{})
		if err != nil || seen.Status.Restarts != 1 || seen.Status.Phase != v1.Running {
			return fmt.Errorf("%d restarts, %s (%w)", seen.Status.Restarts, seen.Status.Phase, err)
		}
		gang, err := gangOf(ctx, conformance.PS, space, "job", 4)
		if err != nil {
			return err
		}
		if alike(gang.Pods) {
			gang.Direct()
		}
		return gang.Check()
	})
	past := &history{pods: map[string]*corev1.Pod{}}
	for _, moment := range stop() {
		past.add(t, moment)
	}
	require.Equal(t, 2, past.environments, "each gang has its own ConfigMap")
	require.Len(t, past.judged, 8, "two gangs of four pods were seen with a ConfigMap")
}

// history is a namespace as it was at some moment.
type history struct {
	pods map[string]*corev1.Pod
	// environment is the job's ConfigMap, and known the pods that had an address when it was written.
	environment *corev1.ConfigMap
	known       map[types.UID]bool
	// environments counts the ConfigMaps; judged are the pods that could read one.
	environments int
	judged       map[types.UID]bool
}

func (h *history) add(t *testing.T, moment watch.Event) {
	t.Helper()
	switch object := moment.Object.(type) {
	case *corev1.Pod:
		if h.pods[object.Name] = object; moment.Type == watch.Deleted {
			delete(h.pods, object.Name)
		}
	case *corev1.ConfigMap:
		if object.Name != "job" {
			return
		}
		h.environment, h.known = object, map[types.UID]bool{}
		if moment.Type == watch.Deleted {
			h.environment = nil
		}
		if moment.Type == watch.Added {
			h.environments++
		}
		for _, pod := range h.pods {
			h.known[pod.UID] = pod.Status.PodIP != ""
		}
	}
	if h.environment == nil {
		return
	}
	for _, pod := range h.pods {
		if pod.Spec.NodeName == "" || !alive(pod) {
			continue
		}
		if h.judged == nil {
			h.judged = map[types.UID]bool{}
		}
		h.judged[pod.UID] = true
		require.Truef(t, h.known[pod.UID], "pod %s of version %s could read the ConfigMap of version %s, which was written for another pod of its name",
			pod.Name, pod.ResourceVersion, h.environment.ResourceVersion)
		require.Equalf(t, pod.Status.PodIP, hostOf(t, h.environment, pod), "ConfigMap of version %s as pod %s of version %s could read it",
			h.environment.ResourceVersion, pod.Name, pod.ResourceVersion)
	}
}

// hostOf returns a pod's host in a ConfigMap.
func hostOf(t *testing.T, environment *corev1.ConfigMap, pod *corev1.Pod) string {
	t.Helper()
	list := environment.Data["PADDLE_TRAINER_ENDPOINTS"]
	if pod.Labels[vcbatch.TaskSpecKey] == "ps" {
		list = environment.Data["PADDLE_PSERVERS_IP_PORT_LIST"]
	}
	index, err := strconv.Atoi(pod.Labels[vcbatch.TaskIndex])
	require.NoError(t, err)
	endpoints := strings.Split(list, ",")
	require.Less(t, index, len(endpoints), "%s has no place in %s", pod.Name, list)
	host, _, _ := strings.Cut(endpoints[index], ":")
	return host
}

// record watches the pods and ConfigMaps of a namespace until the function it returns is called, which returns all
// events in the order in which the API server stored them: one etcd numbers them all.
func record(t *testing.T, namespace string) (stop func() []watch.Event) {
	t.Helper()
	pods, err := cluster.Kube.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	configMaps, err := cluster.Kube.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var mu sync.Mutex
	var group sync.WaitGroup
	var events []watch.Event
	stopped := false
	for _, source := range []watch.Interface{pods, configMaps} {
		group.Add(1)
		go func() {
			defer group.Done()
			for event := range source.ResultChan() {
				mu.Lock()
				// A watch that is stopped ends in an error.
				if !stopped {
					events = append(events, event)
				}
				mu.Unlock()
			}
		}()
	}
	return func() []watch.Event {
		mu.Lock()
		stopped = true
		mu.Unlock()
		pods.Stop()
		configMaps.Stop()
		group.Wait()
		versions := map[watch.Event]uint64{}
		for _, event := range events {
			object, ok := event.Object.(metav1.Object)
			require.True(t, ok, "the watch broke: %v", event.Object)
			version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
			require.NoError(t, err)
			versions[event] = version
		}
		slices.SortStableFunc(events, func(a, b watch.Event) int { return cmp.Compare(versions[a], versions[b]) })
		return events
	}
}
