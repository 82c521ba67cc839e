// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

const configuration = `actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: paddle
    arguments: {topology-labels: "rack, block"}
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
`

var (
	now  = metav1.NewTime(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	gpus = func(n int64) corev1.ResourceList {
		return corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(n, resource.DecimalSI)}
	}
)

// taken is a snapshot of lines "block/rack: node=free/GPUs ...": what is not free is held by a pod of another scheduler.
func taken(lines ...string) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Time: now, SchedulerConfiguration: configuration, Queues: []*vcscheduling.Queue{queue("default")}}
	for _, line := range lines {
		path, nodes, _ := strings.Cut(line, ": ")
		block, rack, _ := strings.Cut(path, "/")
		for _, text := range strings.Fields(nodes) {
			var free, all int64
			name, amounts, _ := strings.Cut(text, "=")
			if _, err := fmt.Sscanf(amounts, "%d/%d", &free, &all); err != nil {
				panic(err)
			}
			list := gpus(all)
			list[corev1.ResourcePods], list[corev1.ResourceCPU] = resource.MustParse("110"), resource.MustParse("64")
			s.Nodes = append(s.Nodes, &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"rack": rack, "block": block, corev1.LabelHostname: name}},
				Status: corev1.NodeStatus{Capacity: list, Allocatable: list, Conditions: []corev1.NodeCondition{
					{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
				}},
			})
			if free < all {
				s.Pods = append(s.Pods, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: "other-" + name, Namespace: "other", UID: types.UID("other-" + name)},
					Spec: corev1.PodSpec{NodeName: name, SchedulerName: "default-scheduler", Containers: []corev1.Container{
						{Resources: corev1.ResourceRequirements{Requests: gpus(all - free)}},
					}},
					Status: corev1.PodStatus{Phase: corev1.PodRunning},
				})
			}
		}
	}
	return snapshot.New(s)
}

func queue(name string) *vcscheduling.Queue {
	return &vcscheduling.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: vcscheduling.QueueSpec{Weight: 1},
		Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen},
	}
}

// ring is a job of workers with GPUs, which are given as limits as most users do.
func ring(name string, workers int, each int64) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team"}}
	job.Spec.Worker = &v1.ResourceSpec{Replicas: int32(workers), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "paddle", Image: "paddle", Resources: corev1.ResourceRequirements{Limits: gpus(each)}},
	}}}}
	return job
}

// waits puts a job that was submitted a minute before into a snapshot, whose queue has not admitted it yet.
func waits(s *snapshot.Snapshot, job *v1.PaddleJob) {
	job.UID = types.UID(job.Name)
	made, _ := builder.Job(job, builder.PodGroupOverrides{}, builder.Config{})
	made.UID = types.UID(job.Name)
	made.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
	group := builder.PodGroup(made)
	group.UID, group.CreationTimestamp, group.Status.Phase = made.UID, made.CreationTimestamp, vcscheduling.PodGroupPending
	s.Jobs, s.PodGroups = append(s.Jobs, made), append(s.PodGroups, group)
	*s = *snapshot.New(s)
}

// places are the places of a plan's workers: "b1/r1: n1 x2".
func places(p *plan.Plan) (lines []string) {
	for _, role := range p.Roles {
		for _, place := range role.Places {
			lines = append(lines, fmt.Sprintf("%s %s: %s x%d", role.Name, place.Domain, place.Node, place.Pods))
		}
	}
	return lines
}

func answer(t *testing.T, q *plan.Question) *plan.Plan {
	t.Helper()
	p, err := Answer(q)
	require.NoError(t, err)
	return p
}

// cluster6 has two blocks, and so many free GPUs on each node.
//
//	           b1                     b2
//	    r1            r2              r3
//	 n1     n2      n3     n4       n5     n6
//	2/8    2/8     4/8    4/8      0/8    0/8
func cluster6() *snapshot.Snapshot {
	return taken("b1/r1: n1=2/8 n2=2/8", "b1/r2: n3=4/8 n4=4/8", "b2/r3: n5=0/8 n6=0/8")
}

