// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/simulation"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/test/fakeapi"
)

// shell is where commands are typed.
type shell struct {
	server   *fakeapi.Server
	simulate plan.Simulator
	stdin    string
}

// run runs a command and returns what is printed, and its exit code.
func (s *shell) run(t *testing.T, args ...string) (out, errOut string, code int) {
	t.Helper()
	var stdout bytes.Buffer
	errOut, code = s.runWith(t, t.Context(), &stdout, args...)
	return stdout.String(), errOut, code
}

// runWith is run with a context and an output.
func (s *shell) runWith(t *testing.T, ctx context.Context, stdout io.Writer, args ...string) (errOut string, code int) { //nolint:revive // t comes first
	t.Helper()
	var stderr bytes.Buffer
	none := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(none, []byte("apiVersion: v1\nkind: Config\n"), 0o600))
	code = RunWith(ctx, s.simulate, append([]string{"--kubeconfig", none, "--server", s.server.URL, "-n", "team"}, args...),
		genericiooptions.IOStreams{In: strings.NewReader(s.stdin), Out: stdout, ErrOut: &stderr})
	return stderr.String(), code
}

func ago(d time.Duration) metav1.Time { return metav1.NewTime(time.Now().Add(-d - d/100)) }

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: ago(20 * time.Minute)}
}

func newJob(name string, workers int32, phase v1.Phase, conditions ...metav1.Condition) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name), CreationTimestamp: ago(time.Hour), Generation: 1}}
	job.Spec.Worker = &v1.ResourceSpec{Replicas: workers}
	job.Spec.Worker.Template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")},
	}}}
	running := int32(0)
	if phase == v1.Running {
		running = workers
	}
	job.Status = v1.PaddleJobStatus{Phase: phase, Mode: v1.ModeCollective, Queue: "default", ObservedGeneration: 1, Conditions: conditions}
	if len(conditions) > 0 {
		summary := conditions[len(conditions)-1]
		summary.Type, summary.Status = v1.ConditionReady, metav1.ConditionFalse
		if running > 0 {
			summary.Status = metav1.ConditionTrue
		}
		job.Status.Conditions = append(job.Status.Conditions, summary)
	}
	job.Status.Worker = &v1.ResourceStatus{Ready: fmt.Sprintf("%d/%d", running, workers)}
	return job
}

// groupOf is the PodGroup of a job with the plugin's report.
func groupOf(job *v1.PaddleJob, phase vcscheduling.PodGroupPhase, status corev1.ConditionStatus, r report.Report) *vcscheduling.PodGroup {
	group := &vcscheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name + "-uid", Labels: map[string]string{v1.JobNameLabel: job.Name}, CreationTimestamp: job.CreationTimestamp,
		Annotations: map[string]string{report.Annotation: r.Encode()},
	}}
	group.Spec.Queue, group.Spec.MinMember = "default", 2
	group.Status = vcscheduling.PodGroupStatus{Phase: phase, Conditions: []vcscheduling.PodGroupCondition{
		{Type: report.Condition, Status: status, Reason: string(r.Reason), Message: r.ConditionMessage()},
	}}
	return group
}

