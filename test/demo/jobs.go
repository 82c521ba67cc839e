// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"embed"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

//go:embed too_large.yaml
var ownFiles embed.FS

// Job is one job of the demo and how it should end.
type Job struct {
	// Name is what the demo calls the job, and the namespace that it has for itself: three of the published jobs share
	// one name.
	Name string
	// Files are submitted in this order.
	Files []string
	from  fs.FS
	// fit changes what was read from the files, if it is not nil.
	fit func(objects []*unstructured.Unstructured)
	// Raw is set for a Volcano Job without a PaddleJob.
	Raw bool
	// Mode is what the table should show.
	Mode string
	// Roles are in the order of the table.
	Roles []Role
	// NodeLabels must be on every node where the job runs.
	NodeLabels map[string]string
	// Stays is set for the job that must stay pending.
	Stays bool
}

// Role is a number of pods that do the same.
type Role struct {
	Name string
	Pods int
}

// Total is the number of pods of the job.
func (j Job) Total() int {
	total := 0
	for _, role := range j.Roles {
		total += role.Pods
	}
	return total
}

const rawMode = "Volcano Job"

// Jobs returns the demo's jobs in the order of their submission.
func Jobs() []Job {
	parameterServers := []Role{{"ps", 2}, {"worker", 2}}
	return []Job{
		{
			Name: "wide-and-deep", Files: []string{"examples/wide_and_deep.yaml"}, from: deploy.Files,
			Mode: "PS", Roles: parameterServers,
		},
		{
			Name: "resnet", Files: []string{"examples/resnet.yaml"}, from: deploy.Files,
			Mode: "Collective", Roles: []Role{{"worker", 2}}, NodeLabels: map[string]string{"nvidia.com/gpu.present": "true"},
		},
		{
			Name: "gpu-node-selector", Files: []string{"examples/gpu_node_selector.yaml"}, from: deploy.Files,
			Mode: "PS", Roles: parameterServers, NodeLabels: map[string]string{"accelerator": "nvidia-tesla-p100"},
		},
		{
			Name: "volume-claim", Files: []string{"examples/pv-pvc.yaml", "examples/wide_and_deep_pvc.yaml"}, from: deploy.Files,
			Mode: "PS", Roles: parameterServers,
		},
		{
			Name: "own-podgroup", Files: []string{"examples/wide_and_deep_podgroup.yaml"}, from: deploy.Files,
			Mode: "PS", Roles: parameterServers,
		},
		{
			Name: "ctr-volcano", Files: []string{"examples/ctr-volcano.yaml"}, from: deploy.Files,
			Raw: true, Mode: rawMode, Roles: []Role{{"pserver", 2}, {"trainer", 2}},
		},
		{
			Name: "too-large", Files: []string{"too_large.yaml"}, from: ownFiles,
			Mode: "PS", Roles: []Role{{"ps", 2}, {"worker", 5}}, Stays: true,
		},
	}
}

func (j Job) objects() ([]*unstructured.Unstructured, error) {
	objects, err := manifests.Read(j.from, j.Files...)
	if err == nil && j.fit != nil {
		j.fit(objects)
	}
	return objects, err
}
