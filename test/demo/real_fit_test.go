// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

const wideAndDeep = "registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1"

// The seeds' wide-and-deep trains as it is published; nothing needs to be explained away.
func TestTheRealJobIsRunAsItIsPublished(t *testing.T) {
	published, err := manifests.Read(deploy.Files, Jobs()[0].Files...)
	require.NoError(t, err)
	r, err := newTraining(Options{StateDir: t.TempDir()})
	require.NoError(t, err)
	objects, err := r.job.objects()
	require.NoError(t, err)
	require.Equal(t, published, objects)
	require.Equal(t, []string{wideAndDeep}, r.fitting.images)
	require.Contains(t, image.Names(), image.Full(wideAndDeep), "the trainer stands in for it")
	require.Empty(t, r.fitting.told)
	require.Equal(t, "wide-ande-deep", r.name)
}

func TestFit(t *testing.T) {
	const pod = `
spec:
  worker:
    template:
      spec:
        initContainers:
        - {name: a, image: busybox}
        - {name: a2, image: "busybox:1.36"}
        containers:
        - {name: b, image: "host:5000/x:v1", imagePullPolicy: Always}
        - {name: c, image: "host:5000/x:v1", imagePullPolicy: Never}
        - {name: d, image: y/z:latest, imagePullPolicy: Never}
        - {name: e, image: y/z@sha256:0}
        - {name: f, image: y/z:latest}
        volumes:
        - {name: data, hostPath: {path: /home/work, type: Directory}}
        - {name: more, emptyDir: {}}
`
	object := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(pod), &object))
	f := fitting{volumes: "/state/volumes"}
	f.fit([]*unstructured.Unstructured{{Object: object}, {Object: map[string]any{"kind": "Service"}}})
	require.Equal(t, []string{"busybox", "busybox:1.36", "host:5000/x:v1", "y/z:latest", "y/z@sha256:0"}, f.images)
	require.Equal(t, []string{"/state/volumes/home/work"}, f.folders)
	require.Equal(t, []string{
		"hostPath /home/work is /state/volumes/home/work", "imagePullPolicy: Always is taken off host:5000/x:v1",
	}, f.told)

	spec, _, err := unstructured.NestedMap(object, "spec", "worker", "template", "spec")
	require.NoError(t, err)
	var policies []any
	for _, list := range []string{"initContainers", "containers"} {
		containers, ok := spec[list].([]any)
		require.True(t, ok)
		for _, container := range containers {
			fields, ok := container.(map[string]any)
			require.True(t, ok)
			policies = append(policies, fields["imagePullPolicy"])
		}
	}
	require.Equal(t, []any{"IfNotPresent", nil, "IfNotPresent", "Never", "Never", nil, "IfNotPresent"}, policies)
	volumes, ok := spec["volumes"].([]any)
	require.True(t, ok)
	require.Equal(t, map[string]any{"name": "data", "hostPath": map[string]any{"path": "/state/volumes/home/work", "type": "Directory"}}, volumes[0])
}
