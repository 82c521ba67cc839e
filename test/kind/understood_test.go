// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	auditpolicy "k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/test/kind/turns"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// configuration is what kind hands to kubeadm, as far as cluster.yaml has a say in it. That of this version has maps of arguments,
// later ones have lists.
type configuration struct {
	APIVersion        string    `json:"apiVersion"`
	Kind              string    `json:"kind"`
	KubernetesVersion string    `json:"kubernetesVersion"`
	APIServer         component `json:"apiServer"`
	ControllerManager component `json:"controllerManager"`
	Etcd              struct {
		Local component `json:"local"`
	} `json:"etcd"`
}

type component struct {
	ExtraArgs    map[string]string `json:"extraArgs"`
	ExtraVolumes []struct {
		HostPath  string `json:"hostPath"`
		MountPath string `json:"mountPath"`
	} `json:"extraVolumes"`
}

func configurationOf(t *testing.T, calls []call) configuration {
	t.Helper()
	at := slices.IndexFunc(calls, func(c call) bool { return slices.Contains(c.Args, "/kind/kubeadm.conf") })
	require.GreaterOrEqual(t, at, 0)
	first, _, _ := strings.Cut(calls[at].Input, "\n---\n")
	var c configuration
	require.NoError(t, yaml.Unmarshal([]byte(first), &c))
	require.Equal(t, "kubeadm.k8s.io/v1beta3 ClusterConfiguration", c.APIVersion+" "+c.Kind)
	require.Equal(t, kubernetes, c.KubernetesVersion)
	require.Contains(t, c.ControllerManager.ExtraArgs, "enable-hostpath-provisioner", "what kind sets itself is kept")
	return c
}

// understood starts a sandbox with the arguments that kind hands to kubeadm, and has its API server take, in order and with every
// field checked, all that the script applies.
func understood(t *testing.T, m machine, calls []call) {
	t.Helper()
	host := mounts(t, calls)
	s := start(t, configurationOf(t, calls), host)
	p, err := live.Connect(s)
	require.NoError(t, err)

	probe, err := manifests.Read(os.DirFS(scripts), "probe.yaml")
	require.NoError(t, err)
	config := s.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	client, err := manifests.NewClient(config)
	require.NoError(t, err)
	// Before Volcano's webhooks are those of a cluster in which pods run.
	made, err := client.Create(t.Context(), "", metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}, probe...)
	require.NoError(t, err)
	scheduler, _, err := unstructured.NestedString(made[0].Object, "spec", "schedulerName")
	require.NoError(t, err)
	require.Equal(t, "volcano", scheduler, "the webhooks have seen it")

	objects := applied(t, calls...)
	for _, object := range objects {
		if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") { // the sandbox has its own, which lead to a process
			require.NoError(t, client.Delete(t.Context(), "", object))
		}
	}
	require.NoError(t, client.Apply(t.Context(), "default", "paddle-kind", objects...))
	misspelt := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetName() == "paddle-kwok" && object.GetKind() == "Deployment"
	})
	wrong := objects[misspelt].DeepCopy()
	require.NoError(t, unstructured.SetNestedField(wrong.Object, "own-node-0", "spec", "template", "spec", "nodename"))
	require.ErrorContains(t, client.Apply(t.Context(), "default", "paddle-kind", wrong), "field not declared in schema", "all fields are known")
	p.Await(t, "the simulated nodes to be ready", func(ctx context.Context) error { return nodesReady(ctx, p) })
	require.NoError(t, s.StartComponent(sandbox.KubeScheduler))
	placed(t, p, &turns.Deployments{Plane: p, Objects: client, Manifests: os.DirFS(filepath.Join(m.out(), "manifests"))})
	daemonSet(t, p, calls)
	kwokTakesItsArguments(t, calls)
	log, err := os.ReadFile(filepath.Join(host["/var/log/audit"], "audit.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), `"objectRef":{"resource":"nodes","name":"rack-0-node-0"`)
}

// mounts are the folders and files of this machine that the node's container has.
func mounts(t *testing.T, calls []call) map[string]string {
	t.Helper()
	at := slices.IndexFunc(calls, func(c call) bool { return c.Args[0] == "run" })
	require.GreaterOrEqual(t, at, 0)
	host := map[string]string{}
	for _, arg := range calls[at].Args {
		if volume, ok := strings.CutPrefix(arg, "--volume="); ok {
			parts := strings.Split(volume, ":")
			host[parts[1]] = parts[0]
		}
	}
	policy := host["/etc/kubernetes/audit-policy.yaml"]
	_, err := auditpolicy.LoadPolicyFromFile(policy)
	require.NoError(t, err)
	require.DirExists(t, host["/var/log/audit"])
	return host
}

// start has a sandbox's components take the arguments that kubeadm would give them, with the paths of this machine.
func start(t *testing.T, init configuration, host map[string]string) *sandbox.Sandbox {
	t.Helper()
	given := map[string]string{}
	for _, volume := range init.APIServer.ExtraVolumes {
		given[volume.MountPath] = host[volume.HostPath]
		require.NotEmpty(t, host[volume.HostPath], "%s is in the node", volume.HostPath)
	}
	args := func(c component) (args []string) {
		for name, value := range c.ExtraArgs {
			for inside, outside := range given {
				if rest, ok := strings.CutPrefix(value, inside); ok {
					value = outside + rest
				}
			}
			args = append(args, "--"+name+"="+value)
		}
		return args
	}
	own := sandbox.Uniform(1)
	own.Blocks[0].Racks[0].Name = "own" // as none of the nodes that are applied
	own.Labels = map[string]string{"node-role.kubernetes.io/control-plane": ""}
	for name, shape := range own.Shapes {
		shape.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
		own.Shapes[name] = shape
	}
	made, err := sandbox.Start(t.Context(), sandbox.Options{
		StateDir: "../../_output/test-kind", Progress: os.Stderr, WithoutController: true, Topology: own, Rivals: true,
		Args: map[string][]string{
			sandbox.Etcd: args(init.Etcd.Local), sandbox.APIServer: args(init.APIServer),
			sandbox.ControllerManager: args(init.ControllerManager),
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, made.Stop()) })
	return made
}

// nodesReady checks that the applied nodes are what they were written as.
func nodesReady(ctx context.Context, p *live.Plane) error {
	nodes, err := p.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "sandbox.paddle-volcano.io/simulated"})
	if err != nil {
		return err
	}
	if len(nodes.Items) != 3 {
		return fmt.Errorf("there are %d", len(nodes.Items))
	}
	for _, node := range nodes.Items {
		gpus := node.Status.Allocatable["nvidia.com/gpu"]
		if len(node.Spec.Taints) > 0 || gpus.Value() != 8 {
			return fmt.Errorf("%s has the taints %v and %s GPUs", node.Name, node.Spec.Taints, gpus.String())
		}
	}
	return nil
}

