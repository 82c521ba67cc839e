// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/app"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// instead runs a controller with other flags in the place of the sandbox's, until the test ends.
func instead(t *testing.T, with func(*app.Options)) {
	t.Helper()
	down(t, sandbox.Controller, syscall.SIGTERM)
	o := app.NewOptions()
	o.Kubeconfig, o.HTTPAddress, o.LeaderElection.LeaderElect = cluster.Kubeconfig(), "", false
	with(o)
	require.NoError(t, o.Validate())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

func TestFlags(t *testing.T) {
	mine, others := cluster.Namespace(t), cluster.NamespaceNamed(t, t.Name()+"-others")
	before := create(t, collective(mine, "before"))
	awaitPhase(t, before, v1.Running)
	written := awaitEnvironment(t, before, "")

	instead(t, func(o *app.Options) { o.Namespace, o.DefaultIntranet = mine, v1.Service })
	ignored := create(t, collective(others, "ignored"))
	after := create(t, collective(mine, "after", workersRunFor("1s")))
	awaitPhase(t, after, v1.Completed)
	cm, err := cluster.Kube.CoreV1().ConfigMaps(mine).Get(t.Context(), after.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "after-worker-0.after,after-worker-1.after", cm.Data["PADDLE_TRAINERS"])
	require.NotContains(t, cm.Annotations, v1.GangAnnotation)

	still, err := cluster.Kube.CoreV1().ConfigMaps(mine).Get(t.Context(), before.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, written.ResourceVersion, still.ResourceVersion, "a job that exists is left as it was made")
	ignored, err = cluster.Paddle.BatchV1().PaddleJobs(others).Get(t.Context(), ignored.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, ignored.Status, "the job is in another namespace")
}
