// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// example is one published job and how it should run.
type example struct {
	files []string
	job   string
	mode  paddlev1.Mode
	// servers is 0 for a job without.
	servers, workers int
	// kept says that the workers' pods stay after the end.
	kept bool
	// grows says that the job runs before all of its pods do.
	grows bool
	// alone says that it runs before the others, which would use nodes that it needs whole.
	alone bool
	// nodeLabels are on every node that a pod runs on.
	nodeLabels map[string]string
	// mounts has the path of each claim, and of memory.
	mounts map[string]string
	// running looks at what is particular while the job runs.
	running func(t *testing.T, namespace string, job *paddlev1.PaddleJob)
}

var gpus = map[string]string{"nvidia.com/gpu.present": "true"}

var examples = []example{
	{files: []string{"wide_and_deep.yaml"}, job: "wide-ande-deep", mode: paddlev1.ModePS, servers: 2, workers: 2, kept: true},
	{files: []string{"wide_and_deep_podip.yaml"}, job: "wide-ande-deep-podip", mode: paddlev1.ModePS, servers: 2, workers: 2, kept: true},
	{files: []string{"wide_and_deep_service.yaml"}, job: "wide-ande-deep-service", mode: paddlev1.ModePS, servers: 2, workers: 2, kept: true},
	{files: []string{"wide_and_deep_volcano.yaml"}, job: "wide-ande-deep-volcano", mode: paddlev1.ModePS, servers: 2, workers: 2, kept: true},
	{
		files: []string{"wide_and_deep_podgroup.yaml"}, job: "wide-ande-deep", mode: paddlev1.ModePS, servers: 2, workers: 2, kept: true,
		running: podGroupIsHonoured,
	},
	{
		files: []string{"gpu_node_selector.yaml"}, job: "wide-ande-deep", mode: paddlev1.ModePS, servers: 2, workers: 2,
		nodeLabels: map[string]string{"accelerator": "nvidia-tesla-p100"},
	},
	{
		files: []string{"pv-pvc.yaml", "wide_and_deep_pvc.yaml"}, job: "paddlejob-demo-1", mode: paddlev1.ModePS, servers: 2, workers: 2,
		mounts: map[string]string{"nfs-pvc": "/nas"},
	},
	{files: []string{"deepfm.yaml"}, job: "deepfm", mode: paddlev1.ModePS, servers: 2, workers: 2, kept: true, running: misspeltPolicyIsReported},
	{
		files: []string{"resnet.yaml"}, job: "resnet", mode: paddlev1.ModeCollective, workers: 2, kept: true,
		nodeLabels: gpus, mounts: map[string]string{memory: "/dev/shm"},
	},
	{files: []string{"simple.yaml"}, job: "simple", mode: paddlev1.ModeCollective, workers: 2, kept: true},
	{
		files: []string{"collective.yaml"}, job: "collective", mode: paddlev1.ModeCollective, workers: 2, kept: true,
		nodeLabels: gpus, mounts: map[string]string{memory: "/dev/shm"},
	},
	{files: []string{"fleet_ps.yaml"}, job: "fleet-ps", mode: paddlev1.ModePS, servers: 2, workers: 2, kept: true},
	{
		files: []string{"hybrid_parallel.yaml"}, job: "hybrid-parallel", mode: paddlev1.ModeCollective, workers: 4, kept: true, alone: true,
		nodeLabels: gpus, running: groupsAreTogether,
	},
	{
		files: []string{"paddleformers_sft.yaml"}, job: "paddleformers-sft", mode: paddlev1.ModeCollective, workers: 2, kept: true, nodeLabels: gpus,
		mounts: map[string]string{"sft-data": "/data", "sft-checkpoints": "/checkpoints", memory: "/dev/shm"},
	},
	{
		files: []string{"ernie_pretrain.yaml"}, job: "ernie-pretrain", mode: paddlev1.ModeCollective, workers: 2, kept: true, alone: true, nodeLabels: gpus,
		mounts: map[string]string{"pretrain-data": "/data", "pretrain-checkpoints": "/checkpoints", memory: "/dev/shm"},
	},
	{files: []string{"elastic.yaml"}, job: "elastic", mode: paddlev1.ModeCollective, workers: 4, kept: true, grows: true},
	{files: []string{"nfs_model_output.yaml"}, job: "nfs-model-output", mode: paddlev1.ModeCollective, workers: 2, mounts: map[string]string{"training-data": "/data", "models": "/models"}},
}

// aloneRuns is how long the workers of an example that is alone run.
const aloneRuns = "8s"

const rawExample = "ctr-volcano.yaml"

// kubeflowExample is for a controller with --kubeflow; test/cluster runs it.
const kubeflowExample = "kubeflow.yaml"

