// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
)

// Real asks for a real node: a kubelet and containerd, in namespaces of their own together with all other components.
// [Start] returns a [*box.UnsupportedError] where the machine does not allow it.
type Real struct {
	// Images are archives of images (OCI or Docker's) that the node has from the start. It cannot pull any.
	Images []string
}

const (
	// RealNode is the real node's name.
	RealNode = "real-0"
	// realRack and realBlock are where it stands.
	realRack, realBlock = "real-rack", "real-block"
	// TaintSimulated keeps pods off the simulated nodes of the default cluster where there is a real node too.
	TaintSimulated = annotationPrefix + "simulated"
	// kwokNode is an annotation of simulated nodes, by which kwok knows its own.
	kwokNode, kwokNodeValue = "kwok.x-k8s.io/node", "fake"
)

// RealAllowed tells why this machine does not allow a real node: the error is a [*box.UnsupportedError] then.
func RealAllowed() error {
	_, err := realMode()
	return err
}

// RealRootless tells that a real node has one user only on this machine, as whom the start barrier does not run.
func RealRootless() bool {
	mode, err := realMode()
	return err == nil && mode == box.Rootless
}

func realMode() (box.Mode, error) {
	machine, err := box.Probe(node.Tools()...)
	if err != nil {
		return 0, fmt.Errorf("look whether this machine allows a real node: %w", err)
	}
	return box.Verdict(machine)
}

func (o *Options) allowed() error {
	if o.Real == nil {
		return nil
	}
	return RealAllowed()
}

func (o *Options) completeReal() error {
	if o.Real == nil {
		return nil
	}
	images := make([]string, len(o.Real.Images))
	for i, image := range o.Real.Images {
		path, err := filepath.Abs(image)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return fmt.Errorf("find the archive of images: %w", err)
		}
		images[i] = path
	}
	o.Real = &Real{Images: images}
	if o.Topology == nil {
		o.Topology = Demo()
		for name, shape := range o.Topology.Shapes {
			shape.Taints = append(shape.Taints, corev1.Taint{Key: TaintSimulated, Effect: corev1.TaintEffectNoSchedule})
			o.Topology.Shapes[name] = shape
		}
	}
	return nil
}

// simulatedNodes are kwok's; beside a real node it must know them.
func (o *Options) simulatedNodes() []*corev1.Node {
	nodes := o.Topology.Nodes()
	if o.Real != nil {
		for _, n := range nodes {
			n.Annotations = merged(n.Annotations, map[string]string{kwokNode: kwokNodeValue})
		}
	}
	return nodes
}
