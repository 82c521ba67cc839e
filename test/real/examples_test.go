// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// example is one published job with two workers.
type example struct {
	job  string
	mode v1.Mode
	// says is what a worker must say.
	says string
	// volumes is the file with the volume and the claim in which the program runs and leaves the model; empty for none.
	volumes string
}

const (
	listens = "of 2 listens at"
	met     = "gloo: 2 trainers have met"
)

// examples are those that train here, by their files.
var examples = map[string]example{
	"wide_and_deep.yaml":          {job: "wide-ande-deep", mode: v1.ModePS, says: met},
	"wide_and_deep_podip.yaml":    {job: "wide-ande-deep-podip", mode: v1.ModePS},
	"wide_and_deep_service.yaml":  {job: "wide-ande-deep-service", mode: v1.ModePS, says: "servers [wide-ande-deep-service-ps-0.wide-ande-deep-service:"},
	"wide_and_deep_volcano.yaml":  {job: "wide-ande-deep-volcano", mode: v1.ModePS, says: met},
	"wide_and_deep_podgroup.yaml": {job: "wide-ande-deep", mode: v1.ModePS, says: met},
	"gpu_node_selector.yaml":      {job: "wide-ande-deep", mode: v1.ModePS},
	"wide_and_deep_pvc.yaml":      {job: "paddlejob-demo-1", mode: v1.ModePS, volumes: "pv-pvc.yaml"},
	"deepfm.yaml":                 {job: "deepfm", mode: v1.ModePS, says: met},
	"resnet.yaml":                 {job: "resnet", mode: v1.ModeCollective, says: "of 2 in collective training"},
	"simple.yaml":                 {job: "simple", mode: v1.ModeCollective, says: "launcher: node 1 of 2"},
	"kubeflow.yaml":               {job: "wide-and-deep-kubeflow", mode: v1.ModePS},
}

// simulated are the examples that ask for more than one node has, for a program that they leave to the user, or for the start
// script of their image; TestModes and the tests of elastic jobs train what is like them, and test/manifests and
// test/conformance/live run them without a program.
var simulated = []string{"collective.yaml", "fleet_ps.yaml", "hybrid_parallel.yaml", "elastic.yaml", "nfs_model_output.yaml", "ctr-volcano.yaml"}

func TestEveryExampleIsTrained(t *testing.T) {
	trained := slices.Clone(simulated)
	for file, e := range examples {
		trained = append(trained, file)
		if e.volumes != "" {
			trained = append(trained, e.volumes)
		}
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
	for file, e := range onEveryChange(examples, "wide_and_deep.yaml", "simple.yaml") {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			e.run(t, file)
		})
	}
}

func (e *example) run(t *testing.T, file string) {
	r := newTrial(t, e.job)
	env, files := map[string]string{"TRAINER_EXPECT_WORLD": "2"}, []string{file}
	if e.volumes != "" {
		env["MODEL_DIR"], files = "", []string{e.volumes, file}
	}
	r.submit(t, env, files...)
	running := r.awaitJob(t, "running", func(job *v1.PaddleJob) bool {
		return slices.Contains([]v1.Phase{v1.Running, v1.Completed}, job.Status.Phase)
	})
	require.Equal(t, e.mode, running.Status.Mode)
	if e.volumes != "" {
		r.awaitPhase(t, v1.Completed)
		// Where the test looks for it.
		require.NoError(t, os.Rename(filepath.Join(r.nas(), "wide_and_deep", "models", train.ModelFile), filepath.Join(r.models(), train.ModelFile)))
	}
	done := r.awaitTrained(t, 2)
	require.Zero(t, done.Status.Restarts)
	require.Zero(t, done.Status.Recreations)
	require.NotEmpty(t, r.said("worker", e.says), "no worker says %q", e.says)
	if e.mode == v1.ModePS {
		require.Len(t, r.said("ps", listens), 2, "servers that listen")
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
		case "PaddleJob":
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