// objects are two racks of two nodes with 8 GPUs each, on which resnet runs, for which huge waits, and where broken has failed.
func objects() (all []runtime.Object) {
	for i := range 4 {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{"rack": fmt.Sprintf("rack-%d", i/2)}}}
		node.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("512Gi"), corev1.ResourcePods: resource.MustParse("110"),
			"nvidia.com/gpu": resource.MustParse("8"),
		}
		node.Status.Allocatable = node.Status.Capacity
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		all = append(all, node)
	}
	resnet := newJob("resnet", 2, v1.Running, condition(v1.ConditionScheduled, "True", "GangPlaced", ""), condition(v1.ConditionRunning, "True", "Training", ""))
	message := "1 of 2 workers has no node: the cluster has 24 GPUs left, 16 needed"
	huge := newJob("huge", 9, v1.Pending, condition(v1.ConditionScheduled, "False", "InsufficientResources", message))
	broken := newJob("broken", 1, v1.Failed, condition(v1.ConditionFailed, "True", "BackoffLimitExceeded", "broken-worker-0 exited with code 1"))
	all = append(all, resnet, huge, broken,
		groupOf(resnet, vcscheduling.PodGroupRunning, "True", report.NewPlaced(map[string]map[string]int{"node-0": {"worker": 1}, "node-2": {"worker": 1}},
			[]report.Tier{report.NewTier("node", []string{"node-0", "node-2"}, 2, 0), report.NewTier("rack", []string{"rack-0", "rack-1"}, 2, 0)}, false)),
		groupOf(huge, vcscheduling.PodGroupPending, "False", report.Report{Reason: report.InsufficientResources, Message: message,
			Missing:     &report.Missing{Roles: []report.Role{{Role: "worker", Minimum: 9, Missing: 3}}, Resources: []report.Resource{{Name: "nvidia.com/gpu", Requested: "36", Available: "24"}}},
			Suggestions: []report.Suggestion{{Kind: report.FewerReplicas, Role: "worker", Value: "6", Text: "it fits with 6 workers"}}}),
	)
	for i, node := range []string{"node-0", "node-2"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprintf("resnet-worker-%d", i), UID: types.UID(node), CreationTimestamp: ago(time.Hour),
			Labels:      map[string]string{v1.JobNameLabel: "resnet", v1.ResourceTypeLabel: "worker", "volcano.sh/task-spec": "worker", v1.TaskIndexLabel: strconv.Itoa(i)},
			Annotations: map[string]string{vcscheduling.KubeGroupNameAnnotationKey: "resnet-uid", "volcano.sh/task-spec": "worker"}}}
		pod.Spec = corev1.PodSpec{NodeName: node, SchedulerName: "volcano", Containers: []corev1.Container{{Name: "paddle", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")}, Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")},
		}}}}
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: fmt.Sprintf("10.0.0.%d", i+1), ContainerStatuses: []corev1.ContainerStatus{
			{Name: "paddle", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}}
		all = append(all, pod)
	}
	warning := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "e"}, Type: "Warning", Reason: "InsufficientResources", Message: message, LastTimestamp: ago(30 * time.Minute)}
	warning.InvolvedObject = corev1.ObjectReference{Kind: "PaddleJob", Name: "huge", UID: "huge"}
	running := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "r"}, Type: "Normal", Reason: "Running", Message: "all pods of the gang run", LastTimestamp: ago(20 * time.Minute)}
	running.InvolvedObject = corev1.ObjectReference{Kind: "PaddleJob", Name: "resnet", UID: "resnet"}
	queue := &vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: vcscheduling.QueueSpec{Weight: 1}}
	queue.Status.State = vcscheduling.QueueStateOpen
	return append(append(all, warning, running, queue), scheduler()...)
}

// scheduler is a Deployment with its ConfigMap, and one of the controller.
func scheduler() []runtime.Object {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: "volcano-scheduler"}}
	volume := corev1.Volume{Name: "c"}
	volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "any"}}
	d.Spec.Template.Spec = corev1.PodSpec{Volumes: []corev1.Volume{volume}, Containers: []corev1.Container{{
		Image: "example.com/paddle-scheduler:v0.1.0", Args: []string{"--scheduler-conf=/c/volcano-scheduler.conf"}, VolumeMounts: []corev1.VolumeMount{{Name: "c", MountPath: "/c"}},
	}}}
	controller := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "paddle-system", Name: "paddle-controller-manager", Labels: map[string]string{
		"app.kubernetes.io/name": "paddle-volcano", "app.kubernetes.io/component": "controller"}}}
	controller.Spec.Template.Spec.Containers = []corev1.Container{{Image: "example.com/paddlejob-controller:v0.1.0"}}
	return []runtime.Object{d, controller, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: "any"}, Data: map[string]string{
		"volcano-scheduler.conf": "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: gang\n  - name: paddle\n    arguments: {topology-labels: rack}\n" +
			"- plugins:\n  - name: predicates\n  - name: proportion\n  - name: nodeorder\n",
	}}}
}

const ring = `apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: ring}
spec:
  worker:
    replicas: %d
    template: {spec: {containers: [{name: paddle, image: paddle, resources: {limits: {nvidia.com/gpu: %d}}}]}}
`

func newShell(t *testing.T) *shell {
	t.Helper()
	t.Setenv("LC_ALL", "C") // it decides the language
	return &shell{server: fakeapi.New(t, cluster.Scheme, objects()...), simulate: simulation.Simulate}
}

// changing are the parts of the output that differ from run to run.
var changing = regexp.MustCompile(`(Seen at|"?(at|taken)"?:) ?"?[0-9T:Z -]+"?( UTC)?`)

