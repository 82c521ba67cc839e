// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// rows is a resourceView whose nodes are n0 to n9, and on which a pod takes its CPUs.
type rows struct{}

// Node implements resourceView.
func (rows) Node(name string) (placement.NodeID, bool) {
	if len(name) != 2 || name[0] != 'n' {
		return 0, false
	}
	return placement.NodeID(name[1] - '0'), true
}

// Request implements resourceView.
func (rows) Request(task *api.TaskInfo) []int64 {
	return []int64{int64(max(task.InitResreq.MilliCPU, task.Resreq.MilliCPU)) / 1000}
}

// podsOf returns n pods j-{task}-{i} of a task of a Volcano Job, with 2 CPUs each.
func podsOf(task string, n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		pods[i] = util.BuildPod("ns", fmt.Sprintf("j-%s-%d", task, i), "", corev1.PodPending, requests, "j", nil, nil)
		pods[i].Annotations[batch.TaskSpecKey] = task
		pods[i].Annotations[paddlejob.TaskIndexKey] = strconv.Itoa(i)
	}
	return pods
}

// demandOf returns the demand of a job of so many pods of each task; change may change each.
func demandOf(t *testing.T, minimums map[string]int32, tasks map[string]int, change func(*corev1.Pod, *api.TaskInfo)) *gangDemand {
	t.Helper()
	job := api.NewJobInfo("ns/j")
	job.PodGroup = &api.PodGroup{PodGroup: scheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "j"}, batch.SchemeGroupVersion.WithKind("Job")),
	}}}}
	for name, n := range tasks {
		for _, pod := range podsOf(name, n) {
			task := api.NewTaskInfo(pod)
			change(pod, task)
			job.AddTaskInfo(task)
		}
	}
	for name, minimum := range minimums {
		if tasks[name] > 0 {
			job.TaskMinAvailable[name] = minimum
		}
	}
	nominated := map[api.TaskID]placement.NodeID{}
	for _, task := range job.Tasks {
		if id, ok := (rows{}).Node(task.Pod.Status.NominatedNodeName); ok {
			nominated[task.UID] = id
		}
	}
	roles := paddlejob.NewRoleMap([]string{"ps"}, []string{"worker"}, []string{"heter"})
	return newDemand(job, paddlejob.NewGang(job, roles), paddlejob.Spec{}, rows{}, func(*api.TaskInfo) bool { return true }, nominated)
}

