// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
)

// TestRealNode runs pods on one sandbox, stops it, and looks for what it has left.
func TestRealNode(t *testing.T) {
	live.RequireReal(t)
	state := stateDir(t)
	// Whatever is missing is built before the time is taken.
	_, err := sandbox.Build(t.Context(), options(state))
	require.NoError(t, err)
	before := trace(t, state)
	begin := time.Now()
	p := start(t, state)
	t.Logf("the sandbox was ready after %s; at most %s are wanted on an idle machine", time.Since(begin).Round(time.Millisecond), startLimit)
	t.Run("pods", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *live.Plane){
			"logs": testLogs, "names": testNames, "kwok": testKwok, "gpus": testGPUs, "api": testAPI, "exit code": testExitCode, "kubectl": testKubectl,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, p)
			})
		}
	})
	t.Run("restart", func(t *testing.T) { testRestart(t, p) })
	machine, err := box.Probe(node.Tools()...)
	require.NoError(t, err)
	mode, err := box.Verdict(machine)
	require.NoError(t, err)
	requireSeen(t, mode, added(before, trace(t, state)))
	begin = time.Now()
	require.NoError(t, p.Stop())
	t.Logf("the sandbox was gone after %s", time.Since(begin).Round(time.Millisecond))
	requireNoTrace(t, before, state)
}

// onRealNode is a pod that runs the talker there.
func onRealNode(name string, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "talker"}},
		Spec: corev1.PodSpec{
			NodeName: sandbox.RealNode, RestartPolicy: corev1.RestartPolicyNever, Hostname: name, Subdomain: "talkers",
			Containers: []corev1.Container{{Name: "talker", Image: talker, Args: args}},
		},
	}
}

func create(t *testing.T, p *live.Plane, namespace string, pod *corev1.Pod) {
	t.Helper()
	_, err := p.Kube.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
}

// ended waits for the end of a pod and returns it with what it has said.
func ended(t *testing.T, p *live.Plane, namespace, name string) (pod *corev1.Pod, output string) {
	t.Helper()
	p.Await(t, "the end of pod "+name, func(ctx context.Context) (err error) {
		pod, err = p.Kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			err = fmt.Errorf("it is %s: %+v", pod.Status.Phase, pod.Status.ContainerStatuses)
		}
		return err
	})
	data, err := p.Kube.CoreV1().Pods(namespace).GetLogs(name, &corev1.PodLogOptions{}).DoRaw(t.Context())
	require.NoError(t, err)
	return pod, string(data)
}

// testLogs shows a pod's output and address as kubectl does.
func testLogs(t *testing.T, p *live.Plane) {
	namespace := p.Namespace(t)
	create(t, p, namespace, onRealNode("server", "serve"))
	await(t, p, namespace, "server", corev1.PodRunning)
	pod, err := p.Kube.CoreV1().Pods(namespace).Get(t.Context(), "server", metav1.GetOptions{})
	require.NoError(t, err)
	require.True(t, node.Address.Contains(netip.MustParseAddr(pod.Status.PodIP)), pod.Status.PodIP)
	p.Await(t, "its output", func(ctx context.Context) error {
		data, err := p.Kube.CoreV1().Pods(namespace).GetLogs("server", &corev1.PodLogOptions{}).DoRaw(ctx)
		if err == nil && string(data) != "this is server\n" {
			err = fmt.Errorf("it has said %q", data)
		}
		return err
	})
}

// testNames has two pods ask each other by the names that a headless service gives them.
func testNames(t *testing.T, p *live.Plane) {
	namespace := p.Namespace(t)
	_, err := p.Kube.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "talkers"},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "talker"}, PublishNotReadyAddresses: true},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, name := range []string{"left", "right"} {
		create(t, p, namespace, onRealNode(name, "serve"))
	}
	for asker, peer := range map[string]string{"of-left": "left", "of-right": "right"} {
		create(t, p, namespace, onRealNode(asker, "ask", peer+".talkers"))
	}
	for asker, peer := range map[string]string{"of-left": "left", "of-right": "right"} {
		pod, output := ended(t, p, namespace, asker)
		require.Equal(t, corev1.PodSucceeded, pod.Status.Phase, output)
		require.Contains(t, output, "answer: "+peer+" hears "+pod.Status.PodIP+":")
	}
}

// testKwok looks that kwok plays the simulated nodes and leaves the real one alone.
func testKwok(t *testing.T, p *live.Plane) {
	namespace := p.Namespace(t)
	nodes, err := p.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	kubelets := map[string]string{}
	for i := range nodes.Items {
		kubelets[nodes.Items[i].Name], _, _ = strings.Cut(nodes.Items[i].Status.NodeInfo.ContainerRuntimeVersion, "://")
	}
	require.Equal(t, map[string]string{sandbox.RealNode: "containerd", "rack-0-node-0": "kwok", "rack-0-node-1": "kwok"}, kubelets)
	// kwok would end both at once, the real one first.
	for _, name := range []string{"real", "simulated"} {
		pod := onRealNode(name, "serve")
		pod.Annotations = map[string]string{sandbox.AnnotationRunFor: "1ms"}
		want := corev1.PodRunning
		if name == "simulated" {
			pod.Spec.NodeName, want = "rack-0-node-0", corev1.PodSucceeded
		}
		create(t, p, namespace, pod)
		await(t, p, namespace, name, want)
	}
	require.Equal(t, "kubelet", await(t, p, namespace, "real", corev1.PodRunning))
	require.Equal(t, "kwok", await(t, p, namespace, "simulated", corev1.PodSucceeded))
}

