// SPDX-License-Identifier: Apache-2.0

package image

import (
	"path"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/argv"
)

// Binary is where the image has the trainer.
const Binary = "/usr/local/bin/trainer"

// Names returns the images of deploy/examples that the trainer replaces, and its own. The example ctr-volcano.yaml runs a script of
// its image, which nothing replaces.
func Names() []string {
	return []string{
		"ccr-2vdh3abv-pub.cnc.bj.baidubce.com/paddlepaddle/paddle:3.2.0",
		"ccr-2vdh3abv-pub.cnc.bj.baidubce.com/paddlepaddle/paddle:3.2.0-gpu-cuda12.6-cudnn9.5",
		"ccr-2vdh3abv-pub.cnc.bj.baidubce.com/paddlepaddle/paddle:3.3.0-gpu-cuda12.6-cudnn9.5",
		"docker.io/library/paddle-trainer:test",
		"registry.baidubce.com/kuizhiqing/demo-wide-and-deep:v1",
		"registry.baidubce.com/paddle-operator/demo-deepfm:v1",
		"registry.baidubce.com/paddle-operator/demo-resnet:v1",
		"registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1",
		"registry.baidubce.com/paddle-operator/paddle-ubuntu:2.0.0-18.04",
		"registry.baidubce.com/paddlepaddle/paddle:2.4.0rc0-cpu",
		"registry.example.com/erniekit:1.5",
	}
}

// Full returns the name under which a node keeps an image that a manifest names.
func Full(name string) string {
	if last := path.Base(name); !strings.ContainsAny(last, ":@") {
		name += ":latest"
	}
	first, _, found := strings.Cut(name, "/")
	switch {
	case !found:
		return "docker.io/library/" + name
	case !strings.ContainsAny(first, ".:") && first != "localhost":
		return "docker.io/" + name
	}
	return name
}

// links returns the programs that manifests call, all of which are the trainer.
func links() (paths []string) {
	for _, name := range argv.Names() {
		dir := "usr/bin/"
		if name == "sh" || name == "bash" {
			dir = "bin/"
		}
		paths = append(paths, dir+name)
	}
	return paths
}

// folders returns what the commands of the examples change to, and what programs take for granted.
func folders() []string { return []string{"workspace", "tmp"} }