func TestNewDemand(t *testing.T) {
	unchanged := func(*corev1.Pod, *api.TaskInfo) {}
	set := func(name string, status api.TaskStatus, node string) func(*corev1.Pod, *api.TaskInfo) {
		return func(_ *corev1.Pod, task *api.TaskInfo) {
			if task.Name == name {
				task.Status, task.NodeName = status, node
			}
		}
	}
	two := map[string]int{"ps": 2, "worker": 3}
	servers := placement.Role{Name: "server", CommRole: placement.Server, Request: []int64{2}, Pending: []int{0, 1}, Minimum: 2}
	workers := placement.Role{Name: "worker", CommRole: placement.Worker, Request: []int64{2}, Pending: []int{0, 1, 2}, Minimum: 1}
	minimums := map[string]int32{"ps": 2, "worker": 1}
	for _, test := range []struct {
		name    string
		tasks   map[string]int
		change  func(*corev1.Pod, *api.TaskInfo)
		pattern placement.Pattern
		roles   []placement.Role
		exact   bool
		claims  []placement.Claim
	}{
		{"servers and workers", two, unchanged, placement.ParameterServer, []placement.Role{servers, workers}, true, nil},
		{"workers only", map[string]int{"worker": 3}, unchanged, placement.Collective, []placement.Role{workers}, true, nil},
		{"one pod", map[string]int{"worker": 1}, unchanged, placement.Single, []placement.Role{
			{Name: "worker", CommRole: placement.Worker, Request: []int64{2}, Pending: []int{0}, Minimum: 1},
		}, true, nil},
		{"heter workers", map[string]int{"ps": 2, "heter": 1}, unchanged, placement.Pipeline, []placement.Role{
			servers, {Name: "heter worker", CommRole: placement.PipelineWorker, Stage: 1, Request: []int64{2}, Pending: []int{0}, Minimum: 1},
		}, true, nil},
		{"a worker runs", two, set("j-worker-1", api.Running, "n3"), placement.ParameterServer, []placement.Role{servers, {
			Name: "worker", CommRole: placement.Worker, Request: []int64{2}, Pending: []int{0, 2}, Minimum: 1,
			Placed: []placement.Placed{{Index: 1, Node: 3}},
		}}, true, nil},
		{"a worker waits for pods that are ending", two, set("j-worker-1", api.Pipelined, "n3"), placement.ParameterServer, []placement.Role{servers, {
			Name: "worker", CommRole: placement.Worker, Request: []int64{2}, Pending: []int{0, 2}, Minimum: 1,
			Placed: []placement.Placed{{Index: 1, Node: 3}},
		}}, true, nil},
		{"a worker runs on a node that is not ready", two, set("j-worker-1", api.Running, "gone"), placement.ParameterServer, []placement.Role{servers, {
			Name: "worker", CommRole: placement.Worker, Request: []int64{2}, Pending: []int{0, 2}, Minimum: 0,
		}}, true, nil},
		{"a worker has succeeded", two, set("j-worker-1", api.Succeeded, "n3"), placement.ParameterServer, []placement.Role{servers, {
			Name: "worker", CommRole: placement.Worker, Request: []int64{2}, Pending: []int{0, 2}, Minimum: 0,
		}}, true, nil},
		{"a server is gated", two, func(_ *corev1.Pod, task *api.TaskInfo) { task.SchGated = task.Name == "j-ps-0" }, placement.ParameterServer,
			[]placement.Role{{Name: "server", CommRole: placement.Server, Request: []int64{2}, Pending: []int{1}, Minimum: 1}, workers}, true, nil},
		{"preemption has nominated a server", two, func(pod *corev1.Pod, _ *api.TaskInfo) {
			if pod.Name == "j-ps-0" {
				pod.Status.NominatedNodeName = "n4"
			}
		}, placement.ParameterServer, []placement.Role{{
			Name: "server", CommRole: placement.Server, Request: []int64{2}, Pending: []int{1}, Minimum: 2, Placed: []placement.Placed{{Index: 0, Node: 4}},
		}, workers}, true, []placement.Claim{{Node: 4, Amounts: []int64{2}}}},
		{"preemption has nominated all servers", two, func(pod *corev1.Pod, task *api.TaskInfo) {
			if task.TaskRole == "ps" {
				pod.Status.NominatedNodeName = "n4"
			}
		}, placement.ParameterServer, []placement.Role{{
			Name: "server", CommRole: placement.Server, Request: []int64{2}, Minimum: 2, Placed: []placement.Placed{{Index: 0, Node: 4}, {Index: 1, Node: 4}},
		}, workers}, true, []placement.Claim{{Node: 4, Amounts: []int64{2}}, {Node: 4, Amounts: []int64{2}}}},
		{"workers of two sizes", two, func(_ *corev1.Pod, task *api.TaskInfo) {
			if task.Name == "j-worker-2" {
				task.Resreq.MilliCPU, task.InitResreq.MilliCPU = 5000, 5000
			}
		}, placement.ParameterServer, []placement.Role{servers, {
			Name: "worker", CommRole: placement.Worker, Request: []int64{5}, Pending: []int{0, 1, 2}, Minimum: 1,
		}}, false, nil},
		{"servers that take more to start", two, func(_ *corev1.Pod, task *api.TaskInfo) {
			if task.TaskRole == "ps" {
				task.InitResreq = task.InitResreq.Clone()
				task.InitResreq.MilliCPU = 3000
			}
		}, placement.ParameterServer, []placement.Role{
			{Name: "server", CommRole: placement.Server, Request: []int64{3}, Pending: []int{0, 1}, Minimum: 2}, workers,
		}, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := demandOf(t, minimums, test.tasks, test.change)
			require.Equal(t, test.pattern, d.Pattern)
			require.Equal(t, test.roles, d.Roles)
			require.Equal(t, test.exact, d.exact)
			require.Equal(t, test.claims, d.claimed)
			for r, role := range d.Roles {
				require.Len(t, d.pending[r], len(role.Pending))
			}
		})
	}
}

// Pods that have no index, or one index twice, are numbered by their names.
func TestIndexesOfPods(t *testing.T) {
	tasks := func(indexes ...string) []*api.TaskInfo {
		var all []*api.TaskInfo
		for i, pod := range podsOf("worker", len(indexes)) {
			pod.Annotations[paddlejob.TaskIndexKey] = indexes[i]
			all = append(all, api.NewTaskInfo(pod))
		}
		return all
	}
	require.Equal(t, []int{0, 2, 7}, indexesOf(tasks("0", "2", "7")))
	require.Equal(t, []int{0, 1, 2}, indexesOf(tasks("", "2", "7")))
	require.Equal(t, []int{0, 1, 2}, indexesOf(tasks("0", "2", "2")))
	require.Equal(t, []int{0}, indexesOf(tasks("x")))
}

// minMember counts pods of any role: workers make up for what the roles' minimums leave of it, and then others.
func TestMinimumsAreRaisedToMinMember(t *testing.T) {
	for _, test := range []struct {
		minMember int
		want      [2]int
		exact     bool
	}{
		{0, [2]int{2, 1}, true},
		{3, [2]int{2, 1}, true},
		{4, [2]int{2, 2}, true},
		{5, [2]int{2, 3}, true},
		{6, [2]int{2, 3}, true}, // there are no more
	} {
		d := demandOf(t, map[string]int32{"ps": 2, "worker": 1}, map[string]int{"ps": 2, "worker": 3}, func(*corev1.Pod, *api.TaskInfo) {})
		d.raiseMinimums(test.minMember)
		require.Equal(t, test.want, [2]int{d.Roles[0].Minimum, d.Roles[1].Minimum}, "minMember %d", test.minMember)
		require.Equal(t, test.exact, d.exact)
	}
	for minMember, want := range map[int][2]int{4: {1, 3}, 5: {2, 3}} {
		d := demandOf(t, map[string]int32{"ps": 1, "worker": 1}, map[string]int{"ps": 2, "worker": 3}, func(*corev1.Pod, *api.TaskInfo) {})
		d.raiseMinimums(minMember)
		require.Equal(t, want, [2]int{d.Roles[0].Minimum, d.Roles[1].Minimum})
		require.Equal(t, minMember == 5, d.exact, "with 4, a server might fit where a worker does not; with 5, each pod must")
	}
}