// The transcript of all commands, which testdata/transcript.txt has. UPDATE=1 writes it.
func TestTranscript(t *testing.T) {
	withKubectl(t)
	s := newShell(t)
	var transcript strings.Builder
	for _, command := range []string{
		"get", "get -o wide", "get -A --sort-by .spec.worker.replicas --no-headers", "list resnet huge", "get huge -o name", "get gone", "get -w", "describe resnet", "describe huge",
		"why resnet", "why huge", "why huge --details", "why huge -o json", "why broken", "map", "map resnet --width 40", "logs resnet --rank 1", "logs huge",
		"submit -f - --dry-run", "submit -f -", "plan -f -", "plan huge", "plan resnet", "suspend resnet", "suspend resnet",
		"resume resnet", "version", "version -o yaml", "snapshot -o -", "nonsense", "get -o xml",
	} {
		s.stdin = fmt.Sprintf(ring, 4, 2)
		out, errOut, code := s.run(t, strings.Fields(command)...)
		if command == "snapshot -o -" {
			out, _, _ = strings.Cut(out, "nodes:")
			out += "...\n"
		}
		fmt.Fprintf(&transcript, "$ kubectl paddle %s\n%s%s", command, out, errOut)
		if code != 0 {
			fmt.Fprintf(&transcript, "(exit code %d)\n", code)
		}
		transcript.WriteString("\n")
	}
	got := changing.ReplaceAllString(transcript.String(), "$1 NOW")
	got = strings.NewReplacer(plan.Version(), "VERSION").Replace(got)
	const golden = "testdata/transcript.txt"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// A user who may only read PaddleJobs gets the controller's messages, and one line for each read that was skipped.
func TestWithFewPermissions(t *testing.T) {
	s := newShell(t)
	s.server.Forbidden = []string{
		"pods", "nodes", "events", "services", "configmaps", "secrets", "resourcequotas", "deployments", "priorityclasses", "queues", "podgroups", "jobs", "hypernodes",
	}
	out, errOut, code := s.run(t, "get")
	require.Zero(t, code)
	require.Empty(t, errOut)
	require.Contains(t, out, "0/9      InsufficientResources")
	out, errOut, code = s.run(t, "get", "-o", "wide")
	require.Zero(t, code)
	require.Contains(t, out, "1 of 2 workers has no node: the cluster has 24 GPUs left, 16 needed")
	require.Equal(t, `Skipped: PodGroups (you have no permission to read them).
Skipped: PriorityClasses, so that queue positions depend on age alone (you have no permission to read them).
`, errOut)
	for _, command := range []string{"describe", "why"} {
		_, errOut, code = s.run(t, command, "huge")
		require.Zero(t, code)
		require.Equal(t, `Skipped: Volcano Jobs (you have no permission to read them).
Skipped: PodGroups (you have no permission to read them).
Skipped: pods (you have no permission to read them).
Skipped: queues (you have no permission to read them).
Skipped: events (you have no permission to read them).
`, errOut)
	}
	out, errOut, code = s.run(t, "version")
	require.Zero(t, code)
	require.Contains(t, out, "Client Version: ")
	require.Equal(t, "Skipped: controller and scheduler (you have no permission to read the Deployments of all namespaces).\n", errOut)
	_, errOut, code = s.run(t, "map")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "nodes")
	out, _, _ = s.run(t, "version", "--client", "-o", "json")
	require.NotContains(t, out, "components")
	s.server.Forbidden = []string{"hypernodes"}
	out, errOut, _ = s.run(t, "describe", "resnet")
	require.NotContains(t, out, "On an empty cluster:")
	require.Equal(t, "Skipped: what a step would send on an empty cluster: HyperNodes (you have no permission to read them).\n", errOut)
}

// A cluster may run one of the two elsewhere, or not at all.
func TestVersion_WithoutDeployments(t *testing.T) {
	s := newShell(t)
	s.server = fakeapi.New(t, cluster.Scheme, scheduler()[0])
	out, errOut, code := s.run(t, "version")
	require.Zero(t, code)
	require.Contains(t, out, "Scheduler Version: v0.1.0")
	require.Equal(t, "No Deployment of a controller was found.\n", errOut)
	s.server = fakeapi.New(t, cluster.Scheme)
	_, errOut, code = s.run(t, "version")
	require.Zero(t, code)
	require.Equal(t, "No Deployment of a controller was found.\nNo Deployment of a scheduler was found.\n", errOut)
}

