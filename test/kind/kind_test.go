// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	auditpolicy "k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
	vcscheme "volcano.sh/apis/pkg/client/clientset/versioned/scheme"

	"github.com/paddle-volcano/paddle-volcano/test/kind"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

const (
	scripts = "../../hack/kind/"
	bin     = "../../_output/bin/"
)

// strict decodes an object of a manifest into its Go type. A field that the type has not is an error.
func strict(t *testing.T, object runtime.Object) runtime.Object {
	t.Helper()
	known := runtime.NewScheme()
	require.NoError(t, scheme.AddToScheme(known))
	require.NoError(t, apiextensionsv1.AddToScheme(known))
	require.NoError(t, vcscheme.AddToScheme(known))
	data, err := json.Marshal(object)
	require.NoError(t, err)
	decoded, _, err := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer().Decode(data, nil, nil)
	require.NoError(t, err, "%s", data)
	return decoded
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", program, args, out)
	return strings.TrimSpace(string(out))
}

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	s := kind.Settings{
		Volcano:   output(t, "go", "list", "-m", "-f", "{{.Dir}}", "volcano.sh/volcano"),
		Scheduler: "localhost/vc-scheduler:v1.2.3", Kwok: scripts, KwokVersion: "v4.5.6",
	}
	require.ErrorContains(t, kind.Write(s, folder), "number of simulated nodes: want 1 or more")
	s.Nodes = 3
	require.NoError(t, kind.Write(s, folder))
	images, nodes, schedulers := map[string]string{}, 0, 0
	for _, name := range []string{"volcano", "kwok", "paddle", "scheduler-paddle", "scheduler-stock", "nodes"} {
		objects, err := manifests.Read(os.DirFS(folder), name+".yaml")
		require.NoError(t, err)
		for _, object := range objects {
			switch object := strict(t, object).(type) {
			case *corev1.Node:
				nodes++
				gpus := object.Status.Capacity["nvidia.com/gpu"]
				require.EqualValues(t, 8, gpus.Value(), object.Name)
				require.Contains(t, object.Labels, topology.TaintSimulated)
				require.Equal(t, "fake", object.Annotations["kwok.x-k8s.io/node"])
			case *appsv1.Deployment:
				pod := object.Spec.Template.Spec
				require.Equal(t, map[string]string{"node-role.kubernetes.io/control-plane": ""}, pod.NodeSelector, object.Name)
				require.Len(t, pod.Containers, 1)
				require.Equal(t, corev1.PullIfNotPresent, pod.Containers[0].ImagePullPolicy, object.Name)
				require.Regexp(t, `^[a-z0-9./-]+:v\d+\.\d+\.\d+$`, pod.Containers[0].Image, "the version is pinned")
				images[name+" "+object.Name] = pod.Containers[0].Image
				switch object.Name {
				case "volcano-controllers":
					require.Subset(t, pod.Containers[0].Args, []string{"--kube-api-qps=2000", "--kube-api-burst=2000", "--worker-threads=8"})
				case "volcano-scheduler":
					schedulers++
					require.Equal(t, "volcano-system", object.Namespace)
				case "paddle-kwok":
					kwokReadsItsArguments(t, folder, pod.Containers[0].Args)
				}
			case *corev1.ConfigMap:
				if object.Name == "paddle-kwok" {
					require.NoError(t, os.WriteFile(filepath.Join(folder, "kwok-stages.yaml"), []byte(object.Data["kwok.yaml"]), 0o600))
				}
			}
		}
	}
	require.Equal(t, 3, nodes)
	require.Equal(t, 3, schedulers, "of the installer, of make kind-bench, of the project")
	require.Equal(t, s.Scheduler, images["volcano volcano-scheduler"])
	require.Equal(t, s.Scheduler, images["scheduler-stock volcano-scheduler"])
	require.Contains(t, images["scheduler-paddle volcano-scheduler"], "/paddle-scheduler:")
	require.Equal(t, "registry.k8s.io/kwok/kwok:v4.5.6", images["kwok paddle-kwok"])
}

