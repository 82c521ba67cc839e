// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/ptr"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// writesPolicy is what the API server writes down: who writes the status of pods, and events.
const writesPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  verbs: [create, update, patch]
  resources:
  - group: ""
    resources: [pods/status, events]
  - group: events.k8s.io
    resources: [events]
- level: None
`

// waiting is a load of gangs that wait on a busy cluster.
type waiting struct {
	gangs, pods int // that are in each gang
	nodes       int // which hold most of a gang, but not a whole one
	rounds      int // of pods that come and go
	// atLeast is for how long pods come and go; rounds are then as many as it takes.
	atLeast time.Duration
}

// roleLabel makes a pod one of a gang.
const roleLabel = "paddle-res-type"

// small is the load unless everything is tested.
var (
	small = waiting{gangs: 8, pods: 20, nodes: 2, rounds: 4}
	large = waiting{gangs: 8, pods: 500, nodes: 50, rounds: 2, atLeast: 2 * time.Minute}
)

// writes are what a scheduler wrote.
type writes struct{ status, events int }

func (w writes) String() string {
	return fmt.Sprintf("%d writes of pods' status and %d of events", w.status, w.events)
}

// TestGangsThatWaitAreNotWrittenMoreThanByStockVolcano counts, by the API server's audit log, what schedulers write about
// gangs that wait while other pods come and go, so that what is free changes all the time.
func TestGangsThatWaitAreNotWrittenMoreThanByStockVolcano(t *testing.T) {
	load, parallel := small, (*testing.T).Parallel
	if live.All() {
		load, parallel = large, func(*testing.T) {} // the schedulers of 4,000 pods would wait for each other's API server
	}
	var stock, paddle [2]writes
	t.Run("both", func(t *testing.T) {
		t.Run("stock Volcano", func(t *testing.T) {
			parallel(t)
			stock = load.run(t, true)
		})
		t.Run("with the plugin", func(t *testing.T) {
			parallel(t)
			paddle = load.run(t, false)
		})
	})
	if t.Failed() {
		return
	}
	t.Logf("%d gangs of %d pods: stock Volcano %v; with the plugin %v", load.gangs, load.pods, stock, paddle)
	for i, part := range []string{"until each pod was written once", "while other pods came and went"} {
		t.Logf("%s: stock Volcano %v, with the plugin %v", part, stock[i], paddle[i])
	}
	require.GreaterOrEqual(t, paddle[0].status, load.gangs*load.pods, "each pod gets one condition that it waits")
	require.Less(t, paddle[1].status, load.gangs*load.pods, "pods are not written again as amounts change")
	require.LessOrEqual(t, paddle[0].status+paddle[1].status, stock[0].status+stock[1].status, "writes of pods' status")
	if live.All() {
		return // about thousands of pods, a scheduler writes as many events as it has time for: one after the other, and drops the rest
	}
	require.LessOrEqual(t, paddle[0].events+paddle[1].events, stock[0].events+stock[1].events, "writes of events")
}

// run returns the writes of a scheduler until each pod of the gangs was written once, and then while other pods come and go.
func (w waiting) run(t *testing.T, stock bool) (parts [2]writes) {
	t.Helper()
	name := map[bool]string{true: "stock", false: "paddle"}[stock]
	folder, err := filepath.Abs("../../_output/test-gangs-writes-" + name)
	require.NoError(t, err)
	args, log, err := audit.Prepare(folder+"-audit", writesPolicy)
	require.NoError(t, err)
	s, err := sandbox.Start(t.Context(), sandbox.Options{
		StateDir: folder, Progress: os.Stderr, StockScheduler: stock, WithoutController: true,
		Args: map[string][]string{sandbox.APIServer: args},
		Topology: &topology.Topology{
			Shapes: map[string]topology.Shape{"gpu": {CPU: "96", Memory: "1Ti", GPUs: gpusOfNode}},
			Blocks: []topology.Block{{Racks: []topology.Rack{{Nodes: []topology.NodeGroup{{Shape: "gpu", Count: ptr.To(w.nodes)}}}}}},
		},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Stop()) }()
	p, err := live.Connect(s)
	require.NoError(t, err)
	p.NamespaceNamed(t, namespace)
	reader, err := audit.Open(log)
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	count := func() (sum writes) {
		require.NoError(t, reader.Each(func(e *auditv1.Event) {
			switch what := audit.What(e); {
			case !strings.HasSuffix(e.User.Username, ":volcano-scheduler") || audit.Refused(e):
			case strings.HasSuffix(what, " pods/status"):
				sum.status++
			case strings.HasSuffix(what, " events"):
				sum.events++
			}
		}))
		return sum
	}

	w.submit(t, p)
	pods := w.watch(t, p)
	p.Await(t, "each pod to have a condition that it waits", func(context.Context) error {
		all, err := pods.List(labels.Everything())
		if err != nil {
			return err
		}
		if len(all) < w.gangs*w.pods {
			return fmt.Errorf("%d of %d pods are there", len(all), w.gangs*w.pods)
		}
		for _, pod := range all {
			if pod.Spec.NodeName != "" {
				t.Fatalf("pod %s is bound", pod.Name)
			}
			if conditionOf(pod).Status != corev1.ConditionFalse {
				return fmt.Errorf("pod %s has no condition", pod.Name)
			}
		}
		return nil
	})
	parts[0] = count()
	began := time.Now()
	for round := 0; round < w.rounds || time.Since(began) < w.atLeast; round++ {
		w.comeAndGo(t, p, round)
	}
	parts[1] = count()
	return parts
}

// submit creates the gangs, of one GPU for each pod, as pods with PodGroups that have no minResources: these are admitted
// however full the cluster is.
func (w waiting) submit(t *testing.T, p *live.Plane) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(sideBySide)
	for i := range w.gangs {
		name := fmt.Sprintf("gang%d", i)
		_, err := p.Volcano.SchedulingV1beta1().PodGroups(namespace).Create(t.Context(), &vcscheduling.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
			Spec:       vcscheduling.PodGroupSpec{MinMember: int32(w.pods), Queue: "default"},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		for m := range w.pods {
			group.Go(func() error {
				pod := podOf(fmt.Sprintf("%s-worker-%d", name, m), 1)
				pod.Labels = map[string]string{roleLabel: "worker"}
				pod.Annotations = map[string]string{vcscheduling.KubeGroupNameAnnotationKey: name}
				_, err := p.Kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
				return err
			})
		}
	}
	require.NoError(t, group.Wait())
}

// watch returns the pods of the gangs, as they change. To list thousands again and again would take the schedulers' time.
func (w waiting) watch(t *testing.T, p *live.Plane) corelisters.PodLister {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(p.Kube, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = roleLabel }))
	lister := factory.Core().V1().Pods().Lister()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	return lister
}

// comeAndGo runs some pods to their end, which are not Paddle's, and removes them.
func (w waiting) comeAndGo(t *testing.T, p *live.Plane, round int) {
	t.Helper()
	pods := p.Kube.CoreV1().Pods(namespace)
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	var names []string
	for i := range w.nodes {
		pod := podOf(fmt.Sprintf("other-%d-%d", round, i), 1+(round+i)%3)
		pod.Annotations = map[string]string{stages.AnnotationRunFor: fmt.Sprintf("%ds", 1+i%2)}
		_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
		names = append(names, pod.Name)
	}
	for _, name := range names {
		p.Await(t, name+" to end", func(ctx context.Context) error {
			pod, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err == nil && pod.Status.Phase != corev1.PodSucceeded {
				err = fmt.Errorf("pod %s is %s", name, pod.Status.Phase)
			}
			return err
		})
		require.NoError(t, pods.Delete(t.Context(), name, now))
	}
}

func podOf(name string, gpus int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: corev1.PodSpec{
			SchedulerName: "volcano", RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "paddle", Image: "paddle", Resources: asks(1, gpus)}},
		},
	}
}
