// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// source lets bytes decide. When they are used up, the first choice is taken each time, which is always the plain one.
type source struct{ bytes []byte }

func (s *source) pick(n int) int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b) % n
}

// oneIn reports true in one of n cases.
func (s *source) oneIn(n int) bool { return s.pick(n) == n-1 }

func one[T any](s *source, of ...T) T { return of[s.pick(len(of))] }

// maybe returns a pointer to one of some values, or nil.
func maybe[T any](s *source, of ...T) *T {
	at := s.pick(len(of) + 1)
	if at == 0 {
		return nil
	}
	return &of[at-1]
}

// some returns up to most of what is drawn.
func some[T any](s *source, most int, draw func() T) (all []T) {
	for range s.pick(most + 1) {
		all = append(all, draw())
	}
	return all
}

// specs is the namespace of all specs.
const specs = "specs"

var long = strings.Repeat("long", 16)

// config returns a controller's.
func (s *source) config() builder.Config {
	return builder.Config{
		DefaultIntranet: one(s, v1.PodIP, v1.Service), BarrierImage: one(s, "barrier", ""), BarrierTimeout: time.Minute,
		AnnouncePodIPs: s.oneIn(4), ElasticEtcd: one(s, "", "kv:2379"), HostPorts: builder.DefaultHostPorts(),
	}
}

// job returns a job with a valid or an invalid spec.
func (s *source) job() *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{
		Namespace: specs, Name: one(s, "job", "a", "1job", "a.b", long[:50], long[:63], long),
		Labels: s.texts(), Annotations: s.texts(),
	}}
	if s.oneIn(4) {
		job.Annotations = map[string]string{v1.ColocationAnnotation: one(s, "Required", "Sometimes"), v1.MinResourcesAnnotation: one(s, "cpu=4", "cpu"), v1.GroupSizeAnnotation: one(s, "8", "-")}
	}
	spec := &job.Spec
	spec.Worker = s.role()
	if s.oneIn(8) {
		spec.Worker = nil
	}
	if s.pick(2) == 1 {
		spec.PS = s.role()
	}
	if s.oneIn(6) {
		spec.Heter = s.role()
	}
	spec.CleanPodPolicy = one(s, "", v1.CleanNever, "Sometimes")
	spec.Intranet = one(s, "", v1.PodIP, v1.Service, v1.Host, "None")
	spec.WithGloo = maybe[int32](s, 0, 1, 2, 3)
	if s.oneIn(4) {
		spec.Elastic, spec.ElasticPolicy = maybe[int32](s, 1), maybe(s, v1.ElasticPolicy{Etcd: one(s, "10.0.0.1:2379", "etcd:1", "")})
	}
	if s.oneIn(3) {
		spec.SchedulingPolicy = s.schedulingPolicy()
	}
	if s.oneIn(3) {
		spec.RunPolicy = &v1.RunPolicy{
			Suspend: maybe(s, true, false), BackoffLimit: maybe(s, int32(0), 3), ActiveDeadlineSeconds: maybe(s, int64(1), 0),
			TTLSecondsAfterFinished: maybe(s, int32(0), 1), RestartScope: one(s, "", v1.RestartGang, v1.RestartPod),
			PermanentExitCodes: one(s, nil, []int32{3}, []int32{1, 255}),
		}
	}
	if s.oneIn(5) {
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
	if s.oneIn(3) {
		policy.MinResources = corev1.ResourceList{one(s, corev1.ResourceCPU, "nvidia.com/gpu", "no such/thing"): s.quantity()}
	}
	return policy
}

func (s *source) role() *v1.ResourceSpec {
	return &v1.ResourceSpec{
		Replicas: one[int32](s, 2, 1, 3, 0, -1, 5000), Requests: maybe[int32](s, 1, 2, 0), Limits: maybe[int32](s, 4, 1), Template: s.template(),
	}
}

// texts returns labels or annotations.
func (s *source) texts() map[string]string {
	if !s.oneIn(4) {
		return nil
	}
	return map[string]string{
		one(s, "app", "example.com/app", "volcano.sh/task-spec", "paddle-res-type", "not a key", long+"/x"): one(s, "wide", "", "not a label", long),
	}
}

func (s *source) quantity() resource.Quantity {
	return resource.MustParse(one(s, "1", "100m", "2Gi", "0", "-1", "1n", "1e30"))
}

// template returns a valid or an invalid pod template.
func (s *source) template() corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: s.texts(), Annotations: s.texts()}}
	spec := &template.Spec
	spec.Containers = []corev1.Container{s.container("paddle")}
	if s.oneIn(10) {
		spec.Containers = nil
	}
	spec.Containers = append(spec.Containers, some(s, 1, func() corev1.Container { return s.container("side") })...)
	spec.InitContainers = some(s, 1, func() corev1.Container {
		c := s.container("first")
		c.RestartPolicy = maybe(s, corev1.ContainerRestartPolicyAlways)
		return c
	})
	spec.Volumes = some(s, 2, s.volume)
	if s.oneIn(2) {
		s.particulars(spec)
	}
	return template
}

