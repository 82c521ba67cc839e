// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// kind is a kind of job. count is how many of 200 jobs are of it.
type kind struct {
	name  string
	count int
	// others are jobs that are not Paddle's. oneRack are those that may not leave a rack, tooWide those of them that fit none.
	others, oneRack, tooWide bool
	make                     func(name string) job
}

// job is a job to submit: one of the two is set.
type job struct {
	kind   *kind
	name   string
	paddle *v1.PaddleJob
	raw    *vcbatch.Job
}

// mix returns all kinds. Together they request more than the 4000 GPUs of the cluster, or the 800 of a fifth. The names show what
// fits a node, and a rack of ten nodes: servers + workers x GPUs of each.
func mix(t *testing.T) []*kind {
	t.Helper()
	var ctr vcbatch.Job
	example(t, "ctr-volcano.yaml", &ctr)
	var plain v1.PaddleJob
	example(t, "wide_and_deep.yaml", &plain)

	collective := func(workers int) func(string) job {
		return paddleJob(func(j *v1.PaddleJob) { j.Spec.Worker = role(workers, 8, 8) })
	}
	servers := func(servers, workers, gpus int) func(string) job {
		return paddleJob(func(j *v1.PaddleJob) { j.Spec.PS, j.Spec.Worker = role(servers, 4, 0), role(workers, 8, gpus) })
	}
	return []*kind{
		{name: "collective 16x8", count: 10, make: collective(16)},
		{name: "collective 8x8", count: 20, make: collective(8)},
		{name: "collective 4x8", count: 30, make: collective(4)},
		{name: "single 8", count: 22, make: collective(1)},
		{name: "ps 1+2x1", count: 20, make: servers(1, 2, 1)},
		{name: "ps 2+6x4", count: 25, make: servers(2, 6, 4)},
		{name: "ps 4+8x8", count: 15, make: servers(4, 8, 8)},
		{name: "elastic 2+3..6x4", count: 5, make: paddleJob(func(j *v1.PaddleJob) {
			j.Spec.PS, j.Spec.Worker = role(2, 4, 0), role(6, 8, 4)
			j.Spec.SchedulingPolicy = &v1.SchedulingPolicy{MinAvailable: ptr.To(int32(5))}
		})},
		{name: "no requests 2+2", count: 20, make: paddleJob(func(j *v1.PaddleJob) {
			j.Spec = *plain.Spec.DeepCopy()
			for _, r := range []*v1.ResourceSpec{j.Spec.PS, j.Spec.Worker} {
				r.Template.Annotations = forever()
			}
		})},
		{name: "raw CTR 2+2", count: 15, make: rawJob(&ctr)},
		{name: "one rack 2+4x8", count: 5, oneRack: true, make: rawJob(&ctr, inOneRack(4))},
		{name: "too wide 2+11x8", count: 3, oneRack: true, tooWide: true, make: rawJob(&ctr, inOneRack(nodesInRack+1))},
		{name: "not Paddle's 4x8", count: 10, others: true, make: rawJob(notPaddles())},
	}
}

// inOneRack gives a job a number of trainers, each with a node, that may not leave a rack.
func inOneRack(trainers int32) func(*vcbatch.Job) {
	return func(j *vcbatch.Job) {
		j.Spec.MinAvailable, j.Spec.Tasks[1].Replicas = 2+trainers, trainers
		j.Spec.Tasks[1].Template.Spec.Containers[0].Resources = asks(8, gpusOfNode)
		j.Spec.NetworkTopology = &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(1)}
	}
}

// notPaddles returns a job of four pods that nothing marks as Paddle's.
func notPaddles() *vcbatch.Job {
	pods := role(4, 8, 8).Template
	pods.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &vcbatch.Job{Spec: vcbatch.JobSpec{
		SchedulerName: "volcano", MinAvailable: 4, Tasks: []vcbatch.TaskSpec{{Name: "main", Replicas: 4, Template: pods}},
	}}
}

// example reads a manifest that is shipped.
func example(t *testing.T, file string, into any) {
	t.Helper()
	text, err := deploy.Files.ReadFile("examples/" + file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into), file)
}

func paddleJob(change func(*v1.PaddleJob)) func(string) job {
	return func(name string) job {
		j := &v1.PaddleJob{}
		j.Namespace, j.Name = namespace, name
		change(j)
		j.Spec.CleanPodPolicy = v1.CleanNever // the API server has enough to do
		return job{name: name, paddle: j}
	}
}

func rawJob(like *vcbatch.Job, changes ...func(*vcbatch.Job)) func(string) job {
	return func(name string) job {
		j := like.DeepCopy()
		j.Namespace, j.Name = namespace, name
		for i := range j.Spec.Tasks {
			j.Spec.Tasks[i].Template.Annotations = forever()
		}
		for _, change := range changes {
			change(j)
		}
		return job{name: name, raw: j}
	}
}

// role is pods with a number of cores and GPUs, which run until the test ends them.
func role(replicas, cores, gpus int) *v1.ResourceSpec {
	r := &v1.ResourceSpec{Replicas: int32(replicas)}
	r.Template.Annotations = forever()
	r.Template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle", Resources: asks(cores, gpus)}}
	return r
}

func asks(cores, gpus int) corev1.ResourceRequirements {
	list := corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(int64(cores), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("8Gi"),
	}
	if gpus > 0 {
		list["nvidia.com/gpu"] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
	}
	return corev1.ResourceRequirements{Requests: list, Limits: list}
}

func forever() map[string]string { return map[string]string{stages.AnnotationRunFor: "forever"} }

// mixed returns all jobs, in an order that mixes the kinds and is always the same. Those that never fit come first, so that
// the queue admits their pods.
func mixed(kinds []*kind) []job {
	var all []job
	for i, k := range kinds {
		for n := range max(1, k.count/parts()) {
			j := k.make(fmt.Sprintf("k%d-%s", i, strconv.Itoa(n)))
			j.kind = k
			all = append(all, j)
		}
	}
	rand.New(rand.NewPCG(500, 200)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(a, b job) int {
		switch {
		case a.kind.tooWide == b.kind.tooWide:
			return 0
		case a.kind.tooWide:
			return -1
		default:
			return 1
		}
	})
	return all
}
