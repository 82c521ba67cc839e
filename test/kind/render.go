// SPDX-License-Identifier: Apache-2.0

// Package kind renders the manifests that make kind-up applies to a cluster of one real node: Volcano's installer, deploy/v1, kwok and
// the simulated nodes.
package kind

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// Settings of a cluster.
type Settings struct {
	// Volcano is the folder of Volcano's module, which holds its installer.
	Volcano string
	// Scheduler is the image of Volcano's own scheduler.
	Scheduler string
	// Kwok is a folder with kwok.yaml, and KwokVersion the version of its image.
	Kwok, KwokVersion string
	// Nodes is the number of simulated nodes.
	Nodes int
}

const (
	controlPlane = "node-role.kubernetes.io/control-plane"
	// kwok simulates the kubelet of the nodes with this annotation.
	kwokNode, kwokNodeValue = "kwok.x-k8s.io/node", "fake"
)

// controllerFlags of Volcano's controllers are those of the sandbox: with the defaults no more than 50 pods a second are created.
var controllerFlags = []string{"--kube-api-qps=2000", "--kube-api-burst=2000", "--worker-threads=8"}

// Write renders the manifests into a folder. The Deployments of both schedulers have the same name: the one that is applied last runs.
func Write(s Settings, folder string) error {
	if s.Nodes < 1 {
		return errors.New("number of simulated nodes: want 1 or more")
	}
	volcano, stock, err := s.volcano()
	if err != nil {
		return err
	}
	kwok, err := s.kwok()
	if err != nil {
		return err
	}
	nodes, err := simulated(s.Nodes)
	if err != nil {
		return err
	}
	paddle, err := manifests.Read(deploy.Files, "v1/crd.yaml", "v1/namespace.yaml", "v1/operator.yaml", "v1/admission.yaml")
	if err != nil {
		return err
	}
	scheduler, err := manifests.Read(deploy.Files, "v1/scheduler.yaml")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // manifests are for everybody to read
		return fmt.Errorf("make the folder of the manifests: %w", err)
	}
	for name, objects := range map[string][]*unstructured.Unstructured{
		"volcano": volcano, "kwok": kwok, "paddle": paddle, "scheduler-paddle": scheduler, "scheduler-stock": stock, "nodes": nodes,
	} {
		if err := write(filepath.Join(folder, name+".yaml"), objects); err != nil {
			return err
		}
	}
	return nil
}

func write(file string, objects []*unstructured.Unstructured) error {
	var text bytes.Buffer
	for _, object := range objects {
		if err := onRealNode(object); err != nil {
			return err
		}
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("write %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		text.WriteString("---\n")
		text.Write(data)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil { //nolint:gosec // manifests are for everybody to read
		return fmt.Errorf("write a manifest: %w", err)
	}
	return nil
}

// volcano returns the objects of Volcano's installer, and those among them that are its scheduler.
func (s Settings) volcano() (all, scheduler []*unstructured.Unstructured, err error) {
	all, err = manifests.Read(os.DirFS(s.Volcano), "installer/volcano-development.yaml")
	if err != nil {
		return nil, nil, fmt.Errorf("read Volcano's installer: %w", err)
	}
	for _, object := range all {
		switch object.GetKind() + " " + object.GetName() {
		case "Deployment volcano-controllers":
			err = changeContainers(object, setFlags)
		case "Deployment volcano-scheduler":
			err = changeContainers(object, func(container map[string]any) error {
				container["image"] = s.Scheduler
				return nil
			})
		}
		if err != nil {
			return nil, nil, err
		}
		if strings.HasPrefix(object.GetName(), "volcano-scheduler") && object.GetKind() != "Service" {
			scheduler = append(scheduler, object.DeepCopy())
		}
	}
	return all, scheduler, nil
}

// setFlags replaces flags of Volcano's controllers.
func setFlags(container map[string]any) error {
	args, _, err := unstructured.NestedStringSlice(container, "args")
	if err != nil {
		return err
	}
	for _, flag := range controllerFlags {
		name, _, _ := strings.Cut(flag, "=")
		at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
		if at < 0 {
			return fmt.Errorf("the container has no flag %s", name)
		}
		args[at] = flag
	}
	return unstructured.SetNestedStringSlice(container, args, "args")
}

// kwok returns the objects of kwok.yaml with the version of the image, and the sandbox's stages in a ConfigMap.
func (s Settings) kwok() ([]*unstructured.Unstructured, error) {
	configuration, err := stages.Config(0)
	if err != nil {
		return nil, err
	}
	objects, err := manifests.Read(os.DirFS(s.Kwok), "kwok.yaml")
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		if err := changeContainers(object, func(container map[string]any) error {
			container["image"] = fmt.Sprint(container["image"], ":", s.KwokVersion)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return append([]*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "paddle-kwok", "namespace": "kube-system"},
		"data": map[string]any{"kwok.yaml": configuration},
	}}}, objects...), nil
}

// simulated returns the nodes of the benchmark on a sandbox.
func simulated(count int) ([]*unstructured.Unstructured, error) {
	cluster := load.Cluster(count)
	cluster.Labels = map[string]string{topology.TaintSimulated: "true"}
	nodes := make([]*unstructured.Unstructured, 0, count)
	for _, node := range cluster.Nodes() {
		node.APIVersion, node.Kind = "v1", "Node"
		node.Annotations = map[string]string{kwokNode: kwokNodeValue}
		// kindnet adds a route to each node with an IP address, and fails because simulated nodes have none that can be reached.
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: node.Name}}
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(node)
		if err != nil {
			return nil, fmt.Errorf("write node %s: %w", node.Name, err)
		}
		nodes = append(nodes, &unstructured.Unstructured{Object: object})
	}
	return nodes, nil
}

// onRealNode makes the pods of Deployments and Jobs run on the real node, with the images that are loaded there.
func onRealNode(object *unstructured.Unstructured) error {
	if kind := object.GroupVersionKind().GroupKind().String(); kind != "Deployment.apps" && kind != "Job.batch" {
		return nil
	}
	for field, value := range map[string]any{
		"nodeSelector": map[string]any{controlPlane: ""},
		"tolerations":  []any{map[string]any{"key": controlPlane, "operator": "Exists", "effect": "NoSchedule"}},
	} {
		if err := unstructured.SetNestedField(object.Object, value, "spec", "template", "spec", field); err != nil {
			return fmt.Errorf("set the %s of %s %s: %w", field, object.GetKind(), object.GetName(), err)
		}
	}
	return changeContainers(object, func(container map[string]any) error {
		container["imagePullPolicy"] = string(corev1.PullIfNotPresent)
		return nil
	})
}

// changeContainers calls change with each container of a workload's pod template.
func changeContainers(workload *unstructured.Unstructured, change func(container map[string]any) error) error {
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(workload.Object, path...)
	for _, item := range containers {
		if container, ok := item.(map[string]any); ok && err == nil {
			err = change(container)
		}
	}
	if err == nil {
		err = unstructured.SetNestedSlice(workload.Object, containers, path...)
	}
	if err != nil {
		return fmt.Errorf("change the containers of %s %s: %w", workload.GetKind(), workload.GetName(), err)
	}
	return nil
}
