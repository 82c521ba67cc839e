// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// onHosts sets the pods' IPs to their nodes' addresses.
func onHosts(job *v1.PaddleJob) { job.Spec.Intranet = v1.Host }

// The first job needs all ports that the controller has, and waits for nodes that do not exist.
func TestJobsThatWaitTakeNoPorts(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	waits := create(t, collective(space, "waits", onHosts, workers(500), func(job *v1.PaddleJob) {
		job.Spec.Worker.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")}
	}))
	awaitCondition(t, waits, v1.ConditionCreated, metav1.ConditionTrue, "VolcanoJobCreated")

	runs := create(t, collective(space, "runs", onHosts))
	awaitPhase(t, runs, v1.Running)
	require.NotEmpty(t, awaitVolcanoJob(t, runs, nil).Annotations[v1.FirstPortAnnotation])
	require.Empty(t, awaitVolcanoJob(t, waits, nil).Annotations[v1.FirstPortAnnotation])
	awaitPhase(t, waits, v1.Pending)

	// All of its pods are recreated, and get ports again.
	pods := cluster.Kube.CoreV1().Pods(space)
	before, err := pods.Get(t.Context(), "runs-worker-1", metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, pods.Delete(t.Context(), "runs-worker-0", metav1.DeleteOptions{}))
	cluster.Await(t, "another gang to run", func(ctx context.Context) error {
		for _, name := range []string{"runs-worker-0", "runs-worker-1"} {
			pod, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if pod.UID == before.UID || pod.Status.Phase != corev1.PodRunning || pod.Annotations[v1.PortAnnotation] == "" {
				return fmt.Errorf("%s is %s with the port %q", name, pod.Status.Phase, pod.Annotations[v1.PortAnnotation])
			}
		}
		return nil
	})
	require.NotEmpty(t, awaitVolcanoJob(t, runs, nil).Annotations[v1.FirstPortAnnotation])
}
