// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const (
	// labelSimulated is on every simulated node, by which others are told to keep off.
	labelSimulated = sandbox.TaintSimulated
	// kwok knows its nodes by this annotation.
	kwokNode, kwokNodeValue = "kwok.x-k8s.io/node", "fake"
	controlPlane            = "node-role.kubernetes.io/control-plane"
)

// simulated are the nodes of the benchmark on a sandbox.
func simulated(count int) ([]*unstructured.Unstructured, error) {
	topology := load.Cluster(count)
	topology.Labels = map[string]string{labelSimulated: "true"}
	nodes := make([]*unstructured.Unstructured, 0, count)
	for _, node := range topology.Nodes() {
		node.APIVersion, node.Kind = "v1", "Node"
		node.Annotations = map[string]string{kwokNode: kwokNodeValue}
		// kind's network would lead the pods of each node there, and gives up where nothing can be reached.
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: node.Name}}
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(node)
		if err != nil {
			return nil, fmt.Errorf("write node %s: %w", node.Name, err)
		}
		nodes = append(nodes, &unstructured.Unstructured{Object: object})
	}
	return nodes, nil
}

// kwok is kwok.yaml with its version and the sandbox's stages.
func (s Settings) kwok() ([]*unstructured.Unstructured, error) {
	stages, err := sandbox.KwokConfig(0)
	if err != nil {
		return nil, err
	}
	objects, err := manifests.Read(os.DirFS(s.Kwok), "kwok.yaml")
	if err != nil {
		return nil, fmt.Errorf("read kwok's manifest: %w", err)
	}
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		if err := change(object, func(container map[string]any) error {
			container["image"] = fmt.Sprint(container["image"], ":", s.KwokVersion)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("change Deployment %s: %w", object.GetName(), err)
		}
	}
	return append([]*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "paddle-kwok", "namespace": "kube-system"},
		"data": map[string]any{"kwok.yaml": stages},
	}}}, objects...), nil
}

// onRealNode has the pods of a workload run where programs really run, and keeps images that are there.
func onRealNode(object *unstructured.Unstructured) error {
	switch object.GetKind() + "." + object.GroupVersionKind().Group {
	case "Deployment.apps", "Job.batch":
	default:
		return nil
	}
	if err := change(object, func(container map[string]any) error {
		container["imagePullPolicy"] = string(corev1.PullIfNotPresent)
		return nil
	}); err != nil {
		return fmt.Errorf("change %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	for field, value := range map[string]any{
		"nodeSelector": map[string]any{controlPlane: ""},
		"tolerations":  []any{map[string]any{"key": controlPlane, "operator": "Exists", "effect": "NoSchedule"}},
	} {
		if err := unstructured.SetNestedField(object.Object, value, "spec", "template", "spec", field); err != nil {
			return fmt.Errorf("set the %s of %s %s: %w", field, object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
