// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// paddle-scheduler is applied over Volcano's own, and its pod never starts: Volcano's pod stays, and schedules with the configuration
// and the permissions of paddle-scheduler.
func TestVolcanosSchedulerRunsOnIfTheImageCannotBePulled(t *testing.T) {
	live.SkipUnlessAll(t)
	t.Parallel()
	o := options(stateDir + "-scheduler")
	o.StockScheduler = true
	p := start(t, o)
	volcanos, err := manifests.VolcanosScheduler(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.objects.Apply(t.Context(), "", "kubectl", volcanos...))
	old := p.startPod(t, nil)
	p.awaitReady(t, "Volcano's pod to be ready")

	paddle := read(t, "v1/scheduler.yaml")
	for _, object := range paddle {
		switch object.GetKind() {
		case "Deployment": // the sandbox pulls no images; a pod with this annotation does not start
			require.NoError(t, unstructured.SetNestedStringMap(object.Object, map[string]string{stages.AnnotationRunFor: "the image cannot be pulled"},
				"spec", "template", "metadata", "annotations"))
		case "ConfigMap": // the sandbox's scheduler reads a file
			conf, _, err := unstructured.NestedString(object.Object, "data", "volcano-scheduler.conf")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(p.StateDir(), "volcano-scheduler.conf"), []byte(conf), 0o600))
		}
	}
	require.NoError(t, p.objects.Apply(t.Context(), "", "kubectl", paddle...))
	p.startPod(t, old)
	p.awaitReady(t, "a pod to be ready while the new one does not start")
	kept, err := p.Kube.CoreV1().Pods(volcanoSystem).Get(t.Context(), old.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Nil(t, kept.DeletionTimestamp)
	require.Equal(t, old.UID, kept.UID)

	log := func() []byte {
		text, err := os.ReadFile(p.Logs(sandbox.Scheduler))
		require.NoError(t, err)
		return text
	}
	p.Await(t, "Volcano's scheduler to read the new configuration", func(context.Context) error {
		if !bytes.Contains(log(), []byte("Failed to get plugin paddle")) {
			return errors.New("it has not read it")
		}
		return nil
	})
	p.runExample(t, p.Namespace(t))
	require.NotContains(t, string(bytes.ToLower(log())), "forbidden")
}

const volcanoSystem = "volcano-system"

// startPod binds the newest pod of the scheduler's Deployment, another one than old, to a node, and returns it.
func (p *plane) startPod(t *testing.T, old *corev1.Pod) *corev1.Pod {
	t.Helper()
	nodes, err := p.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, nodes.Items)
	var found *corev1.Pod
	p.Await(t, "a new pod of the scheduler", func(ctx context.Context) error {
		pods, err := p.Kube.CoreV1().Pods(volcanoSystem).List(ctx, metav1.ListOptions{LabelSelector: "app=volcano-scheduler"})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Spec.NodeName == "" && (old == nil || old.UID != pod.UID) {
				found = pod
				return nil
			}
		}
		return fmt.Errorf("there are %d pods, and none is new", len(pods.Items))
	})
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: found.Name, UID: found.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: nodes.Items[0].Name}}
	require.NoError(t, p.Kube.CoreV1().Pods(volcanoSystem).Bind(t.Context(), binding, metav1.CreateOptions{}))
	return found
}

// awaitReady waits until the scheduler's Deployment has one ready pod, and one of its newest template, which may be another.
func (p *plane) awaitReady(t *testing.T, what string) {
	t.Helper()
	p.Await(t, what, func(ctx context.Context) error {
		d, err := p.Kube.AppsV1().Deployments(volcanoSystem).Get(ctx, "volcano-scheduler", metav1.GetOptions{})
		if err == nil && (d.Status.ObservedGeneration != d.Generation || d.Status.ReadyReplicas != 1 || d.Status.UpdatedReplicas != 1) {
			err = fmt.Errorf("its status is %+v", d.Status)
		}
		return err
	})
}

// start starts a sandbox for one test.
func start(t *testing.T, o sandbox.Options) *plane {
	t.Helper()
	s, err := sandbox.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	connected, err := live.Connect(s)
	require.NoError(t, err)
	p, err := newPlane(connected)
	require.NoError(t, err)
	return p
}

// runExample submits a job whose pods do not end by themselves, and waits until it runs.
func (p *plane) runExample(t *testing.T, namespace string) {
	t.Helper()
	example := read(t, "examples/wide_and_deep.yaml")
	for _, role := range []string{"ps", "worker"} {
		require.NoError(t, unstructured.SetNestedStringMap(example[0].Object, map[string]string{stages.AnnotationRunFor: "forever"},
			"spec", role, "template", "metadata", "annotations"))
	}
	_, err := p.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, example...)
	require.NoError(t, err)
	p.AwaitJob(t, namespace, example[0].GetName(), "running", func(job *paddlev1.PaddleJob) bool { return job.Status.Phase == paddlev1.Running })
}

func read(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Read(deploy.Files, file)
	require.NoError(t, err)
	return objects
}