// await waits for a phase, and returns who has written the pod's status.
func await(t *testing.T, p *live.Plane, namespace, name string, phase corev1.PodPhase) string {
	t.Helper()
	var writers []string
	p.Await(t, "pod "+name, func(ctx context.Context) error {
		pod, err := p.Kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Status.Phase != phase {
			return fmt.Errorf("it is %s and not %s", pod.Status.Phase, phase)
		}
		writers = nil
		for _, entry := range pod.ManagedFields {
			if entry.Subresource == "status" {
				writers = append(writers, entry.Manager)
			}
		}
		return nil
	})
	return strings.Join(writers, " ")
}

// testGPUs promises GPUs that the machine does not have: the kubelet admits pods that ask for them, and no more.
func testGPUs(t *testing.T, p *live.Plane) {
	namespace := p.Namespace(t)
	_, err := p.Kube.CoreV1().Nodes().Patch(t.Context(), sandbox.RealNode, types.StrategicMergePatchType,
		[]byte(`{"status":{"capacity":{"nvidia.com/gpu":"8"},"allocatable":{"nvidia.com/gpu":"8"}}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	for name, gpus := range map[string]string{"eight": "8", "nine": "9"} {
		pod := onRealNode(name, "ask", "localhost")
		pod.Spec.Containers[0].Resources.Limits = quantities("nvidia.com/gpu", gpus)
		if name == "eight" {
			pod.Spec.Containers[0].Args = []string{"serve"}
		}
		create(t, p, namespace, pod)
	}
	p.Await(t, "the verdicts", func(ctx context.Context) error {
		eight, err := p.Kube.CoreV1().Pods(namespace).Get(ctx, "eight", metav1.GetOptions{})
		if err != nil {
			return err
		}
		nine, err := p.Kube.CoreV1().Pods(namespace).Get(ctx, "nine", metav1.GetOptions{})
		if err == nil && (eight.Status.Phase != corev1.PodRunning || nine.Status.Reason != "OutOfnvidia.com/gpu") {
			err = fmt.Errorf("the one of 8 is %s (%s), the one of 9 %s (%s)", eight.Status.Phase, eight.Status.Message, nine.Status.Phase, nine.Status.Message)
		}
		return err
	})
}

// testAPI asks the API server from a pod, by the address and by the name that clients in a cluster know.
func testAPI(t *testing.T, p *live.Plane) {
	namespace := p.Namespace(t)
	create(t, p, namespace, onRealNode("client", "api"))
	pod, output := ended(t, p, namespace, "client")
	require.Equal(t, corev1.PodSucceeded, pod.Status.Phase, output)
	require.Equal(t, 2, strings.Count(output, `"gitVersion": "v1.34`), output)
}

// testExitCode has a program fail, and its pod deleted.
func testExitCode(t *testing.T, p *live.Plane) {
	namespace := p.Namespace(t)
	create(t, p, namespace, onRealNode("wrong", "nonsense"))
	pod, output := ended(t, p, namespace, "wrong")
	require.Equal(t, corev1.PodFailed, pod.Status.Phase)
	require.EqualValues(t, 1, pod.Status.ContainerStatuses[0].State.Terminated.ExitCode)
	require.Contains(t, output, "talker: say serve")
	require.NoError(t, p.Kube.CoreV1().Pods(namespace).Delete(t.Context(), "wrong", metav1.DeleteOptions{}))
	p.Await(t, "the pod to be gone", func(ctx context.Context) error {
		_, err := p.Kube.CoreV1().Pods(namespace).Get(ctx, "wrong", metav1.GetOptions{})
		if err == nil {
			return errors.New("it is still there")
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

func quantities(name, value string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(value)}
}

// testRestart kills the kubelet and containerd, which leaves containers as they are.
func testRestart(t *testing.T, p *live.Plane) {
	namespace := p.Namespace(t)
	create(t, p, namespace, onRealNode("before", "serve"))
	await(t, p, namespace, "before", corev1.PodRunning)
	starts := func() int {
		log, err := os.ReadFile(p.Logs(sandbox.Containerd))
		require.NoError(t, err)
		return strings.Count(string(log), node.RuntimeReady)
	}
	require.Equal(t, 1, starts())
	for _, component := range []string{sandbox.Kubelet, sandbox.Containerd, sandbox.CoreDNS} {
		require.NoError(t, p.Kill(component, syscall.SIGKILL))
	}
	require.NoError(t, p.StartComponent(sandbox.Containerd))
	p.Await(t, "containerd to be ready again", func(context.Context) error {
		if starts() < 2 {
			return errors.New("it has not said so in its log")
		}
		return nil
	})
	require.NoError(t, p.ImportImages(t.Context(), talkerArchive), "images may come later, too")
	for _, component := range []string{sandbox.Kubelet, sandbox.CoreDNS} {
		require.NoError(t, p.StartComponent(component))
	}
	create(t, p, namespace, onRealNode("after", "serve"))
	await(t, p, namespace, "after", corev1.PodRunning)
	pod, err := p.Kube.CoreV1().Pods(namespace).Get(t.Context(), "before", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.PodRunning, pod.Status.Phase)
	require.Zero(t, pod.Status.ContainerStatuses[0].RestartCount)
}
