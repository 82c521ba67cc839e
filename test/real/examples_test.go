// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// example is one published job. All have two workers.
type example struct {
	files []string
	job   string
	mode  v1.Mode
	// says is what a worker must say.
	says string
	// claims says that the model is where the program runs, in the volume of a claim.
	claims bool
}

const (
	rawExample = "ctr-volcano.yaml"
	listens    = "of 2 listens at"
	reduces    = "of 2 in collective training"
)

var examples = []example{
	{files: []string{"wide_and_deep.yaml"}, job: "wide-ande-deep", mode: v1.ModePS, says: "gloo: 2 trainers have met"},
	{files: []string{"wide_and_deep_podip.yaml"}, job: "wide-ande-deep-podip", mode: v1.ModePS},
	{files: []string{"wide_and_deep_service.yaml"}, job: "wide-ande-deep-service", mode: v1.ModePS, says: "servers [wide-ande-deep-service-ps-0.wide-ande-deep-service:"},
	{files: []string{"wide_and_deep_volcano.yaml"}, job: "wide-ande-deep-volcano", mode: v1.ModePS, says: "gloo: 2 trainers have met"},
	{files: []string{"wide_and_deep_podgroup.yaml"}, job: "wide-ande-deep", mode: v1.ModePS, says: "gloo: 2 trainers have met"},
	{files: []string{"gpu_node_selector.yaml"}, job: "wide-ande-deep", mode: v1.ModePS},
	{files: []string{"pv-pvc.yaml", "wide_and_deep_pvc.yaml"}, job: "paddlejob-demo-1", mode: v1.ModePS, claims: true},
	{files: []string{"deepfm.yaml"}, job: "deepfm", mode: v1.ModePS, says: "gloo: 2 trainers have met"},
	{files: []string{"resnet.yaml"}, job: "resnet", mode: v1.ModeCollective, says: reduces},
	{files: []string{"simple.yaml"}, job: "simple", mode: v1.ModeCollective, says: "launcher: node 1 of 2"},
	{files: []string{"kubeflow.yaml"}, job: "wide-and-deep-kubeflow", mode: v1.ModePS},
}

// simulated are the examples that ask for more than one node has, or for a program that they leave to the user; TestModes
// and the tests of elastic jobs train what is like them, and test/manifests runs them without a program.
var simulated = []string{"collective.yaml", "fleet_ps.yaml", "hybrid_parallel.yaml", "elastic.yaml", "nfs_model_output.yaml"}

func TestEveryExampleIsTrained(t *testing.T) {
	trained := append([]string{rawExample}, simulated...)
	for i := range examples {
		trained = append(trained, examples[i].files...)
	}
	entries, err := fs.ReadDir(deploy.Files, "examples")
	require.NoError(t, err)
	var shipped []string
	for _, entry := range entries {
		shipped = append(shipped, entry.Name())
	}
	require.ElementsMatch(t, shipped, trained)
}

func TestExamples(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	for i := range examples {
		e := &examples[i]
		t.Run(e.files[len(e.files)-1], func(t *testing.T) {
			t.Parallel()
			e.run(t)
		})
	}
	t.Run(rawExample, func(t *testing.T) {
		t.Parallel()
		runRawExample(t)
	})
}

func (e *example) run(t *testing.T) {
	r := newTrial(t, e.job)
	env := map[string]string{"TRAINER_EXPECT_WORLD": "2"}
	if e.claims {
		env["MODEL_DIR"] = ""
	}
	r.submit(t, env, e.files...)
	running := r.awaitJob(t, "running", func(job *v1.PaddleJob) bool {
		return slices.Contains([]v1.Phase{v1.Running, v1.Completed}, job.Status.Phase)
	})
	require.Equal(t, e.mode, running.Status.Mode)
	if e.claims {
		r.awaitPhase(t, v1.Completed)
		// Where the test looks for it.
		require.NoError(t, os.Rename(filepath.Join(r.nas(), "wide_and_deep", "models", train.ModelFile), filepath.Join(r.models(), train.ModelFile)))
	}
	done := r.awaitTrained(t, 2)
	require.Zero(t, done.Status.Restarts)
	require.Zero(t, done.Status.Recreations)
	require.NotEmpty(t, r.lines("worker", e.says), "no worker says %q", e.says)
	if e.mode == v1.ModePS {
		require.Len(t, r.lines("ps", listens), 2, "servers that listen")
	}
}

// nas is the folder in the place of the example's NFS server, with the folder that holds its program.
func (r *trial) nas() string { return filepath.Join(r.folder, "nas") }

// submit makes the objects of examples, fitted to the real node.
func (r *trial) submit(t *testing.T, env map[string]string, files ...string) {
	t.Helper()
	paths := make([]string, 0, len(files))
	for _, file := range files {
		paths = append(paths, "examples/"+file)
	}
	list, err := manifests.Read(deploy.Files, paths...)
	require.NoError(t, err)
	r.begun = time.Now()
	for _, object := range list {
		switch object.GetKind() {
		case "PersistentVolume":
			r.replaceNFS(t, object)
		case "Job", "PaddleJob":
			r.fitObject(t, object, env)
		}
		_, err = objects.Create(t.Context(), r.namespace, metav1.CreateOptions{}, object)
		require.NoError(t, err)
	}
}

// replaceNFS puts a folder of the machine in the place of a server that is not there.
func (r *trial) replaceNFS(t *testing.T, volume *unstructured.Unstructured) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(r.nas(), "wide_and_deep"), 0o755)) //nolint:gosec // containers may run as anybody
	unstructured.RemoveNestedField(volume.Object, "spec", "nfs")
	unstructured.RemoveNestedField(volume.Object, "spec", "mountOptions")
	// Nobody needs it emptied.
	require.NoError(t, unstructured.SetNestedField(volume.Object, "Retain", "spec", "persistentVolumeReclaimPolicy"))
	require.NoError(t, unstructured.SetNestedMap(volume.Object, map[string]any{"path": r.nas()}, "spec", "hostPath"))
}

// runRawExample runs the Volcano Job of 2019, which nobody but Volcano looks after. Its script lists the job's pods with the
// namespace's default service account, to whom that must be allowed.
func runRawExample(t *testing.T) {
	r := newTrial(t, "ctr-volcano")
	rights := cluster.Kube.RbacV1()
	_, err := rights.Roles(r.namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "lists-pods"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = rights.RoleBindings(r.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "lists-pods"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "lists-pods"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: r.namespace}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	r.submit(t, map[string]string{"TRAINER_EXPECT_WORLD": "2"}, rawExample)
	cluster.Await(t, "the Volcano Job to be completed", func(ctx context.Context) error {
		job, err := cluster.Volcano.BatchV1alpha1().Jobs(r.namespace).Get(ctx, r.job, metav1.GetOptions{})
		if err == nil && job.Status.State.Phase != batchv1alpha1.Completed {
			require.NotContains(t, []batchv1alpha1.JobPhase{batchv1alpha1.Failed, batchv1alpha1.Aborted, batchv1alpha1.Terminated}, job.Status.State.Phase)
			err = fmt.Errorf("it is %q", job.Status.State.Phase)
		}
		return err
	})
	ended := time.Now()
	r.requireTrained(t, "trainer", 2)
	r.report(t, ended)
	require.Len(t, r.lines("pserver", listens), 2)
	for _, role := range []string{"trainer", "pserver"} {
		require.NotEmpty(t, r.lines(role, "+ PADDLE_PSERVERS="), "the script of %s", role)
	}
}
