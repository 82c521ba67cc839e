// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

// specs is the namespace of all specs.
const specs = "specs"

var long = strings.Repeat("long", 16)

// config is a controller's.
func (s *source) config() render.Config {
	return render.Config{
		DefaultIntranet: one(s, v1.PodIP, v1.Service), BarrierImage: one(s, "barrier", ""), BarrierTimeout: time.Minute,
		AnnouncePodIPs: s.seldom(4), ElasticEtcd: one(s, "", "kv:2379"), HostPorts: render.DefaultHostPorts(),
	}
}

// job is a job as users write them, well or badly.
func (s *source) job() *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{
		Namespace: specs, Name: one(s, "job", "a", "1job", "a.b", long[:50], long[:63], long),
		Labels: s.texts(), Annotations: s.texts(),
	}}
	if s.seldom(4) {
		job.Annotations = map[string]string{keys.Colocation: one(s, "Required", "Sometimes"), keys.MinResources: one(s, "cpu=4", "cpu"), keys.GroupSize: one(s, "8", "-")}
	}
	spec := &job.Spec
	spec.Worker = s.role()
	if s.seldom(8) {
		spec.Worker = nil
	}
	if s.pick(2) == 1 {
		spec.PS = s.role()
	}
	if s.seldom(6) {
		spec.Heter = s.role()
	}
	spec.CleanPodPolicy = one(s, "", v1.CleanNever, "Sometimes")
	spec.Intranet = one(s, "", v1.PodIP, v1.Service, v1.Host, "None")
	spec.WithGloo = maybe(s, 0, 1, 2, 3)
	if s.seldom(4) {
		spec.Elastic, spec.ElasticPolicy = maybe(s, 1), maybe(s, v1.ElasticPolicy{Etcd: one(s, "10.0.0.1:2379", "etcd:1", "")})
	}
	if s.seldom(3) {
		spec.SchedulingPolicy = s.schedulingPolicy()
	}
	if s.seldom(3) {
		spec.RunPolicy = &v1.RunPolicy{
			Suspend: maybe(s, true, false), BackoffLimit: maybe(s, int32(0), 3), ActiveDeadlineSeconds: maybe(s, int64(1), 0),
			TTLSecondsAfterFinished: maybe(s, int32(0), 1), RestartScope: one(s, "", v1.RestartGang, v1.RestartPod),
			PermanentExitCodes: one(s, nil, []int32{3}, []int32{1, 255}),
		}
	}
	if s.seldom(5) {
		spec.SampleSetRef = &v1.SampleSetRef{Name: one(s, "data", "Data", ""), Namespace: one(s, "", specs, "other"), MountPath: one(s, "/data", "/etc/volcano", "data", "")}
	}
	return job
}

func (s *source) schedulingPolicy() *v1.SchedulingPolicy {
	policy := &v1.SchedulingPolicy{
		MinAvailable: maybe(s, int32(1), 2, 99, 0, -1), Queue: one(s, "", "default", "Bad Queue"),
		PriorityClass: one(s, "", "system-cluster-critical", "Bad Class"), Colocation: one(s, v1.Colocation(""), "Required", "None"),
		ParameterSize: maybe(s, resource.MustParse("2Gi"), resource.MustParse("-1")), ParallelGroupSize: maybe(s, int32(8), 1),
		NetworkTopology: maybe(s, v1.NetworkTopology{}, v1.NetworkTopology{Mode: v1.TopologySoft, HighestTierName: one(s, "rack", "A b")}),
	}
	if s.seldom(3) {
		policy.MinResources = corev1.ResourceList{one(s, corev1.ResourceCPU, "nvidia.com/gpu", "no such/thing"): s.quantity()}
	}
	return policy
}

func (s *source) role() *v1.ResourceSpec {
	return &v1.ResourceSpec{
		Replicas: one(s, 2, 1, 3, 0, -1, 5000), Requests: maybe(s, 1, 2, 0), Limits: maybe(s, 4, 1), Template: s.template(),
	}
}

// texts are labels or annotations.
func (s *source) texts() map[string]string {
	if !s.seldom(4) {
		return nil
	}
	return map[string]string{
		one(s, "app", "example.com/app", "volcano.sh/task-spec", "paddle-res-type", "not a key", long+"/x"): one(s, "wide", "", "not a label", long),
	}
}

func (s *source) quantity() resource.Quantity {
	return resource.MustParse(one(s, "1", "100m", "2Gi", "0", "-1", "1n", "1e30"))
}
