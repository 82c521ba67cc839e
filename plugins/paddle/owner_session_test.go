// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// workload is the PodGroup that Volcano makes for the pods of an owner, and n of the pods, which are of no task.
func workload(kind schema.GroupVersionKind, name string, n int, requests resources) (*scheduling.PodGroup, []*corev1.Pod) {
	group := podGroup(name, 1, nil)
	group.OwnerReferences = ownedBy(kind, name)
	return group, each(plainPods(name, "pod", n, requests), func(pod *corev1.Pod) {
		pod.OwnerReferences = ownedBy(kind, name)
		delete(pod.Annotations, batch.TaskSpecKey)
		delete(pod.Annotations, batch.TaskIndex)
	})
}

// A service runs with as many pods as there is capacity for, also with variables of Paddle.
func TestServicesAreNoGangs(t *testing.T) {
	for _, name := range []string{"PADDLE_SERVING_PORT", "PADDLE_PDX_MODEL_SOURCE", "PADDLE_TRAINER_ID"} {
		t.Run(name, func(t *testing.T) {
			inEveryPlacement(t, func(t *testing.T, configuration string) {
				group, replicas := workload(kindReplicaSet, "serving", 5, oneCPU)
				c := newCluster(t, configuration, group, withEnv(replicas, name, "1"))
				for i := range 4 { // ni: [serving]
					c.add(node(fmt.Sprintf("n%d", i+1), resources{"cpu": "1", "memory": "1Gi"}))
				}
				c.session()
				require.Len(t, c.bound(), 4)
				c.run()
				c.add(node("n5", resources{"cpu": "1", "memory": "1Gi"}))
				c.session()
				require.Len(t, c.bound(), 5)
			})
		})
	}
}

// Tasks without a declared minimum need all of their pods where the owner makes just those that the job needs.
func TestUndeclaredMinimumsByOwner(t *testing.T) {
	all := []string{"job-ps-0", "job-worker-0", "job-worker-1", "job-worker-2"}
	for name, test := range map[string]struct {
		kind  schema.GroupVersionKind
		bound []string
	}{
		"paddle-operator":      {kindPaddleJob, nil},
		"a Volcano Job":        {kindVolcanoJob, nil},
		"Kubeflow's PaddleJob": {kindKubeflowPaddleJob, all},
		"a user":               {schema.GroupVersionKind{}, all},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryPlacement(t, func(t *testing.T, configuration string) {
				group := podGroup("job", 4, nil)
				if group.OwnerReferences = nil; test.kind.Kind != "" {
					group.OwnerReferences = ownedBy(test.kind, "job")
				}
				// n1: [ps] worker worker worker: minMember is reached, but a server is missing
				c := newCluster(t, configuration, group,
					withLabel(plainPods("job", "ps", 2, oneCPU), paddlejob.ResourceTypeLabel, "ps"),
					withLabel(plainPods("job", "worker", 3, nothing), paddlejob.ResourceTypeLabel, "worker"),
					node("n1", resources{"cpu": "1", "memory": "8Gi"}))
				c.sessions(3, test.bound...)
			})
		})
	}
}

// addMarks gives a workload marks of Paddle: labels, annotations and variables, some or all of them.
func addMarks(r *rand.Rand, group *scheduling.PodGroup, pods []*corev1.Pod) {
	some := func(marks ...func(*corev1.Pod)) {
		for _, mark := range marks {
			if r.IntN(2) == 0 {
				each(pods, mark)
			}
		}
	}
	some(label(paddlejob.JobNameLabel, "job"), label(paddlejob.ResourceTypeLabel, "worker"), label(paddlejob.CtrServerLabel, "ctr"), label(paddlejob.CtrWorkerLabel, "ctr"),
		annotation(paddlejob.ResourceAnnotation, "ps"), variable("TRAINING_ROLE", "TRAINER"), variable("PADDLE_TRAINING_ROLE", "PSERVER"),
		variable("PADDLE_TRAINER_ENDPOINTS", "a:1"), variable("PADDLE_PSERVERS_IP_PORT_LIST", "a:1"), variable("PADDLE_SERVING_PORT", "1"))
	if r.IntN(2) == 0 {
		group.Labels = map[string]string{paddlejob.JobNameLabel: "job"}
	}
}

// The workloads of others are bound, and evicted, exactly as without the plugin, also with marks of Paddle: when they come,
// when they grow, when they are replaced by and by, and when others with a higher priority need their capacity.
func TestWorkloadsOfOthersAreLeftAlone(t *testing.T) {
	kinds := []schema.GroupVersionKind{kindReplicaSet, kindStatefulSet, kindKubernetesJob, kindPod, kindPyTorchJob, kindLeaderWorkerSet}
	// Each workload runs on one node: which of two equal nodes Volcano takes is left to chance.
	life := func(t *testing.T, configuration string, seed uint64) (history []string) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := newPriorities(t, configuration)
		for _, name := range []string{"n0", "n1", "n2"} {
			c.add(node(name, resources{"cpu": strconv.Itoa(2 + r.IntN(5)), "memory": "64Gi"}))
		}
		age := int64(0)
		create := func(kind schema.GroupVersionKind, name, class, at string, n int) {
			age++
			group, pods := workload(kind, name, n, oneCPU)
			if kind == kindPyTorchJob {
				group.Spec.MinMember = int32(n)
			}
			addMarks(r, group, pods)
			c.add(ranked(group, class, age), each(pods, func(pod *corev1.Pod) {
				pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: at}
			}))
		}
		cycles := func(n int) {
			for range n {
				c.session()
				nodes := c.nodes()
				for _, pod := range slices.Sorted(maps.Keys(nodes)) {
					history = append(history, pod+" on "+nodes[pod])
				}
				history = append(history, "evicted: "+strings.Join(c.evicted(), " "))
				c.end()
				c.run()
			}
		}
		at := func() string { return fmt.Sprintf("n%d", r.IntN(3)) }

		sizes, homes := map[string]int{}, map[string]string{}
		for i, kind := range kinds {
			name := fmt.Sprintf("w%d", i)
			sizes[name], homes[name] = 1+r.IntN(4), at()
			if kind == kindPod {
				sizes[name] = 1
			}
			create(kind, name, []string{"low", "middle"}[r.IntN(2)], homes[name], sizes[name])
		}
		cycles(2)
		for i, kind := range kinds { // more replicas
			if name := fmt.Sprintf("w%d", i); kind != kindPod && r.IntN(2) == 0 {
				_, more := workload(kind, name, sizes[name]+2, oneCPU)
				c.add(each(more[sizes[name]:], func(pod *corev1.Pod) {
					pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: homes[name]}
					variable("TRAINING_ROLE", "TRAINER")(pod)
				}))
			}
		}
		cycles(2)
		create(kindReplicaSet, "w0new", "low", homes["w0"], sizes["w0"])
		for i := range sizes["w0"] { // a rolling update
			cycles(1)
			if name := fmt.Sprintf("w0-pod-%d", i); slices.Contains(c.bound(), name) {
				c.remove(name)
			}
		}
		cycles(2)
		create(kinds[r.IntN(3)], "urgent", "high", at(), 1+r.IntN(3))
		cycles(4)
		return history
	}
	for seed := range uint64(12) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			without := life(t, configuration(actionsPreempt, tier(1, "", ""), tier(2, "", "")), seed)
			placements := evictingPlacements(actionsPreempt)
			for _, name := range slices.Sorted(maps.Keys(placements)) {
				if name != "without gang" { // then Volcano's own answer is another
					require.Equal(t, without, life(t, placements[name], seed), name)
				}
			}
		})
	}
}
