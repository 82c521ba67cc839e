// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
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
	"paddleformers_sft.yaml":      {job: "paddleformers-sft", mode: v1.ModeCollective, says: "launcher: node 1 of 2"},
	"kubeflow.yaml":               {job: "wide-and-deep-kubeflow", mode: v1.ModePS},
}

// simulated are the examples that request more than one node has, or need a program of the user or the start script of their image.
// TestModes and the tests of elastic jobs train similar jobs. test/manifests and test/conformance/live run these without a program.
var simulated = []string{"collective.yaml", "fleet_ps.yaml", "hybrid_parallel.yaml", "elastic.yaml", "nfs_model_output.yaml", "ctr-volcano.yaml", "ernie_pretrain.yaml"}

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
	for file, e := range onEveryChange(examples, "wide_and_deep.yaml", "simple.yaml", "paddleformers_sft.yaml") {
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

// nas returns the folder that replaces the example's NFS server, and the folder with its program.
func (r *trial) nas() string { return filepath.Join(r.folder, "nas") }

// submit creates the objects of examples, fitted to the real node.
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

// mode is a way to train, and the networks in which all pods can be on one node. Paddle's launcher counts nodes by their addresses:
// in the node's own network only programs without the launcher can be more than one.
type mode struct {
	name     string
	changes  []change
	networks []v1.Intranet
	workers  int
	// says is what a pod of each role must say.
	says map[string]string
}

var (
	everywhere   = []v1.Intranet{v1.PodIP, v1.Service, v1.Host}
	launchersMet = map[string]string{"worker": "launcher: node 2 of 3 at"}
)

var modes = []mode{
	{"ps", nil, everywhere, 2, map[string]string{"ps": "TRAINER 1 is here", "worker": "trainer 1 of 2, servers ["}},
	{"gloo of all", []change{gloo(2)}, everywhere, 2, map[string]string{
		"ps": "gloo: 2 trainers and 2 servers have met", "worker": "gloo: 2 trainers have met"}},
	{"ps by the launcher", []change{gloo(1), launched}, []v1.Intranet{v1.PodIP, v1.Service}, 2, map[string]string{
		"ps": "server 1 of 2 listens at", "worker": "gloo: 2 trainers have met"}},
	{"heter", []change{heter(2), gloo(1)}, everywhere, 2, map[string]string{
		"ps": "TRAINER 1 is here", "worker": "trainer 1 of 2, servers [", "heter": "all 2 trainers are done"}},
	{"collective", []change{noServers, workers(3)}, everywhere, 3, map[string]string{"worker": "trainer 2 of 3 in collective training"}},
	{"collective by the launcher", []change{noServers, workers(3), launched}, []v1.Intranet{v1.PodIP, v1.Service}, 3, launchersMet},
	{"paddleformers-cli", []change{noServers, workers(3), starts("paddleformers-cli", "train", "sft.yaml")}, []v1.Intranet{v1.PodIP, v1.Service}, 3, launchersMet},
	{"erniekit", []change{noServers, workers(3), starts("erniekit", "train", "pt.yaml")}, []v1.Intranet{v1.PodIP, v1.Service}, 3, launchersMet},
	{"single", []change{noServers, workers(1), launched}, everywhere, 1, map[string]string{"worker": "trainer 0 of 1 in collective training"}},
}

func noServers(job *v1.PaddleJob) { job.Spec.PS = nil }

func TestModes(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	for _, m := range modes {
		for _, network := range m.networks {
			t.Run(fmt.Sprintf("%s, %s", m.name, network), func(t *testing.T) {
				t.Parallel()
				if network == v1.Host && m.workers > 1 && sandbox.RealRootless() {
					t.Skip("without the start barrier, for which rootless nodes lack a user, a program may start before its kubelet " +
						"has received the ports that the controller gave it")
				}
				r := newTrial(t, "job")
				r.create(t, r.psJob(append([]change{intranet(network)}, m.changes...)...))
				done := r.awaitTrained(t, m.workers)
				require.Zero(t, done.Status.Restarts)
				for role, text := range m.says {
					require.NotEmpty(t, r.said(role, text), "no pod of %s says %q", role, text)
				}
				r.requireNetwork(t, network)
				require.Equal(t, m.name != "single" && !sandbox.RealRootless(), r.containers(barrier) > 0, "a start barrier has run")
			})
		}
	}
}

// requireNetwork checks that the pods of jobs with servers use the addresses that the user asked for.
func (r *trial) requireNetwork(t *testing.T, network v1.Intranet) {
	t.Helper()
	host := map[v1.Intranet]string{
		v1.PodIP: node.Address.Addr().String()[:strings.LastIndexByte(node.Address.Addr().String(), '.')+1],
		v1.Host:  node.Address.Addr().String() + ":", v1.Service: "job-ps-0.job:",
	}[network]
	for _, l := range r.said("worker", "of 2, servers [") {
		_, servers, _ := strings.Cut(l.text, "servers [")
		require.True(t, strings.HasPrefix(servers, host), "%s: %s", network, l.text)
		require.Equal(t, network == v1.Host, strings.HasPrefix(servers, node.Address.Addr().String()+":"), l.text)
	}
}
