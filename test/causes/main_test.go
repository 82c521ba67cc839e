// SPDX-License-Identifier: Apache-2.0

package causes_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

var (
	// cluster is the sandbox that all tests of this package share.
	cluster *live.Plane
	// kubectl is the machine's.
	kubectl string
)

// configuration is the chart's, with hierarchical queues, the quotas of namespaces and dynamic resource allocation.
const configuration = `actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: paddle
    arguments:
      topology-labels: "network.topology.nvidia.com/block, network.topology.nvidia.com/spine"
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
    arguments:
      predicate.DynamicResourceAllocationEnable: true
  - name: capacity
    enableHierarchy: true
  - name: resourcequota
  - name: nodeorder
  - name: binpack
`

func TestMain(m *testing.M) {
	var err error
	if kubectl, err = exec.LookPath("kubectl"); err != nil {
		os.Exit(m.Run()) // without a cluster: each test that needs one skips
	}
	simulated, err := topology.Parse(nodes())
	if err != nil {
		panic(err)
	}
	live.SideBySide(8)
	os.Exit(live.Main(m, sandbox.Options{
		StateDir: "../../_output/test-causes", Progress: os.Stderr, Topology: simulated, SchedulerConf: configuration,
		ControllerArgs: []string{"--leader-elect=false", "-v=3"},
	}, func(p *live.Plane) error { cluster = p; return nil }))
}

func requireKubectl(t *testing.T) {
	t.Helper()
	if kubectl == "" {
		t.Skip("kubectl is not in PATH, with which these tests make objects and follow remedies: `make kubectl` builds _output/bin/kubectl")
	}
}

// nodes returns a rack of two nodes for each cause, labelled with its name, and spare nodes without the label.
func nodes() []byte {
	var text strings.Builder
	text.WriteString("shapes:\n  node: {cpu: 4, memory: 16Gi}\n  small: {cpu: 4, memory: 16Gi, pods: 1}\nblocks:\n- racks:\n")
	for _, c := range append([]cause{table().WithoutPods, table().Overused}, table().Causes...) {
		shape := cmp.Or(c.Shape, "node")
		if c.Apart {
			for _, rack := range []string{"-a", "-b"} {
				fmt.Fprintf(&text, "  - name: %s%s\n    nodes: [{shape: %s, labels: {cause: %s}}]\n", c.Name, rack, shape, c.Name)
			}
			continue
		}
		fmt.Fprintf(&text, "  - name: %s\n    nodes: [{shape: %s, count: 2, labels: {cause: %s}}]\n", c.Name, shape, c.Name)
	}
	fmt.Fprintf(&text, "  - name: spare\n    nodes: [{shape: node, count: %d}]\n", spare)
	return []byte(text.String())
}

// nodeCount returns how many nodes there are. Each has 4 CPUs and 16 GiB.
func nodeCount() int { return 2*len(table().Causes) + 2*2 + spare }

const spare = 4

// user types in one namespace.
type user string

// kubectl runs kubectl with some input, and returns what it prints.
func (u user) kubectl(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, kubectl, append([]string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", string(u)}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// paddle runs kubectl paddle, and returns what it prints.
func (u user) paddle(ctx context.Context, input string, args ...string) (string, error) {
	var out, errOut bytes.Buffer
	args = append([]string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", string(u)}, args...)
	if code := command.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(input), Out: &out, ErrOut: &errOut}); code != 0 {
		return "", fmt.Errorf("kubectl paddle %s: %s", strings.Join(args, " "), errOut.String())
	}
	return out.String(), nil
}
