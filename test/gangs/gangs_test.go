// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// sideBySide is how many requests are made at a time.
const sideBySide = 16

// Some jobs are too wide for a rack, which they may not leave: their pods wait from the beginning to the end.
func TestGangsAreBoundWhole(t *testing.T) {
	all := mixed(mix(t))
	p := startPlane(t)
	r := newRecorder()
	r.follow(t, p)
	p.submit(t, all)
	r.await(t, p, "each gang to be bound or to say why it waits", func() error { return r.settled(all) })
	s := r.summary(t, p, all)
	require.NotEmpty(t, s.waiting, "the cluster has capacity for all of them")
	for !r.releaseWhole(t, p, all) {
	}
	// A session writes conditions when it closes, after its pods were bound.
	r.await(t, p, "each gang to be reported as scheduled", func() error { return r.scheduled(all) })
	r.mu.Lock()
	defer r.mu.Unlock()
	s.finish(r, all)
	s.judge(t, p)
}

// submit creates the jobs as fast as the API server takes them.
func (p *plane) submit(t *testing.T, all []job) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(sideBySide)
	for _, j := range all {
		group.Go(func() (err error) {
			if j.paddle != nil {
				_, err = p.Paddle.BatchV1().PaddleJobs(namespace).Create(ctx, j.paddle, metav1.CreateOptions{})
			} else {
				_, err = p.Volcano.BatchV1alpha1().Jobs(namespace).Create(ctx, j.raw, metav1.CreateOptions{})
			}
			if err != nil {
				return fmt.Errorf("submit a job %s: %w", j.kind.name, err)
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

// settled returns an error with the gangs that are neither bound nor have a reason why they wait, and with their pods that have no
// condition yet, which Volcano writes after that of the PodGroup. Transient reasons do not count.
func (r *recorder) settled(all []job) error {
	byJob := r.byJob()
	var errs []error
	silent := map[string]string{}
	for _, pod := range r.pods {
		if pod.node == "" && pod.refused == "" {
			silent[pod.gang] = max(silent[pod.gang], pod.name)
		}
	}
	for _, j := range all {
		g := byJob[j.name]
		switch {
		case g == nil:
			errs = append(errs, fmt.Errorf("job %s of kind %s has no PodGroup", j.name, j.kind.name))
		case g.isWhole():
		case len(g.bindings) > 0:
			errs = append(errs, fmt.Errorf("%s of kind %s is partly bound: %d of %d", g, j.kind.name, len(g.bindings), g.members))
		case !j.kind.others && !g.saysWhy():
			errs = append(errs, fmt.Errorf("%s of kind %s waits and does not say why: its condition is %v %q", g, j.kind.name, g.placed, g.why))
		case !j.kind.others && silent[g.name] != "":
			errs = append(errs, fmt.Errorf("%s of kind %s waits, and its pod %s has no condition", g, j.kind.name, silent[g.name]))
		}
	}
	return few(errs)
}

// scheduled returns an error that names the gangs of which no session has reported that it scheduled them.
func (r *recorder) scheduled(all []job) error {
	byJob := r.byJob()
	var errs []error
	for _, j := range all {
		if g := byJob[j.name]; !j.kind.tooWide && g.session == 0 {
			errs = append(errs, fmt.Errorf("%s of kind %s is bound and not reported as scheduled", g, j.kind.name))
		}
	}
	return few(errs)
}

// saysWhy reports whether the condition gives a reason to wait, and words. The reasons left out are those of gangs whose turn
// has not come yet.
func (g *gang) saysWhy() bool {
	return !g.placed && g.why[1] != "" &&
		!slices.Contains([]string{"", "WaitingToBeEnqueued", "WaitingForPods", "AssignmentOutdated", "TerminatingPods"}, g.why[0])
}

func (r *recorder) byJob() map[string]*gang {
	byJob := map[string]*gang{}
	for _, g := range r.list() {
		byJob[g.job] = g
	}
	return byJob
}

// releaseWhole waits until a gang is whole whose workers still run forever, lets them end, and reports whether all gangs
// that can be were whole and are released. Servers are stopped by the job's end.
func (r *recorder) releaseWhole(t *testing.T, p *plane, all []job) bool {
	t.Helper()
	var names []string
	done := false
	r.await(t, p, "each gang to be bound", func() error {
		var errs []error
		byJob := r.byJob()
		for _, j := range all {
			g := byJob[j.name]
			switch {
			case j.kind.tooWide && g.why[0] != "TopologyConstraint":
				errs = append(errs, fmt.Errorf("%s of kind %s does not say what limits it: %q", g, j.kind.name, g.why))
			case !j.kind.tooWide && !g.isWhole():
				errs = append(errs, fmt.Errorf("%s of kind %s has %d of %d pods bound; %q", g, j.kind.name, len(g.bindings), g.members, g.why))
			}
		}
		for _, pod := range r.pods {
			if isWorker(pod.task) && pod.node != "" && !pod.released && r.gangs[pod.gang].isWhole() {
				pod.released = true
				names = append(names, pod.name)
			}
		}
		done = len(errs) == 0 && len(names) == 0
		if done || len(names) > 0 {
			return nil
		}
		return few(errs)
	})
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(sideBySide)
	for _, name := range names {
		group.Go(func() error {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"1s"}}}`, stages.AnnotationRunFor)
			_, err := p.Kube.CoreV1().Pods(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
	}
	require.NoError(t, group.Wait())
	return done
}

// isWorker reports whether the end of a task's pods ends the job.
func isWorker(task string) bool { return task == "worker" || task == "trainer" || task == "main" }

func (g *gang) isWhole() bool {
	_, whole := g.whole()
	return whole
}

const (
	namespace    = "gangs"
	racksInBlock = 5
	nodesInRack  = 10
	gpusOfNode   = 8
)

// parts is by how much the 10 blocks and 200 jobs are divided: by 5, unless everything is tested.
func parts() int {
	if live.All() {
		return 1
	}
	return 5
}

func blocks() int { return 10 / parts() }

// cluster has 500 nodes of 8 GPUs, or a fifth of them.
//
//	                      cluster
//	      block-0                          ...  block-9
//	rack-0       ...  rack-4               ...  rack-45 ...  rack-49
//	10 x 8 GPUs       10 x 8 GPUs               10 x 8 GPUs  10 x 8 GPUs
func cluster() *topology.Topology {
	return &topology.Topology{
		Shapes: map[string]topology.Shape{"gpu": {CPU: "96", Memory: "1Ti", GPUs: gpusOfNode, Product: "NVIDIA-A100-SXM4-80GB"}},
		Blocks: []topology.Block{{Count: ptr.To(blocks()), Racks: []topology.Rack{{
			Count: ptr.To(racksInBlock), Nodes: []topology.NodeGroup{{Shape: "gpu", Count: ptr.To(nodesInRack)}},
		}}}},
	}
}

// plane is a sandbox with its nodes.
type plane struct {
	*live.Plane
	nodes []corev1.Node
}

func startPlane(t *testing.T) *plane {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Options{
		StateDir: "../../_output/test-gangs", Progress: os.Stderr, Topology: cluster(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	connected, err := live.Connect(s)
	require.NoError(t, err)
	nodes, err := connected.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, nodes.Items, blocks()*racksInBlock*nodesInRack)
	connected.NamespaceNamed(t, namespace)
	return &plane{Plane: connected, nodes: nodes.Items}
}