func TestPlaces(t *testing.T) {
	for name, test := range map[string]struct {
		job    *v1.PaddleJob
		places []string
		now    []float64 // between nodes, racks, blocks
		best   []float64
	}{
		"one node holds it":       {ring("j", 2, 2), []string{"worker b1/r2: n3 x2"}, []float64{0, 0, 0}, []float64{0, 0, 0}},
		"one rack holds it":       {ring("j", 4, 2), []string{"worker b1/r2: n3 x2", "worker b1/r2: n4 x2"}, []float64{3.5, 0, 0}, []float64{0, 0, 0}},
		"not enough resources":    {ring("j", 3, 4), nil, nil, nil},
		"the tightest node holds": {ring("j", 1, 2), []string{"worker b1/r1: n1 x1"}, []float64{0, 0, 0}, []float64{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			p := answer(t, &plan.Question{Snapshot: cluster6(), Job: test.job})
			require.Equal(t, test.places != nil, p.Fits)
			require.Equal(t, test.places, places(p))
			require.True(t, p.Empty.Fits)
			if !p.Fits {
				require.Contains(t, p.Why[0].Text, "1 of 3 workers does not fit")
				require.Contains(t, p.Empty.Where, "3 workers are on 2 nodes")
				return
			}
			for i, tier := range []string{"node", "rack", "block"} {
				require.Equal(t, tier, p.Traffic[i].Tier)
				require.InDelta(t, test.now[i], p.Traffic[i].Now, 0)
				require.InDelta(t, test.best[i], *p.Traffic[i].Best, 0)
			}
			require.Len(t, p.Traffic, 3)
		})
	}
}

func TestPlanIsDeterministic(t *testing.T) {
	run := func(turn bool) *plan.Plan {
		s := cluster6()
		if turn {
			slices.Reverse(s.Nodes)
			slices.Reverse(s.Pods)
		}
		waits(s, ring("older", 2, 1))
		return answer(t, &plan.Question{Snapshot: s, Job: ring("j", 4, 2)})
	}
	first := run(false)
	for i := range 4 {
		require.Equal(t, first, run(i%2 == 0))
	}
}

func TestPendingJobsComeFirst(t *testing.T) {
	s := cluster6()
	waits(s, ring("older", 4, 2))
	p := answer(t, &plan.Question{Snapshot: s, Job: ring("j", 4, 2)})
	require.False(t, p.Fits)
	require.Equal(t, []plan.Gang{{Namespace: "team", Name: "older", Pods: 4}}, p.First)
	require.True(t, p.Blocked)

	p = answer(t, &plan.Question{Snapshot: s, Namespace: "team", Name: "older"})
	require.True(t, p.Fits)
	require.Empty(t, p.First)
	require.Equal(t, []string{"worker b1/r2: n3 x2", "worker b1/r2: n4 x2"}, places(p))
	_, err := Answer(&plan.Question{Snapshot: s, Namespace: "team", Name: "none"})
	require.Equal(t, plan.NotFound, codeOf(t, err))
}

func codeOf(t *testing.T, err error) int {
	t.Helper()
	var coded *plan.ExitError
	require.ErrorAs(t, err, &coded)
	return coded.Code
}

func TestMoreAndFewerNodes(t *testing.T) {
	s, big := cluster6(), ring("big", 2, 8)
	require.False(t, answer(t, &plan.Question{Snapshot: s, Job: big}).Fits)
	p := answer(t, &plan.Question{Snapshot: s, Job: big, AddNodes: 2, Like: "n5"})
	require.Equal(t, []string{"worker b2/r3: n5-added-1 x1", "worker b2/r3: n5-added-2 x1"}, places(p))
	require.Contains(t, p.Notes, "2 nodes are added, copies of n5 with the same place in the network")
	require.Equal(t, []string{"worker b1/r1: n1-added-1 x1", "worker b1/r1: n1-added-2 x1"}, places(answer(t, &plan.Question{Snapshot: s, Job: big, AddNodes: 2})))
	require.Len(t, s.Nodes, 6, "a question must not change the snapshot")

	p = answer(t, &plan.Question{Snapshot: s, Job: ring("j", 2, 2), Without: []string{"n3"}})
	require.Equal(t, []string{"worker b1/r2: n4 x2"}, places(p))
	require.Equal(t, []plan.Gang{{Namespace: "other", Name: "other-n3", Pods: 1}}, p.Displaced)
	for _, q := range []*plan.Question{{Without: []string{"n9"}}, {AddNodes: 1, Like: "n9"}} {
		q.Snapshot, q.Job = s, big
		_, err := Answer(q)
		require.Equal(t, plan.NotFound, codeOf(t, err))
	}
}