func (e *example) paths() []string {
	var paths []string
	for _, file := range e.files {
		paths = append(paths, "examples/"+file)
	}
	return paths
}

func TestEveryExampleIsRun(t *testing.T) {
	run := []string{rawExample, kubeflowExample}
	for i := range examples {
		run = append(run, examples[i].files...)
	}
	entries, err := fs.ReadDir(deploy.Files, "examples")
	require.NoError(t, err)
	var shipped []string
	for _, entry := range entries {
		shipped = append(shipped, entry.Name())
	}
	require.ElementsMatch(t, shipped, run)
}

// Paddle's own images hold no program: a job that runs one there mounts the folder in which it is, and brings the file itself unless
// it is in a claim.
func TestExamplesBringTheProgramsThatTheyRun(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(deploy.Files, "examples")
	require.NoError(t, err)
	found := 0
	for _, entry := range entries {
		programs := map[string]map[string]string{} // of ConfigMaps, by their names
		for _, object := range read(t, "examples/"+entry.Name()) {
			switch object.GetKind() {
			case "ConfigMap":
				data, _, err := unstructured.NestedStringMap(object.Object, "data")
				require.NoError(t, err)
				programs[object.GetName()] = data
			case "PaddleJob":
				if object.GetAPIVersion() != paddlev1.SchemeGroupVersion.String() {
					continue
				}
				job := &paddlev1.PaddleJob{}
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, job))
				for _, role := range []*paddlev1.ResourceSpec{job.Spec.PS, job.Spec.Worker, job.Spec.Heter} {
					if role != nil && requireProgram(t, entry.Name(), &role.Template.Spec, programs) {
						found++
					}
				}
			}
		}
	}
	require.Equal(t, 6, found)
}

// requireProgram checks that a pod of one of Paddle's own images has the program that it runs, and reports whether it runs one.
func requireProgram(t *testing.T, file string, pod *corev1.PodSpec, programs map[string]map[string]string) bool {
	t.Helper()
	c := &pod.Containers[0]
	at := slices.IndexFunc(c.Command, func(word string) bool { return strings.HasSuffix(word, ".py") })
	if at < 0 || !strings.Contains(c.Image, "/paddlepaddle/paddle:") {
		return false
	}
	mount := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == c.WorkingDir })
	require.GreaterOrEqual(t, mount, 0, "%s: nothing is mounted at %s, where %s runs", file, c.WorkingDir, c.Command[at])
	volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == c.VolumeMounts[mount].Name })
	require.GreaterOrEqual(t, volume, 0, file)
	if source := pod.Volumes[volume].ConfigMap; source != nil {
		require.Contains(t, programs[source.Name], c.Command[at], file)
		return true
	}
	require.NotNil(t, pod.Volumes[volume].PersistentVolumeClaim, file)
	return true
}

//nolint:tparallel // the second subtest reads what the first one caused
func TestExamples(t *testing.T) {
	t.Parallel()
	t.Run("all", func(t *testing.T) {
		for i := range examples {
			e := &examples[i]
			t.Run(e.files[len(e.files)-1], func(t *testing.T) {
				if !e.alone {
					t.Parallel()
				}
				e.run(t)
			})
		}
		t.Run(rawExample, func(t *testing.T) {
			t.Parallel()
			runRawExample(t)
		})
	})
	t.Run("no component was refused anything", func(t *testing.T) {
		components := sandbox.ComponentStatuses(shared.StateDir())
		require.Greater(t, len(components), 7)
		for _, component := range components {
			log, err := os.ReadFile(component.Log)
			require.NoError(t, err)
			require.Empty(t, regexp.MustCompile(`(?i).*\bforbidden\b.*`).FindAllString(string(log), 5), component.Name)
		}
	})
}

func (e *example) run(t *testing.T) {
	namespace := shared.Namespace(t)
	objects, err := manifests.Read(deploy.Files, e.paths()...)
	require.NoError(t, err)
	if e.alone { // the others wait for its end
		require.NoError(t, unstructured.SetNestedField(objects[len(objects)-1].Object, aloneRuns, "spec", "worker", "template", "metadata", "annotations", stages.AnnotationRunFor))
	}
	_, err = shared.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects...)
	require.NoError(t, err)

	running := e.awaitPhase(t, namespace, paddlev1.Running)
	require.Equal(t, e.mode, running.Status.Mode)
	if !e.grows {
		e.requireReady(t, running, e.servers, e.workers)
	}
	e.requireNodes(t, namespace)
	e.requireMounts(t, namespace)
	if e.running != nil {
		e.running(t, namespace, running)
	}

	done := e.awaitPhase(t, namespace, paddlev1.Completed)
	e.requireReady(t, done, 0, 0)
	require.EqualValues(t, e.workers, done.Status.Worker.Succeeded)
	require.NotNil(t, done.Status.CompletionTime)
	shared.Await(t, "the servers to be stopped", func(ctx context.Context) error { return e.podsLeft(ctx, namespace) })
	e.requireRow(t, namespace)
}