// A plan of a job that the API server would refuse is none. Without permission to create jobs it is one.
func TestPlanOfARefusedJob(t *testing.T) {
	s := newShell(t)
	s.stdin = fmt.Sprintf(ring, 4, 2)
	s.server.Invalid = "spec.elastic: Invalid value"
	_, errOut, code := s.run(t, "plan", "-f", "-")
	require.Equal(t, 4, code)
	require.Contains(t, errOut, "job ring would be refused: spec.elastic: Invalid value")
	s.server.Invalid, s.server.ReadOnly = "", true
	out, errOut, _ := s.run(t, "plan", "-f", "-")
	require.Contains(t, out, "ring", errOut)
}

// Without the program that has the scheduler in it, everything else works.
func TestWithoutTheSimulator(t *testing.T) {
	s := newShell(t)
	s.simulate = func(context.Context, *plan.Request) (*plan.Response, error) {
		return nil, errors.New("paddle-simulator is not there")
	}
	for _, command := range []string{"describe", "why"} {
		out, errOut, code := s.run(t, command, "resnet")
		require.Zero(t, code)
		require.Contains(t, strings.ToLower(out), "2 times the model between racks")
		require.Equal(t, "Skipped: what a step would send on an empty cluster: paddle-simulator is not there.\n", errOut)
	}
	_, errOut, code := s.run(t, "plan", "huge")
	require.Equal(t, 1, code)
	require.Equal(t, "error: paddle-simulator is not there\n", errOut)
}

// The schedulers that this project ships are found by what they have mounted.
func TestTheShippedConfigurationIsFound(t *testing.T) {
	text, err := deploy.Files.ReadFile("v1/scheduler.yaml")
	require.NoError(t, err)
	require.Contains(t, string(text), "--scheduler-conf=/volcano.scheduler/volcano-scheduler.conf")
}

// A pod that a running job has in addition waits for a volume: only the kubelet's event says so.
func TestWhyOfAMountWhileTheJobRuns(t *testing.T) {
	s := newShell(t)
	yes := true
	made := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "resnet", OwnerReferences: []metav1.OwnerReference{{Name: "resnet", UID: "resnet", Controller: &yes}}}}
	made.Spec.Tasks = []vcbatch.TaskSpec{{Name: "worker"}}
	volume := corev1.Volume{Name: "v"}
	volume.Secret = &corev1.SecretVolumeSource{SecretName: "token"}
	made.Spec.Tasks[0].Template.Spec.Volumes = []corev1.Volume{volume}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "resnet-worker-2", UID: "new", Labels: map[string]string{
		v1.JobNameLabel: "resnet", v1.ResourceTypeLabel: "worker", "volcano.sh/task-spec": "worker", v1.TaskIndexLabel: "2"}}}
	pod.Spec.NodeName, pod.Status.Phase = "node-3", corev1.PodPending
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "m"}, Type: "Warning", Reason: "FailedMount", LastTimestamp: ago(time.Minute),
		Message: `MountVolume.SetUp failed for volume "v" : secret "token" not found`, InvolvedObject: corev1.ObjectReference{Kind: "Pod", UID: "new"}}
	s.server = fakeapi.New(t, cluster.Scheme, append(objects(), made, pod, event)...)
	out, errOut, code := s.run(t, "why", "resnet")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "1 pod cannot start (SecretNotFound): resnet-worker-2; Secret token does not exist in namespace team.")
}

// The PodGroup that the user made under the job's name belongs to what the controller's rules are about.
func TestSubmitReadsTheUsersPodGroup(t *testing.T) {
	s := newShell(t)
	group := &vcscheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ring"}, Spec: vcscheduling.PodGroupSpec{Queue: "root"}}
	s.server = fakeapi.New(t, cluster.Scheme, append(objects(), group)...)
	s.stdin = fmt.Sprintf(ring, 4, 2)
	for _, command := range [][]string{{"submit", "-f", "-"}, {"plan", "-f", "-"}} {
		_, errOut, code := s.run(t, command...)
		require.Equal(t, 4, code, errOut)
		require.Contains(t, errOut, "root")
	}
	s.server.Forbidden = []string{"podgroups"}
	_, errOut, code := s.run(t, "submit", "-f", "-")
	require.Zero(t, code, errOut)
}

// People read Chinese in a Chinese locale. Programs read the same in all of them.
func TestWhyInChinese(t *testing.T) {
	s := newShell(t)
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	out, errOut, code := s.run(t, "why", "huge")
	require.Zero(t, code, errOut)
	require.Regexp(t, `^huge 已等待 .*：它的 Pod 还没有节点。\n`, out)
	require.Contains(t, out, "怎么办：\n")
	data, _, _ := s.run(t, "why", "huge", "-o", "json")
	require.NotRegexp(t, `\p{Han}`, data)
}