// kwokReadsItsArguments runs kwok with the arguments of its Deployment and with --help, so that it parses all and starts nothing.
func kwokReadsItsArguments(t *testing.T, folder string, args []string) {
	t.Helper()
	const config = "--config="
	require.Equal(t, config+"/etc/kwok/kwok.yaml", args[0])
	output(t, bin+"kwok", append(append([]string{config + filepath.Join(folder, "kwok-stages.yaml")}, args[1:]...), "--help")...)
}

// kind hands these arguments to kubeadm, and kubeadm to the programs.
func TestComponentsKnowTheArgumentsOfTheCluster(t *testing.T) {
	data, err := os.ReadFile(scripts + "cluster.yaml")
	require.NoError(t, err)
	var cluster struct {
		Nodes []struct {
			KubeadmConfigPatches []string
		}
	}
	require.NoError(t, yaml.Unmarshal(data, &cluster))
	type component struct{ ExtraArgs map[string]string }
	var kubeadm struct {
		APIServer, ControllerManager component
		Etcd                         struct{ Local component }
	}
	require.NoError(t, yaml.Unmarshal([]byte(cluster.Nodes[0].KubeadmConfigPatches[0]), &kubeadm))
	for program, c := range map[string]component{"kube-apiserver": kubeadm.APIServer, "kube-controller-manager": kubeadm.ControllerManager, "etcd": kubeadm.Etcd.Local} {
		help := output(t, bin+program, "--help")
		require.NotEmpty(t, c.ExtraArgs, program)
		for flag := range c.ExtraArgs {
			require.Regexp(t, `(?m)^ +--`+flag+`\b`, help, program)
		}
	}
	policy, err := auditpolicy.LoadPolicyFromFile(scripts + "audit-policy.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, policy.Rules)
}

func TestDaemonSetsStayOffSimulatedNodes(t *testing.T) {
	data, err := os.ReadFile(scripts + "daemonset-patch.yaml")
	require.NoError(t, err)
	patch, err := yaml.YAMLToJSON(data)
	require.NoError(t, err)
	patched, err := strategicpatch.StrategicMergePatch([]byte(`{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "kindnet"}}`), patch, appsv1.DaemonSet{})
	require.NoError(t, err)
	set, ok := strict(t, &runtime.Unknown{Raw: patched, ContentType: runtime.ContentTypeJSON}).(*appsv1.DaemonSet)
	require.True(t, ok)
	terms := set.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	require.Equal(t, []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
		Key: topology.TaintSimulated, Operator: corev1.NodeSelectorOpDoesNotExist,
	}}}}, terms)
	probe, err := manifests.Read(os.DirFS(scripts), "probe.yaml")
	require.NoError(t, err)
	strict(t, probe[0])
}

// A machine without Docker, and without what Docker in separate namespaces needs, is left as it is.
func TestScriptsRequireDocker(t *testing.T) {
	programs := t.TempDir() // what the scripts run before they look for Docker
	for _, program := range []string{"bash", "dirname"} {
		path, err := exec.LookPath(program)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(programs, program)))
	}
	folder, released := filepath.Join(t.TempDir(), "kind"), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(released, "images.txt"), nil, 0o600))
	for script, want := range map[string]int{
		"up.sh": 3, "bench.sh": 3, "down.sh": 3, "test.sh": 0, "up.sh --quick": 2, "load.sh " + released: 3, "load.sh": 2,
	} {
		cmd := exec.CommandContext(t.Context(), "bash", strings.Fields(scripts+script)...)
		cmd.Env = []string{"PATH=" + programs, "KIND_OUT=" + folder}
		said, err := cmd.CombinedOutput()
		require.Equal(t, want, cmd.ProcessState.ExitCode(), "%s: %v: %s", script, err, said)
		if want != 2 {
			require.Regexp(t, `^(error|SKIP: hack/kind/test.sh): docker is not installed.*Nothing was changed\n$`, string(said), script)
		}
		require.NoDirExists(t, folder)
	}
}
