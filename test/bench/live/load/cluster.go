// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

const (
	nodesOfRack  = 16
	racksOfBlock = 8
	// mostUsed is how much of the cluster a load may take, so that no scheduler has to solve a puzzle.
	mostUsed = 0.8
)

// Cluster returns a cluster of nodes of 8 GPUs, in racks of 16 and blocks of 8 racks; the last ones hold what is left over.
func Cluster(nodes int) *topology.Topology {
	t := &topology.Topology{Shapes: map[string]topology.Shape{"gpu": {CPU: "96", Memory: "768Gi", GPUs: GPUsOfNode}}}
	for nodes > 0 {
		var block topology.Block
		for range racksOfBlock {
			if nodes <= 0 {
				break
			}
			n := min(nodes, nodesOfRack)
			block.Racks = append(block.Racks, topology.Rack{Nodes: []topology.NodeGroup{{Shape: "gpu", Count: &n}}})
			nodes -= n
		}
		t.Blocks = append(t.Blocks, block)
	}
	return t
}

// Fit returns how many gangs of what size are submitted to a cluster where gangs x gang pods were asked for: scale times as many
// pods, and no more than four fifths of the cluster's GPUs. There are fewer gangs rather than smaller ones; of one gang
// alone, the size is scaled.
func Fit(gangs, gang, nodes int, scale float64) (int, int) {
	pods := max(1, min(int(float64(gangs*gang)*scale), int(float64(nodes*GPUsOfNode)*mostUsed)))
	if gangs == 1 || gang > pods {
		return 1, min(gang, pods)
	}
	return pods / gang, gang
}

// ParseGangs reads a number of gangs and their size, such as 500x20.
func ParseGangs(text string) (gangs, gang int, err error) {
	left, right, ok := strings.Cut(text, "x")
	if ok {
		gangs, err = strconv.Atoi(left)
	}
	if ok && err == nil {
		gang, err = strconv.Atoi(right)
	}
	if !ok || err != nil || gangs < 1 || gang < 1 {
		return 0, 0, fmt.Errorf("gangs %q: want a number of gangs and their size, such as 500x20", text)
	}
	return gangs, gang, nil
}

// waves are the resources of a load in the order of their deletion: owners first, so that no controller creates a deleted object
// again. Each must be gone before the next, because kube-controller-manager, which collects garbage, may not run.
var waves = [][]schema.GroupVersionResource{
	{{Group: "batch.paddlepaddle.org", Version: "v1", Resource: "paddlejobs"}},
	{{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}},
	{
		{Version: "v1", Resource: "pods"}, {Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"},
		{Version: "v1", Resource: "events"}, {Version: "v1", Resource: "configmaps"}, {Version: "v1", Resource: "services"},
		{Version: "v1", Resource: "secrets"}, {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	},
}

// rootCertificates is what Kubernetes puts into each namespace.
const rootCertificates = "metadata.name!=kube-root-ca.crt"

// Clear removes everything that a load has left, and waits until it is gone.
func Clear(ctx context.Context, p *live.Plane) error {
	for _, wave := range waves {
		for _, kind := range wave {
			if err := remove(ctx, p, kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func remove(ctx context.Context, p *live.Plane, kind schema.GroupVersionResource) error {
	all := p.Dynamic.Resource(kind).Namespace(Namespace)
	options := metav1.ListOptions{}
	if kind.Resource == "configmaps" {
		options.FieldSelector = rootCertificates
	}
	gone := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	err := p.Until(ctx, "all "+kind.Resource+" to be gone", func(ctx context.Context) error {
		if err := all.DeleteCollection(ctx, gone, options); err != nil {
			return err
		}
		ask := options
		ask.Limit = 1
		left, err := all.List(ctx, ask)
		if err == nil && len(left.Items) > 0 {
			err = fmt.Errorf("%s is still there", left.Items[0].GetName())
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the load: %w", err)
	}
	return nil
}
