// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

func ofWorkers(edit func(*corev1.PodSpec)) change {
	return func(job *v1.PaddleJob) { edit(&job.Spec.Worker.Template.Spec) }
}

func (r *trial) createConfigMap(t *testing.T) {
	t.Helper()
	_, err := cluster.Kube.CoreV1().ConfigMaps(r.namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"SETTING": "1"}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (r *trial) createSecret(t *testing.T) {
	t.Helper()
	_, err := cluster.Kube.CoreV1().Secrets(r.namespace).Create(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}, StringData: map[string]string{"TOKEN": "1"}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// otherImage does what kubectl paddle why says of an image: the job is suspended, edited and resumed.
func (r *trial) otherImage(t *testing.T) {
	t.Helper()
	_, errOut, code := r.paddle(t.Context(), "suspend", "job")
	require.Zero(t, code, errOut)
	r.awaitPhase(t, v1.Suspended) // else the spec is changed while pods run
	r.edit(t, ofWorkers(func(pod *corev1.PodSpec) { pod.Containers[0].Image = trainerImage }))
	_, errOut, code = r.paddle(t.Context(), "resume", "job")
	require.Zero(t, code, errOut)
}

// What the kubelet does not start says why, and trains once the remedy is there.
func TestPodsThatTheKubeletDoesNotStart(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	settings, token := corev1.LocalObjectReference{Name: "settings"}, corev1.LocalObjectReference{Name: "token"}
	volume := func(source corev1.VolumeSource) change {
		return ofWorkers(func(pod *corev1.PodSpec) {
			pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "needed", VolumeSource: source})
			pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "needed", MountPath: "/needed"})
		})
	}
	variables := func(source corev1.EnvFromSource) change {
		return ofWorkers(func(pod *corev1.PodSpec) { pod.Containers[0].EnvFrom = append(pod.Containers[0].EnvFrom, source) })
	}
	for name, tc := range map[string]struct {
		with   change
		reason string
		says   string // of the kubelet, about a pod
		remedy func(*trial, *testing.T)
	}{
		"no such image": {
			with:   ofWorkers(func(pod *corev1.PodSpec) { pod.Containers[0].Image = "registry.invalid/none:1" }),
			reason: "ImagePullFailed", says: "registry.invalid/none:1", remedy: (*trial).otherImage,
		},
		"an image that is no name": {
			with:   ofWorkers(func(pod *corev1.PodSpec) { pod.Containers[0].Image = "Not/A/Name:::" }),
			reason: "ImagePullFailed", says: "Not/A/Name:::", remedy: (*trial).otherImage,
		},
		"variables of a ConfigMap": {
			with:   variables(corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: settings}}),
			reason: "ConfigMapNotFound", says: `configmap "settings" not found`, remedy: (*trial).createConfigMap,
		},
		"variables of a Secret": {
			with:   variables(corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: token}}),
			reason: "SecretNotFound", says: `secret "token" not found`, remedy: (*trial).createSecret,
		},
		"a volume of a ConfigMap": {
			with:   volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: settings}}),
			reason: "ConfigMapNotFound", says: `configmap "settings" not found`, remedy: (*trial).createConfigMap,
		},
		"a volume of a Secret": {
			with:   volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}),
			reason: "SecretNotFound", says: `secret "token" not found`, remedy: (*trial).createSecret,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t, "job")
			job := r.workersOnly(tc.with)
			job.Spec.Worker.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent
			r.create(t, job)
			held := r.awaitJob(t, tc.reason, func(job *v1.PaddleJob) bool {
				c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionRunning)
				return c != nil && c.Status == metav1.ConditionFalse && c.Reason == tc.reason
			})
			require.Equal(t, v1.Starting, held.Status.Phase)
			require.Contains(t, meta.FindStatusCondition(held.Status.Conditions, v1.ConditionRunning).Message, tc.says)
			r.awaitEvent(t, corev1.EventTypeWarning, tc.reason, "of 2 pods cannot start, for example job-worker-", tc.says)
			out, errOut, code := r.paddle(t.Context(), "why", "job", "-o", "json")
			require.Zero(t, code, errOut)
			var got describe.Description
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			require.Equal(t, tc.reason, got.Reason, out)
			require.NotEmpty(t, got.Suggestions, out)
			if kind, missing := strings.CutSuffix(tc.reason, "NotFound"); missing {
				require.Equal(t, kind, got.Missing.Objects[0].Kind, out)
			}
			out, errOut, code = r.paddle(t.Context(), "why", "job")
			require.Zero(t, code, errOut)
			t.Log("\n" + out)
			tc.remedy(r, t)
			r.awaitTrained(t, 2)
		})
	}
}

// denyEnv makes this program run the one that the variable names with fewer permissions, see deny.
const denyEnv = "REAL_TEST_DENIES"

// What can be denied.
const (
	// denyRoot takes a capability away that a container runtime needs, from this program, which then starts again.
	denyRoot = "root"
	// denyAll also forbids user namespaces, in a new user namespace, and runs the program of its arguments.
	denyAll = "all"
)

// deny does it, and never returns.
func deny(what string) {
	runtime.LockOSThread() // permissions are a thread's, and exec keeps them
	program, args := os.Args[0], os.Args
	err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
	if what == denyAll {
		program, args = os.Args[1], os.Args[1:]
		err = errors.Join(err, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
	}
	if err == nil {
		env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, denyEnv+"=") })
		err = syscall.Exec(program, args, env) //nolint:gosec // this very program, or one that it was given
	}
	fmt.Fprintln(os.Stderr, "deny permissions:", err)
	os.Exit(1)
}

// TestRefused asks the real command for a real node where the machine allows none: it must say why, in words, leave all as it
// is, and exit with 3. The machine is this one seen from a user namespace in which there may be no others.
func TestRefused(t *testing.T) {
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "paddle-sandbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/paddle-sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	state := filepath.Join(dir, "state")
	before := trace(t, dir)
	cmd := exec.CommandContext(t.Context(), os.Args[0], program, "up", "--real", "--state", state) //nolint:gosec // this test binary
	cmd.Env = append(os.Environ(), denyEnv+"="+denyAll)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	said, err = cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
		t.Skip("no user namespace can be made: ", err)
	}
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, string(said))
	require.Equal(t, 3, exit.ExitCode(), string(said))
	for _, missing := range []string{
		"this machine does not allow a real node:", "as root: the capability CAP_SYS_ADMIN is missing", "rootless: the sysctl user.max_user_namespaces is 0",
	} {
		require.Contains(t, string(said), missing)
	}
	require.NoDirExists(t, state)
	requireNoTrace(t, before, dir)
	require.NoError(t, sandbox.RealAllowed(), "it was denied to that program alone")
}