func TestNotesAndMissingObjects(t *testing.T) {
	s := cluster6()
	job := ring("j", 1, 1)
	job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "none"}
	p := answer(t, &plan.Question{Snapshot: s, Job: job})
	require.False(t, p.Fits)
	require.Equal(t, "There is no queue none.", p.Why[0].Text)
	hurried := ring("j", 1, 1)
	hurried.Spec.SchedulingPolicy = &v1.SchedulingPolicy{PriorityClass: "now"}
	p = answer(t, &plan.Question{Snapshot: s, Job: hurried})
	require.Equal(t, "There is no PriorityClass now.", p.Why[0].Text)

	p = answer(t, &plan.Question{Snapshot: s, Job: ring("j", 1, 1), Config: builder.Config{SchedulerName: "paddle"}})
	require.True(t, p.Fits)

	s.Queues, s.Unread = nil, []snapshot.Unread{{What: snapshot.Queues, Why: "no permission"}}
	require.True(t, answer(t, &plan.Question{Snapshot: s, Job: job}).Fits)

	s = cluster6()
	waits(s, ring("j", 4, 2))
	s.PodGroups[0].Status.Phase = vcscheduling.PodGroupRunning
	s.Pods = append(s.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "j-worker-0", Namespace: "team", UID: "1", Labels: map[string]string{"batch.paddlepaddle.org/job-name": "j"}},
		Spec:       corev1.PodSpec{NodeName: "n3", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: gpus(4)}}}},
	})
	job = ring("j", 2, 2)
	job.Spec.Worker.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	p = answer(t, &plan.Question{Snapshot: s, Job: job})
	require.True(t, p.Fits)
	require.Equal(t, []string{
		"job j exists already: it is planned as if that one were deleted, with its pods (1)",
		"volumes are ignored: a claim may restrict the job to some nodes",
	}, p.Notes)
	_, err := Answer(&plan.Question{Snapshot: s, Namespace: "team", Name: "j"})
	require.Equal(t, plan.Refused, codeOf(t, err))
}

// The request of one program arrives in the other one.
func TestServe(t *testing.T) {
	ask := func(request *plan.Request) *plan.Response {
		text, err := json.Marshal(request)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, Serve(bytes.NewReader(text), &out))
		response := &plan.Response{}
		require.NoError(t, json.Unmarshal(out.Bytes(), response))
		return response
	}
	question := &plan.Question{Snapshot: cluster6(), Job: ring("j", 4, 2)}
	direct, err := Answer(question)
	require.NoError(t, err)
	response := ask(&plan.Request{Version: plan.Version(), Question: question})
	require.Nil(t, response.Error)
	require.Equal(t, direct.Roles, response.Plan.Roles)
	require.Equal(t, direct.Traffic, response.Plan.Traffic)

	response = ask(&plan.Request{Version: plan.Version(), Question: &plan.Question{Snapshot: cluster6(), Namespace: "team", Name: "none"}})
	require.Equal(t, plan.NotFound, codeOf(t, response.Error))
	response = ask(&plan.Request{Version: "v9", Question: question})
	require.ErrorContains(t, response.Error, "kubectl-paddle is of version v9 and paddle-simulator of "+plan.Version()+": install both from one build")
	require.ErrorContains(t, ask(&plan.Request{Version: plan.Version()}).Error, "the request is empty")
	response = ask(&plan.Request{Version: plan.Version(), Network: &plan.Network{Nodes: cluster6().Nodes, Labels: []string{"rack"}}})
	require.Equal(t, "labels", response.Tiers.Source)
	require.Equal(t, "r1", response.Tiers.Tiers[0].Domains["n1"])
	require.Error(t, Serve(strings.NewReader("{"), io.Discard))
}