// requireRow compares what kubectl get pdj shows, which the API server renders, with a finished job.
func (e *example) requireRow(t *testing.T, namespace string) {
	t.Helper()
	data, err := shared.Paddle.BatchV1().RESTClient().Get().Namespace(namespace).Resource("paddlejobs").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	require.NoError(t, err)
	table := &metav1.Table{}
	require.NoError(t, json.Unmarshal(data, table))
	var columns []string
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, fmt.Sprint(c.Name, " ", c.Priority))
	}
	require.Equal(t, []string{"Name 0", "STATUS 0", "MODE 0", "PS 0", "WORKER 0", "REASON 0", "QUEUE 1", "AGE 0"}, columns)
	require.Len(t, table.Rows, 1)
	cells := table.Rows[0].Cells
	var servers any
	if e.servers > 0 {
		servers = fmt.Sprint("0/", e.servers)
	}
	require.Equal(t, []any{e.job, "Completed", string(e.mode), servers, fmt.Sprint("0/", e.workers), "WorkersSucceeded", "default"}, cells[:len(cells)-1])
	require.Regexp(t, `^\d+[smh]`, cells[len(cells)-1])
}

// awaitPhase waits for a phase and fails at once when the job ends otherwise.
func (e *example) awaitPhase(t *testing.T, namespace string, phase paddlev1.Phase) *paddlev1.PaddleJob {
	t.Helper()
	return shared.AwaitJob(t, namespace, e.job, string(phase), func(job *paddlev1.PaddleJob) bool {
		require.NotEqual(t, paddlev1.Failed, job.Status.Phase, "%+v", job.Status.Conditions)
		return job.Status.Phase == phase
	})
}

func (e *example) requireReady(t *testing.T, job *paddlev1.PaddleJob, servers, workers int) {
	t.Helper()
	require.Equal(t, fmt.Sprintf("%d/%d", workers, e.workers), job.Status.Worker.Ready)
	if e.servers == 0 {
		require.Nil(t, job.Status.PS)
		return
	}
	require.Equal(t, fmt.Sprintf("%d/%d", servers, e.servers), job.Status.PS.Ready)
}

// requireNodes waits for all pods to have a node: a job with a minimum is Running before its last pods are bound.
func (e *example) requireNodes(t *testing.T, namespace string) {
	t.Helper()
	var pods *corev1.PodList
	shared.Await(t, "all pods of "+e.job+" to have a node", func(ctx context.Context) error {
		var err error
		if pods, err = shared.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
		bound := 0
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName != "" {
				bound++
			}
		}
		if want := e.servers + e.workers; bound != want || len(pods.Items) != want {
			return fmt.Errorf("%d of %d pods have a node, and %d are expected", bound, len(pods.Items), want)
		}
		return nil
	})
	for i := range pods.Items {
		node, err := shared.Kube.CoreV1().Nodes().Get(t.Context(), pods.Items[i].Spec.NodeName, metav1.GetOptions{})
		require.NoError(t, err)
		for key, value := range e.nodeLabels {
			require.Equal(t, value, node.Labels[key], "label %s of %s, where %s runs", key, node.Name, pods.Items[i].Name)
		}
	}
}

// podsLeft checks what is left of an ended job: no server, and the workers only where they are kept.
func (e *example) podsLeft(ctx context.Context, namespace string) error {
	servers, err := shared.pods(ctx, namespace, "ps")
	if err != nil {
		return err
	}
	if len(servers) > 0 {
		return fmt.Errorf("server %s is still there", servers[0].Name)
	}
	workers, err := shared.pods(ctx, namespace, "worker")
	if err != nil {
		return err
	}
	if e.kept {
		return inPhase(workers, corev1.PodSucceeded, e.workers)
	}
	if len(workers) > 0 {
		return fmt.Errorf("worker %s is still there", workers[0].Name)
	}
	return nil
}

