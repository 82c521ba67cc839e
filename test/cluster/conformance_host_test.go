// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// only is a label that one node gets, so that all pods that ask for it share its address.
const only = "paddle.test/only"

// Jobs that chose the same ports, because neither was visible to the controller then, must not begin with them; nor may one that comes
// after the controller was restarted choose those of a job that runs.
func TestNoTwoPodsOfOneNodeHaveAPortInCommon(t *testing.T) {
	space := cluster.Namespace(t)
	volcano := cluster.Volcano.BatchV1alpha1().Jobs(space)
	first := func(name string) string {
		var port string
		cluster.Await(t, "the ports of "+name, func(ctx context.Context) error {
			job, err := volcano.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if port = job.Annotations[v1.FirstPortAnnotation]; port == "" {
				return errors.New("it has none")
			}
			return nil
		})
		return port
	}
	pods := func(what string, is func(*corev1.Pod) bool) {
		cluster.Await(t, what, func(ctx context.Context) error {
			list, err := cluster.Kube.CoreV1().Pods(space).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			n := 0
			for i := range list.Items {
				if is(&list.Items[i]) {
					n++
				}
			}
			if n != 12 {
				return fmt.Errorf("%d of 12", n)
			}
			return nil
		})
	}
	for _, name := range []string{"a", "b", "c"} {
		submit(t, space, name)
	}
	pods("all pods to wait", func(*corev1.Pod) bool { return true })
	for _, name := range []string{"a", "b", "c"} {
		job, err := volcano.Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		require.NotContains(t, job.Annotations, v1.FirstPortAnnotation, "who waits has no ports")
	}
	// The gangs are placed while no controller is there.
	require.NoError(t, cluster.Kill(sandbox.Controller, syscall.SIGKILL))
	label(t, "true")
	t.Cleanup(func() { label(t, nil) })
	pods("all pods to be placed", func(pod *corev1.Pod) bool { return pod.Status.PodIP != "" })
	for _, name := range []string{"a", "b"} {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1.FirstPortAnnotation: "20000"}}})
		require.NoError(t, err)
		_, err = volcano.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, cluster.StartComponent(sandbox.Controller))

	gangs := map[string][]conformance.Pod{}
	run := func(name string) {
		var gang *conformance.Gang
		cluster.Await(t, "all containers of "+name, func(ctx context.Context) (err error) {
			gang, err = gangOf(ctx, conformance.PS, space, name, 4)
			return err
		})
		require.NoError(t, gang.Direct().Check())
		gangs[name] = gang.Pods
	}
	apart := func() {
		var pods []conformance.Pod
		for _, gang := range gangs {
			pods = append(pods, gang...)
		}
		for i := range pods {
			for j := range pods[:i] {
				require.Equal(t, pods[i].IP, pods[j].IP, "they share a node")
				require.NoError(t, conformance.Collide(&pods[i], &pods[j]))
			}
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		run(name)
	}
	require.NoError(t, cluster.RestartController(t.Context()))
	submit(t, space, "d")
	run("d")
	apart()
	// What a restart of the gang brings has ports again that no other pod has.
	require.NoError(t, cluster.Kube.CoreV1().Pods(space).Delete(t.Context(), "a-worker-0", metav1.DeleteOptions{}))
	cluster.AwaitJob(t, space, "a", "restarted", func(job *v1.PaddleJob) bool { return job.Status.Restarts == 1 && job.Status.Phase == v1.Running })
	run("a")
	require.NotEmpty(t, first("a"))
	apart()
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(space).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	awaitNothing(t, space) // other tests have the cluster for themselves
}

// submit creates a job of two servers and two workers in the network of the one node.
func submit(t *testing.T, space, name string) {
	t.Helper()
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PaddleJobSpec{PS: role(2), Worker: role(2), Intranet: v1.Host}}
	for _, spec := range []*v1.ResourceSpec{job.Spec.PS, job.Spec.Worker} {
		spec.Template.Spec.NodeSelector = map[string]string{only: "true"}
	}
	_, err := cluster.Paddle.BatchV1().PaddleJobs(space).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
}

// label sets the label of the one node, or takes it off.
func label(t *testing.T, value any) {
	t.Helper()
	ctx := context.Background()
	nodes, err := cluster.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{only: value}}})
	require.NoError(t, err)
	_, err = cluster.Kube.CoreV1().Nodes().Patch(ctx, nodes.Items[0].Name, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
}
