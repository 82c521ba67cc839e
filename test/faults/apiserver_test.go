// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// The API server is killed and started again twice in one scenario. Other scenarios continue meanwhile, but none of their gangs restarts at
// that moment, and none fails before Volcano has listed the Jobs again. If Volcano deletes the pods of a failed gang and then cannot
// write the status, because the API server is down or Volcano's copy of the Job is stale, it creates new pods and never counts the
// restart (killPods in its job_controller_actions.go, v1.14.1). Not parallel: nothing else may need the
// API server.
func TestAPIServerIsRestarted(t *testing.T) { //nolint:tparallel // its scenarios are parallel among themselves only
	for _, l := range scenarios {
		l.undisturbed(t)
	}
	var calm sync.RWMutex
	for i, l := range scenarios {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			space := cluster.Namespace(t)
			startController(t, space, space)
			d := &driver{t: t, namespace: space}
			if i == 0 {
				steps, news := 0, cluster.NamespaceNamed(t, space+"-news")
				d.step = func() {
					if steps++; steps == 2 || steps == 4 {
						calm.Lock()
						defer calm.Unlock()
						restartAPIServer(t)
						awaitVolcano(t, news)
					}
				}
			} else {
				d.calm = calm.RLocker()
			}
			l.runLike(d, l.undisturbed(t))
		})
	}
}

func restartAPIServer(t *testing.T) {
	t.Helper()
	require.NoError(t, cluster.Kill(sandbox.APIServer, syscall.SIGKILL))
	require.NoError(t, cluster.StartComponent(sandbox.APIServer))
	cluster.Await(t, "the API server to answer", func(ctx context.Context) error {
		return cluster.Kube.Discovery().RESTClient().Verb(http.MethodGet).AbsPath("/readyz").Do(ctx).Error()
	})
}

// awaitVolcano waits until Volcano's Job controller has seen a Job that is new, and so each change of the others before it.
func awaitVolcano(t *testing.T, namespace string) {
	t.Helper()
	jobs := cluster.Volcano.BatchV1alpha1().Jobs(namespace)
	news := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "news-"}, Spec: vcbatch.JobSpec{
		Tasks: []vcbatch.TaskSpec{{Name: "news", Replicas: 1, Template: role(1).Template}},
	}}
	cluster.Await(t, "a Volcano Job to be created", func(ctx context.Context) (err error) {
		made, err := jobs.Create(ctx, news, metav1.CreateOptions{})
		if err == nil {
			news = made
		}
		return err
	})
	cluster.Await(t, "Volcano to have seen the Job", func(ctx context.Context) error {
		seen, err := jobs.Get(ctx, news.Name, metav1.GetOptions{})
		if err == nil && seen.Status.State.Phase == "" {
			err = errors.New("it has no phase yet")
		}
		return err
	})
	require.NoError(t, jobs.Delete(t.Context(), news.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}))
}