func runRawExample(t *testing.T) {
	namespace := shared.Namespace(t)
	objects, err := manifests.Read(deploy.Files, "examples/"+rawExample)
	require.NoError(t, err)
	_, err = shared.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects...)
	require.NoError(t, err)
	shared.Await(t, "all four pods to run", func(ctx context.Context) error {
		pods, err := shared.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return inPhase(pods.Items, corev1.PodRunning, 4)
	})
	shared.Await(t, "the Volcano Job to be completed", func(ctx context.Context) error {
		job, err := shared.Volcano.BatchV1alpha1().Jobs(namespace).Get(ctx, "ctr-volcano", metav1.GetOptions{})
		if err != nil {
			return err
		}
		require.NotContains(t, []batchv1alpha1.JobPhase{batchv1alpha1.Failed, batchv1alpha1.Aborted, batchv1alpha1.Terminated}, job.Status.State.Phase)
		if job.Status.State.Phase != batchv1alpha1.Completed {
			return fmt.Errorf("it is %q", job.Status.State.Phase)
		}
		return nil
	})
	shared.Await(t, "the servers to be stopped and the trainers kept", func(ctx context.Context) error {
		servers, err := shared.pods(ctx, namespace, "pserver")
		if err != nil {
			return err
		}
		if len(servers) > 0 {
			return fmt.Errorf("server %s is still there", servers[0].Name)
		}
		trainers, err := shared.pods(ctx, namespace, "trainer")
		if err != nil {
			return err
		}
		return inPhase(trainers, corev1.PodSucceeded, 2)
	})
	jobs, err := shared.Paddle.BatchV1().PaddleJobs(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, jobs.Items, "a raw Volcano Job has no PaddleJob")
}

// podGroupIsHonoured checks that the user's PodGroup is left as it was made, that the pods have another one of the
// same size, and that an event says so.
func podGroupIsHonoured(t *testing.T, namespace string, job *paddlev1.PaddleJob) {
	groups, err := shared.Volcano.SchedulingV1beta1().PodGroups(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, groups.Items, 2)
	for i := range groups.Items {
		group := &groups.Items[i]
		require.EqualValues(t, 4, group.Spec.MinMember, group.Name)
		users := group.Name == job.Name
		require.Equal(t, users, len(group.OwnerReferences) == 0, group.Name)
	}
	awaitEvent(t, namespace, corev1.EventTypeNormal, "PodGroup")
}

// misspeltPolicyIsReported checks the event and the condition about cleanPodPolicy.
func misspeltPolicyIsReported(t *testing.T, namespace string, job *paddlev1.PaddleJob) {
	require.Equal(t, paddlev1.CleanPodPolicy("OnFailed"), job.Spec.CleanPodPolicy, "the object is the user's")
	require.True(t, slices.ContainsFunc(job.Status.Conditions, func(c metav1.Condition) bool {
		return strings.Contains(c.Message, `"OnFailed"`) && strings.Contains(c.Message, "treated as Never")
	}), "no condition reports the misspelt cleanPodPolicy: %+v", job.Status.Conditions)
	awaitEvent(t, namespace, corev1.EventTypeWarning, `"OnFailed"`)
}

// memory is a volume that keeps the data loader from running out of /dev/shm.
const memory = "memory"

// requireMounts checks that the claims are bound, and that every pod mounts what it is to mount.
func (e *example) requireMounts(t *testing.T, namespace string) {
	for name, path := range e.mounts {
		if name != memory {
			claim, err := shared.Kube.CoreV1().PersistentVolumeClaims(namespace).Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, corev1.ClaimBound, claim.Status.Phase)
		}
		for _, pod := range podsOf(t, namespace, e.servers+e.workers) {
			volume := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == name ||
					name == memory && v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory
			})
			require.GreaterOrEqual(t, volume, 0, "%s has no volume %s", pod.Name, name)
			require.True(t, slices.ContainsFunc(pod.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
				return m.Name == pod.Spec.Volumes[volume].Name && m.MountPath == path
			}), "%s does not mount %s at %s", pod.Name, name, path)
		}
	}
}

// groupsAreTogether checks that pods whose ranks are data parallel, and exchange more than those in one pipeline, are in one node.
func groupsAreTogether(t *testing.T, namespace string, _ *paddlev1.PaddleJob) {
	nodes := map[string]string{}
	for _, pod := range podsOf(t, namespace, 4) {
		nodes[pod.Name] = pod.Spec.NodeName
	}
	require.Equal(t, nodes["hybrid-parallel-worker-0"], nodes["hybrid-parallel-worker-2"])
	require.Equal(t, nodes["hybrid-parallel-worker-1"], nodes["hybrid-parallel-worker-3"])
}

func podsOf(t *testing.T, namespace string, want int) []corev1.Pod {
	t.Helper()
	list, err := shared.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, want)
	return list.Items
}

// awaitEvent waits for an event about the namespace's PaddleJob. Events are written a moment later than the status.
func awaitEvent(t *testing.T, namespace, kind, text string) {
	t.Helper()
	shared.Await(t, "an event that says "+text, func(ctx context.Context) error {
		events, err := shared.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=PaddleJob"})
		if err != nil {
			return err
		}
		var seen []string
		for i := range events.Items {
			e := &events.Items[i]
			if e.Type == kind && strings.Contains(e.Message, text) {
				return nil
			}
			seen = append(seen, e.Type+" "+e.Reason+": "+e.Message)
		}
		return errors.New("there are: " + strings.Join(seen, "; "))
	})
}