// particulars are what few pods have.
func (s *source) particulars(spec *corev1.PodSpec) {
	spec.RestartPolicy = one(s, "", corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways, "Perhaps")
	spec.SchedulerName = one(s, "", "", "volcano", "default-scheduler")
	spec.DNSPolicy = one(s, "", corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)
	spec.HostNetwork, spec.HostPID = s.oneIn(5), s.oneIn(8)
	spec.Hostname, spec.Subdomain = one(s, "", "", "host", "Bad_Host"), one(s, "", "", "", "sub")
	spec.SetHostnameAsFQDN, spec.ShareProcessNamespace = maybe(s, false, true), maybe(s, true)
	spec.ServiceAccountName, spec.PriorityClassName = one(s, "", "", "default", "Bad Name"), one(s, "", "", "", "system-node-critical")
	spec.TerminationGracePeriodSeconds, spec.ActiveDeadlineSeconds = maybe(s, int64(0), 5), maybe(s, int64(60))
	if s.oneIn(4) {
		spec.NodeSelector = map[string]string{one(s, "disk", "not a key"): one(s, "ssd", "not a label")}
	}
	if s.oneIn(4) {
		spec.Tolerations = []corev1.Toleration{{Key: one(s, "gpu", ""), Operator: one(s, corev1.TolerationOpExists, corev1.TolerationOpEqual), Effect: one(s, "", corev1.TaintEffectNoSchedule, "Never")}}
	}
	if s.oneIn(4) {
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: one(s, corev1.LabelHostname, ""), LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "wide"}},
		}}}}
	}
	if s.oneIn(5) {
		spec.HostAliases = []corev1.HostAlias{{IP: one(s, "10.0.0.1", "here"), Hostnames: []string{"kv"}}}
	}
	if s.oneIn(5) {
		spec.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{one(s, "10.0.0.1", "name")}, Searches: []string{one(s, "example.com", "..")}}
	}
	if s.oneIn(5) {
		spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: maybe(s, true), RunAsUser: maybe(s, int64(1000), -1), FSGroup: maybe(s, int64(1))}
	}
	spec.ImagePullSecrets = some(s, 1, func() corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: one(s, "pull", "")} })
}

func (s *source) container(name string) corev1.Container {
	c := corev1.Container{Name: one(s, name, name, name, "paddle", "A"), Image: one(s, "paddle", "paddle", "paddle", "")}
	c.Command = one(s, nil, []string{"python", "train.py"})
	c.Env = some(s, 3, s.variable)
	if s.oneIn(5) {
		c.EnvFrom = []corev1.EnvFromSource{{Prefix: one(s, "", "P_", "="), ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: one(s, "more", "job", "")}}}}
	}
	c.Ports = some(s, 2, func() corev1.ContainerPort {
		return corev1.ContainerPort{
			Name: one(s, "", "master", "Bad Name"), ContainerPort: one(s, int32(8080), 36000, 20000, 0, 70000), HostPort: one(s, int32(0), 8080),
			Protocol: one(s, "", corev1.ProtocolTCP, "Bird"),
		}
	})
	if s.pick(2) == 1 {
		c.Resources = corev1.ResourceRequirements{Requests: s.resources(), Limits: s.resources()}
	}
	c.VolumeMounts = some(s, 2, func() corev1.VolumeMount {
		return corev1.VolumeMount{
			Name: one(s, "data", "shm", "none"), MountPath: one(s, "/data", "/dev/shm", "/etc/volcano", "/etc/podinfo", "", "a:b"), SubPath: one(s, "", "", "a", "../a"),
		}
	})
	if s.oneIn(6) {
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: one(s, intstr.FromInt32(8080), intstr.FromString("master"), intstr.FromInt32(0))}}}
	}
	if s.oneIn(6) {
		c.SecurityContext = &corev1.SecurityContext{Privileged: maybe(s, true), AllowPrivilegeEscalation: maybe(s, false), RunAsUser: maybe(s, int64(0))}
	}
	c.ImagePullPolicy = one(s, "", "", corev1.PullAlways, "Rarely")
	return c
}

func (s *source) resources() corev1.ResourceList {
	list := corev1.ResourceList{}
	for range s.pick(3) {
		list[one(s, corev1.ResourceCPU, corev1.ResourceMemory, "nvidia.com/gpu", "rdma/hca", "hugepages-2Mi", "ephemeral-storage", "teeth", "no such/thing")] = s.quantity()
	}
	return list
}

func (s *source) variable() corev1.EnvVar {
	v := corev1.EnvVar{Name: one(s, "A", "POD_IP", "POD_NAME", "PADDLE_PORT", "PADDLE_TRAINER_ID", "TRAINING_ROLE", "PORT_RANGE", "PADDLE_CURRENT_IP", "", "A=B")}
	switch s.pick(6) {
	case 0:
		v.Value = one(s, "1", "", "$(POD_IP)", "$(")
	case 1:
		v.ValueFrom = &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: one(s, "status.podIP", "metadata.name", "spec.nothing")}}
	case 2:
		v.ValueFrom = &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: one(s, "limits.cpu", "limits.tea")}}
	case 3:
		v.ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: one(s, "s", "")}, Key: one(s, "k", "no key")}}
	case 4:
		v.Value, v.ValueFrom = "1", &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}
	case 5:
		v.ValueFrom = &corev1.EnvVarSource{}
	}
	return v
}

func (s *source) volume() corev1.Volume {
	v := corev1.Volume{Name: one(s, "data", "shm", "job-svc", "sampleset", "Bad Name")}
	switch s.pick(5) {
	case 0:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{Medium: one(s, "", corev1.StorageMediumMemory)}
	case 1:
		v.HostPath = &corev1.HostPathVolumeSource{Path: one(s, "/data", "", "/a/../b")}
	case 2:
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: one(s, "data", "")}
	case 3:
		v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: one(s, "more", "")}}
	}
	return v
}