// daemonSet patches a DaemonSet as kind's are, and it stays off simulated nodes.
func daemonSet(t *testing.T, p *live.Plane, calls []call) {
	t.Helper()
	labels := map[string]string{"k8s-app": "kube-proxy"}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "kube-proxy"}, Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "kube-proxy", Image: "kube-proxy"}}, NodeSelector: map[string]string{corev1.LabelOSStable: "linux"},
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		}},
	}}
	sets := p.Kube.AppsV1().DaemonSets("kube-system")
	_, err := sets.Create(t.Context(), set, metav1.CreateOptions{})
	require.NoError(t, err)
	const flag = "--patch="
	for _, c := range calls {
		at := slices.IndexFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, flag) })
		if at < 0 || !slices.Contains(c.Args, set.Name) {
			continue
		}
		patch, err := yaml.YAMLToJSON([]byte(strings.TrimPrefix(c.Args[at], flag)))
		require.NoError(t, err)
		got, err := sets.Patch(t.Context(), set.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
		require.NoError(t, err)
		terms := got.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		require.Equal(t, []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "sandbox.paddle-volcano.io/simulated", Operator: corev1.NodeSelectorOpDoesNotExist}}}}, terms)
		require.Equal(t, set.Spec.Template.Spec.NodeSelector, got.Spec.Template.Spec.NodeSelector)
		return
	}
	require.Fail(t, "DaemonSet "+set.Name+" is not patched")
}

// kwokTakesItsArguments has kwok read its configuration and its arguments; asked for help after them, it does no more.
func kwokTakesItsArguments(t *testing.T, calls []call) {
	t.Helper()
	folder := t.TempDir()
	var args []string
	for _, object := range applied(t, calls...) {
		switch object.GetKind() + " " + object.GetName() {
		case "ConfigMap paddle-kwok":
			files, _, err := unstructured.NestedStringMap(object.Object, "data")
			require.NoError(t, err)
			for name, text := range files {
				require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
			}
		case "Deployment paddle-kwok":
			container := podOf(t, object).Containers[0]
			require.Len(t, container.VolumeMounts, 1)
			for _, arg := range container.Args {
				args = append(args, strings.ReplaceAll(arg, container.VolumeMounts[0].MountPath, folder))
			}
		}
	}
	require.NotEmpty(t, args)
	said, err := exec.CommandContext(t.Context(), "../../_output/bin/kwok", append(args, "--help")...).CombinedOutput()
	require.NoError(t, err, "%s", said)
}
