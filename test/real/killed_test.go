// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
	"github.com/paddle-volcano/paddle-volcano/test/trainer"
)

// holdEnv makes this program hold a sandbox in the folder that the variable names, until the program is killed.
const holdEnv = "REAL_TEST_HOLDS"

// bareOptions returns those of a sandbox of Volcano alone with a real node that has the trainer.
func bareOptions(state string, images ...string) sandbox.Options {
	return sandbox.Options{
		StateDir: state, StockScheduler: true, WithoutController: true, Topology: topology.Uniform(1), Progress: os.Stdout,
		Real: &sandbox.Real{Images: images},
	}
}

// hold starts a sandbox and stays.
func hold(state string) {
	archive := state + ".tar"
	err := packTrainer(archive)
	if err == nil {
		_, err = sandbox.Start(context.Background(), bareOptions(state, archive))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

// TestKilled kills the process that holds a sandbox while pods run, so that no process is left to clean up. It runs as root, if the
// machine allows that, and rootless, where root drops the permissions of a container runtime. It is not parallel,
// because the pods of other tests would be found as traces.
func TestKilled(t *testing.T) {
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	machine, err := box.Probe(node.Tools()...)
	require.NoError(t, err)
	mode, err := box.ModeFor(machine)
	require.NoError(t, err)
	t.Run(mode.String(), func(t *testing.T) { testKilled(t, mode) })
	if mode == box.Rootless {
		return
	}
	t.Run(box.Rootless.String(), func(t *testing.T) {
		machine.Capabilities = 0
		mode, err := box.ModeFor(machine)
		if err != nil {
			t.Skip(err)
		}
		testKilled(t, mode, denyEnv+"="+denyRoot)
	})
}

func testKilled(t *testing.T, mode box.Mode, env ...string) {
	state, err := filepath.Abs(stateDir + "-killed")
	require.NoError(t, err)
	before := trace(t, state)
	holder := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this test binary
	holder.Env = append(append(os.Environ(), holdEnv+"="+state), env...)
	said := &strings.Builder{}
	holder.Stdout, holder.Stderr = io.MultiWriter(os.Stdout, said), os.Stderr
	require.NoError(t, holder.Start())
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		record, running, err := sandbox.ReadRecord(state)
		if err == nil && running && record.Ready {
			break
		}
		require.True(t, time.Now().Before(deadline), "the sandbox is not ready: %v", err)
	}
	requireTrainsByName(t, connect(t, state))
	requireSeen(t, mode, added(before, trace(t, state)))
	require.NoError(t, holder.Process.Signal(syscall.SIGKILL))
	require.Error(t, holder.Wait())
	require.Contains(t, said.String(), "making namespaces for a real node ("+mode.String()+")")
	// It waits until the box has stopped, which has held the folder's lock too.
	_, err = sandbox.Down(t.Context(), state)
	require.NoError(t, err)
	requireNoTrace(t, before, state)
}

// connect returns clients of a sandbox that another process holds.
func connect(t *testing.T, state string) *live.Plane {
	t.Helper()
	record, _, err := sandbox.ReadRecord(state)
	require.NoError(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", record.Kubeconfig)
	require.NoError(t, err)
	kube, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return &live.Plane{Sandbox: &sandbox.Sandbox{}, Kube: kube}
}

// requireTrainsByName runs a server and a worker that find each other by the names that a headless service gives them, and a
// program that refuses its command line. The server still runs afterwards, though kwok would have stopped it at once.
func requireTrainsByName(t *testing.T, p *live.Plane) {
	t.Helper()
	namespace := p.Namespace(t)
	core := p.Kube.CoreV1()
	_, err := core.Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "job"}, PublishNotReadyAddresses: true},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for name, role := range map[string]string{"server": rules.Server, "worker": rules.Trainer, "refused": rules.Trainer} {
		env := map[string]string{
			"TRAINING_ROLE": role, "POD_IP": name + ".job", "PADDLE_PORT": "36000", "PADDLE_TRAINER_ID": "0", "PADDLE_TRAINERS_NUM": "1",
			"PADDLE_PSERVERS_IP_PORT_LIST": "server.job:36000", "PADDLE_TRAINER_ENDPOINTS": "worker.job:36000",
		}
		if name == "refused" {
			env["TRAINER_STEPS"] = "0"
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "job"}, Annotations: map[string]string{stages.AnnotationRunFor: "1ms"}},
			Spec: corev1.PodSpec{
				NodeName: sandbox.RealNode, RestartPolicy: corev1.RestartPolicyNever, Hostname: name, Subdomain: "job",
				Containers: []corev1.Container{{Name: "paddle", Image: trainerImage}},
			},
		}
		for _, key := range slices.Sorted(maps.Keys(env)) {
			pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: key, Value: env[key]})
		}
		_, err := core.Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for _, want := range []struct {
		name  string
		phase corev1.PodPhase
		says  string
	}{
		{"worker", corev1.PodSucceeded, "trained: loss "}, {"refused", corev1.PodFailed, "must be above 0"}, {"server", corev1.PodRunning, "listens at server.job:36000"},
	} {
		var pod *corev1.Pod
		p.Await(t, fmt.Sprintf("pod %s to be %s", want.name, want.phase), func(ctx context.Context) (err error) {
			pod, err = core.Pods(namespace).Get(ctx, want.name, metav1.GetOptions{})
			if err == nil && pod.Status.Phase != want.phase {
				err = fmt.Errorf("it is %s: %+v", pod.Status.Phase, pod.Status.ContainerStatuses)
			}
			return err
		})
		log, err := core.Pods(namespace).GetLogs(want.name, &corev1.PodLogOptions{}).DoRaw(t.Context())
		require.NoError(t, err)
		require.Contains(t, string(log), want.says)
		if want.phase == corev1.PodFailed {
			require.EqualValues(t, trainer.ExitUsage, pod.Status.ContainerStatuses[0].State.Terminated.ExitCode)
		}
	}
}

