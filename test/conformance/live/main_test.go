// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// patience is generous: what is waited for takes seconds.
const patience = 2 * time.Minute

// cluster is the sandbox of all tests of this package.
var cluster struct {
	*sandbox.Sandbox
	kube   kubernetes.Interface
	paddle paddleclient.Interface
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	s, err := sandbox.Start(context.Background(), sandbox.Options{StateDir: "../../../_output/test-conformance", Topology: sandbox.Uniform(4), Progress: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the sandbox:", err)
		return 1
	}
	defer func() {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the sandbox:", err)
			code = 1
		}
	}()
	cluster.Sandbox = s
	if cluster.kube, err = kubernetes.NewForConfig(s.RESTConfig()); err == nil {
		cluster.paddle, err = paddleclient.NewForConfig(s.RESTConfig())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "connect to the sandbox:", err)
		return 1
	}
	return m.Run()
}

// await asks again and again until there is no error, and fails the test with the last one when patience is over.
func await(t *testing.T, what string, try func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil {
		require.FailNow(t, "gave up waiting for "+what, "%v (logs in %s)", last, cluster.StateDir())
	}
}

// namespace makes a namespace for one test, in which pods are admitted.
func namespace(t *testing.T) string {
	t.Helper()
	name := strings.NewReplacer("/", "-", "_", "-").Replace(strings.ToLower(t.Name()))
	_, err := cluster.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	await(t, "the default service account of "+name, func(ctx context.Context) error {
		_, err := cluster.kube.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return name
}

// podsOf are a Volcano Job's pods that have neither ended nor are being deleted.
func podsOf(ctx context.Context, namespace, job string) ([]*corev1.Pod, error) {
	list, err := cluster.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: vcbatch.JobNameKey + "=" + job})
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; alive(pod) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

func alive(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// gangOf reads all that the API server has of a job's pods. It fails while a container could not start.
func gangOf(ctx context.Context, mode conformance.Mode, namespace, job string, size int) (*conformance.Gang, error) {
	// Before the pods: it is written when all is known of them.
	data := map[string]map[string]string{}
	maps, err := cluster.kube.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range maps.Items {
		data[maps.Items[i].Name] = maps.Items[i].Data
	}
	pods, err := podsOf(ctx, namespace, job)
	if err != nil {
		return nil, err
	}
	if len(pods) != size {
		return nil, fmt.Errorf("%d pods of %d are there", len(pods), size)
	}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			return nil, fmt.Errorf("pod %s is %s with IP %q", pod.Name, pod.Status.Phase, pod.Status.PodIP)
		}
	}
	list, err := cluster.kube.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var services []*corev1.Service
	for i := range list.Items {
		services = append(services, &list.Items[i])
	}
	return conformance.NewGang(mode, pods, services, func(name string) (map[string]string, bool) {
		found, ok := data[name]
		return found, ok
	})
}