// showEnv makes this program show the hardware address of the link that the variable names.
const showEnv = "REAL_TEST_SHOWS"

func show(link string) {
	found, err := net.InterfaceByName(link)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.HardwareAddr)
}

// TestBox runs plain programs in a box, and kills its process 1, so that it cannot clean up.
func TestBox(t *testing.T) {
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	dir := t.TempDir()
	binaries, err := sandbox.Build(t.Context(), bareOptions(dir))
	require.NoError(t, err)
	machine, err := box.Probe()
	require.NoError(t, err)
	mode, err := box.ModeFor(machine)
	require.NoError(t, err)
	settings := box.Settings{Hostname: "inside", Sysctls: map[string]string{"kernel/panic": "77"}, Bridge: node.Bridge, Address: node.Address}
	if mode == box.Root {
		settings.Name = "paddle-sandbox-test"
	}
	before := trace(t, dir)
	b, err := box.Start(binaries["paddle-box"], filepath.Join(dir, "box.log"), mode, settings)
	require.NoError(t, err)
	log := filepath.Join(dir, "log")
	run := func(script string) (*box.Process, error) {
		return b.Run(box.Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ(), Dir: dir, Log: log})
	}
	p, err := run("uname -n; cat /proc/sys/kernel/panic /proc/sys/net/ipv4/ip_forward; ls -A /run/lock /var/log; exit 3")
	require.NoError(t, err)
	<-p.Done
	require.EqualError(t, p.Err, "exit status 3")
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "inside\n77\n1\n/run/lock:\n\n/var/log:\n", string(said))
	_, err = b.Run(box.Command{Path: "/nowhere", Dir: dir, Log: log})
	require.ErrorContains(t, err, "start /nowhere: no such file or directory")

	// Links to containers come and go, and the containers that stay must not lose the bridge.
	shown := filepath.Join(dir, "shown")
	p, err = b.Run(box.Command{Path: os.Args[0], Env: append(os.Environ(), showEnv+"="+node.Bridge), Dir: dir, Log: shown})
	require.NoError(t, err)
	<-p.Done
	require.NoError(t, p.Err)
	said, err = os.ReadFile(shown)
	require.NoError(t, err)
	require.Equal(t, "02:00:0a:f4:4d:01\n", string(said))

	// An orphan is reaped by process 1, and does not outlive it.
	p, err = run("sleep 1000 & sleep 1000")
	require.NoError(t, err)
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "status"))
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(status), "PPid:")
	parent, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(parent, syscall.SIGKILL))
	<-p.Done
	require.EqualError(t, p.Err, "its box has stopped")
	_, err = run("true")
	require.Error(t, err)
	require.NoError(t, b.Stop())
	require.NoError(t, b.Stop(), "twice")
	requireNoTrace(t, before, dir)
}
