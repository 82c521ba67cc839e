// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// change is one difference to a job that is valid.
type change func(*v1.PaddleJob)

func paddleJob(ps, workers int32, changes ...change) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "wide", Namespace: "train", UID: "0f1e"}}
	for _, r := range []struct {
		spec     **v1.ResourceSpec
		replicas int32
	}{{&job.Spec.PS, ps}, {&job.Spec.Worker, workers}} {
		if r.replicas > 0 {
			*r.spec = &v1.ResourceSpec{Replicas: r.replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "paddle", Image: "paddle:v1"}},
			}}}
		}
	}
	for _, apply := range changes {
		apply(job)
	}
	return job
}

func workerPod(apply func(*corev1.PodSpec)) change {
	return func(job *v1.PaddleJob) { apply(&job.Spec.Worker.Template.Spec) }
}

func workerContainer(apply func(*corev1.Container)) change {
	return workerPod(func(spec *corev1.PodSpec) { apply(&spec.Containers[0]) })
}

func intranet(value v1.Intranet) change {
	return func(job *v1.PaddleJob) { job.Spec.Intranet = value }
}

func policy(apply func(*v1.SchedulingPolicy)) change {
	return func(job *v1.PaddleJob) {
		job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{}
		apply(job.Spec.SchedulingPolicy)
	}
}

// parallel workers have so many GPUs each.
func parallel(p v1.Parallelism, gpus int64) change {
	return func(job *v1.PaddleJob) {
		job.Spec.Parallelism = &p
		job.Spec.Worker.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(gpus, resource.DecimalSI)}
	}
}

func named(name string) change { return func(job *v1.PaddleJob) { job.Name = name } }

func gloo(value int32) change { return func(job *v1.PaddleJob) { job.Spec.WithGloo = &value } }

func restarts(policy corev1.RestartPolicy) change {
	return workerPod(func(spec *corev1.PodSpec) { spec.RestartPolicy = policy })
}

func minAvailable(value int32) change {
	return policy(func(p *v1.SchedulingPolicy) { p.MinAvailable = &value })
}

func sampleSet(ref v1.SampleSetRef) change {
	return func(job *v1.PaddleJob) { job.Spec.SampleSetRef = &ref }
}

func elastic(least, most int32) change {
	return func(job *v1.PaddleJob) {
		job.Spec.ElasticPolicy = &v1.ElasticPolicy{MinReplicas: &least, MaxReplicas: &most, Etcd: "kv:2379"}
	}
}

func etcdAt(address string) change {
	return func(job *v1.PaddleJob) { job.Spec.ElasticPolicy.Etcd = address }
}

func port(host int32) change {
	return workerContainer(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{ContainerPort: 8040, HostPort: host}} })
}

func resources(requests, limits corev1.ResourceList) change {
	return workerContainer(func(c *corev1.Container) {
		c.Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
	})
}

func mounts(all ...corev1.VolumeMount) change {
	return workerPod(func(spec *corev1.PodSpec) {
		spec.Volumes = []corev1.Volume{{Name: "d"}}
		spec.Containers[0].VolumeMounts = all
	})
}

func volumes(names ...string) change {
	return workerPod(func(spec *corev1.PodSpec) {
		for _, name := range names {
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name})
		}
	})
}

func list(name corev1.ResourceName, amount string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(amount)}
}

var (
	withEtcd = builder.Config{ElasticEtcd: "kv.paddle:2379"}
	fewPorts = builder.Config{HostPorts: builder.Ports{First: 20000, Count: 99}}
)

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		job       *v1.PaddleJob
		overrides builder.PodGroupOverrides
		cfg       builder.Config
	}{
		"servers and workers":               {job: paddleJob(2, 2)},
		"collective":                        {job: paddleJob(0, 2)},
		"single":                            {job: paddleJob(0, 1)},
		"Service":                           {job: paddleJob(2, 2, intranet(v1.Service))},
		"minimum of the user's PodGroup":    {job: paddleJob(2, 2), overrides: builder.PodGroupOverrides{MinMember: 4, Queue: "default"}},
		"own minimum before the PodGroup's": {job: paddleJob(2, 2, minAvailable(4)), overrides: builder.PodGroupOverrides{MinMember: 40}},
		"own queue before the PodGroup's": {
			job: paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.Queue = "a" })), overrides: builder.PodGroupOverrides{Queue: "root"},
		},
		"OnFailure with servers":    {job: paddleJob(2, 2, restarts("OnFailure"))},
		"OnFailure of one worker":   {job: paddleJob(0, 1, restarts("OnFailure"))},
		"OnFailure of elastic ones": {job: paddleJob(0, 2, elastic(1, 4), restarts("OnFailure"))},
		"Always":                    {job: paddleJob(0, 2, restarts("Always"))},
		"the longest name":          {job: paddleJob(0, 10, named(strings.Repeat("a", 54)))},
		"soft topology":             {job: paddleJob(0, 2, policy(func(p *v1.SchedulingPolicy) { p.NetworkTopology = &v1.NetworkTopology{Mode: v1.TopologySoft} }))},
		"hard topology": {job: paddleJob(0, 2, policy(func(p *v1.SchedulingPolicy) {
			p.NetworkTopology = &v1.NetworkTopology{HighestTierAllowed: ptr.To[int32](0)}
		}))},
		"topology of a named tier": {job: paddleJob(0, 2, policy(func(p *v1.SchedulingPolicy) { p.NetworkTopology = &v1.NetworkTopology{HighestTierName: "rack"} }))},
		"gloo":                     {job: paddleJob(2, 2, gloo(2))},
		"volcano named":            {job: paddleJob(2, 2, workerPod(func(spec *corev1.PodSpec) { spec.SchedulerName = "volcano" }))},
		"scheduler beside Volcano's": {
			job: paddleJob(2, 2, workerPod(func(spec *corev1.PodSpec) { spec.SchedulerName = "paddle" })), cfg: builder.Config{SchedulerName: "paddle"},
		},
		"host name with PodIP":        {job: paddleJob(0, 2, workerPod(func(spec *corev1.PodSpec) { spec.Hostname = "h" }))},
		"DNS by default with PodIP":   {job: paddleJob(0, 2, workerPod(func(spec *corev1.PodSpec) { spec.DNSPolicy = corev1.DNSDefault }))},
		"GPU as a limit":              {job: paddleJob(0, 2, resources(nil, list("nvidia.com/gpu", "1")))},
		"GPU as both":                 {job: paddleJob(0, 2, resources(list("nvidia.com/gpu", "1"), list("nvidia.com/gpu", "1")))},
		"request equal to its limit":  {job: paddleJob(0, 2, resources(list("cpu", "1"), list("cpu", "1000m")))},
		"sample set":                  {job: paddleJob(2, 2, sampleSet(v1.SampleSetRef{Name: "data", Namespace: "train", MountPath: "/data"}))},
		"volumes":                     {job: paddleJob(0, 2, mounts(corev1.VolumeMount{Name: "d", MountPath: "/dev/shm"}))},
		"ports of nodes":              {job: paddleJob(2, 2, intranet(v1.Host)), cfg: fewPorts},
		"elastic workers choose them": {job: paddleJob(0, 6, intranet(v1.Host), elastic(1, 6)), cfg: fewPorts},
		"hostPort is containerPort":   {job: paddleJob(0, 2, intranet(v1.Host), port(8040))},
		"no hostPort":                 {job: paddleJob(0, 2, intranet(v1.Host), port(0))},
		"hostPort with PodIP":         {job: paddleJob(0, 2, port(8041))},
		"elastic, the flag's etcd":    {job: paddleJob(0, 4, elastic(2, 8), etcdAt("")), cfg: withEtcd},
		"degrees of all GPUs":         {job: paddleJob(0, 4, parallel(v1.Parallelism{Data: 2, Pipeline: 2, Tensor: 4, Expert: 4}, 4))},
		"data is what is left":        {job: paddleJob(0, 4, parallel(v1.Parallelism{Pipeline: 2, Tensor: 4}, 4))},
		"GPUs that are not known":     {job: paddleJob(0, 4, parallel(v1.Parallelism{Data: 2, Tensor: 3}, 0))},
		"the largest model":           {job: paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.ParameterSize = ptr.To(resource.MustParse("1Pi")) }))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, Validate(tc.job, tc.overrides, tc.cfg))
		})
	}
}

// Each error names its field, and says what would be right.
func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		job       *v1.PaddleJob
		overrides builder.PodGroupOverrides
		cfg       builder.Config
		field     string
		remedy    string
	}{
		"far too many":                {job: paddleJob(0, math.MaxInt32), field: "spec.worker.replicas", remedy: "lower it, or shorten metadata.name"},
		"minMember of the PodGroup":   {job: paddleJob(2, 2), overrides: builder.PodGroupOverrides{MinMember: 5}, field: "podGroup[wide].spec.minMember", remedy: "to 1 to 4"},
		"negative minMember":          {job: paddleJob(2, 2), overrides: builder.PodGroupOverrides{MinMember: -1}, field: "podGroup[wide].spec.minMember", remedy: "to 1 to 4"},
		"root queue":                  {job: paddleJob(0, 1), overrides: builder.PodGroupOverrides{Queue: "root"}, field: "spec.schedulingPolicy.queue", remedy: "set it to one of them"},
		"root queue of the namespace": {job: paddleJob(0, 1), overrides: builder.PodGroupOverrides{NamespaceQueue: "root"}, field: "spec.schedulingPolicy.queue", remedy: "set it to one of them"},
		"claim elsewhere": {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", Namespace: "other", MountPath: "/data"})),
			field: "spec.sampleSetRef.namespace", remedy: "create the job there"},
		"path taken": {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", MountPath: "/data"}), mounts(corev1.VolumeMount{Name: "d", MountPath: "/data"})),
			field: "spec.sampleSetRef.mountPath", remedy: "spec.worker.template.spec.containers[0] has it: choose another path"},
		"volume name taken": {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", MountPath: "/data"}), volumes(builder.SampleVolume)),
			field: "spec.worker.template.spec.volumes[0].name", remedy: "choose another"},
		"DNS by default": {job: paddleJob(0, 2, workerPod(func(spec *corev1.PodSpec) { spec.DNSPolicy = corev1.DNSDefault })),
			cfg: builder.Config{DefaultIntranet: v1.Service}, field: "spec.worker.template.spec.dnsPolicy", remedy: "leave it out, or use spec.intranet: PodIP"},
		"ports of nodes": {job: paddleJob(2, 3, intranet(v1.Host)), cfg: fewPorts, field: "spec.intranet", remedy: "20000-20098 in all (--host-ports): lower replicas"},
		"hostPort":       {job: paddleJob(0, 2, intranet(v1.Host), port(8041)), field: "spec.worker.template.spec.containers[0].ports[0].hostPort", remedy: "leave it out"},
		"degrees of more GPUs than there are": {job: paddleJob(0, 4, parallel(v1.Parallelism{Data: 2, Pipeline: 2, Tensor: 8}, 4)),
			field: "spec.parallelism", remedy: "do not multiply to the 16 GPUs of the workers: correct a degree"},
		"degrees that do not divide the GPUs": {job: paddleJob(0, 4, parallel(v1.Parallelism{Pipeline: 3, Tensor: 2}, 4)),
			field: "spec.parallelism", remedy: "does not divide the 16 GPUs of the workers"},
		"degrees beyond any number": {job: paddleJob(0, 4, parallel(v1.Parallelism{Pipeline: 1 << 16, Sharding: 1 << 16, Sep: 1 << 16, Tensor: 1 << 16}, 4)),
			field: "spec.parallelism", remedy: "correct a degree"},
		"model of nothing": {job: paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.ParameterSize = ptr.To(resource.MustParse("0")) })),
			field: "spec.schedulingPolicy.parameterSize", remedy: "such as 2Gi, at most 1Pi"},
		"model too large": {job: paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.ParameterSize = ptr.To(resource.MustParse("2Pi")) })),
			field: "spec.schedulingPolicy.parameterSize", remedy: "at most 1Pi"},
		"negative minResources": {job: paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.MinResources = list("cpu", "-1") })),
			field: "spec.schedulingPolicy.minResources[cpu]", remedy: "leave it out"},
		"no etcd":            {job: paddleJob(0, 4, elastic(2, 8), etcdAt("")), field: "spec.elasticPolicy.etcd", remedy: "set it to its host:port"},
		"the letters trap":   {job: paddleJob(0, 4, elastic(2, 8), etcdAt("etcd.kv:2379")), field: "spec.elasticPolicy.etcd", remedy: "use an IP"},
		"the flag's letters": {job: paddleJob(0, 4, elastic(2, 8), etcdAt("")), cfg: builder.Config{ElasticEtcd: "db:1"}, field: "spec.elasticPolicy.etcd", remedy: "--elastic-etcd"},
		"no port":            {job: paddleJob(0, 4, elastic(2, 8), etcdAt("kv")), field: "spec.elasticPolicy.etcd", remedy: "host:port"},
		"maximum too large":  {job: paddleJob(0, 4, elastic(2, 1<<20)), field: "spec.elasticPolicy.maxReplicas", remedy: "lower it"},
		"limits too large": {job: paddleJob(0, 4, func(job *v1.PaddleJob) {
			job.Spec.Elastic, job.Spec.Worker.Requests, job.Spec.Worker.Limits = ptr.To[int32](1), ptr.To[int32](1), ptr.To[int32](1<<20)
		}), cfg: withEtcd, field: "spec.worker.limits", remedy: "lower it"},

		"name of no Service":  {job: paddleJob(0, 1, named("1wide")), field: "metadata.name", remedy: "beginning with a letter"},
		"name of no host":     {job: paddleJob(0, 11, named(strings.Repeat("a", 54))), field: "metadata.name", remedy: "shorten it"},
		"servers alone":       {job: paddleJob(2, 0), field: "spec.worker", remedy: "set it"},
		"heterogeneous alone": {job: paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.Heter = job.Spec.Worker.DeepCopy() }), field: "spec.ps", remedy: "set it too"},
		"no worker":           {job: paddleJob(0, 1, func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = 0 }), field: "spec.worker.replicas", remedy: "1 or more"},
		"gloo below 0":        {job: paddleJob(2, 2, gloo(-1)), field: "spec.withGloo", remedy: "use 0 for none"},
		"gloo above 2":        {job: paddleJob(2, 2, gloo(3)), field: "spec.withGloo", remedy: "use 0 for none"},
		"minimum of no pod":   {job: paddleJob(2, 2, minAvailable(0)), field: "spec.schedulingPolicy.minAvailable", remedy: "to 1 to 4"},
		"minimum above all":   {job: paddleJob(2, 2, minAvailable(5)), field: "spec.schedulingPolicy.minAvailable", remedy: "to 1 to 4"},
		"root queue of the job": {job: paddleJob(0, 1, policy(func(p *v1.SchedulingPolicy) { p.Queue = "root" })),
			field: "spec.schedulingPolicy.queue", remedy: "set it to one of them"},
		"elastic with servers": {job: paddleJob(2, 2, elastic(1, 4)), field: "spec.elasticPolicy", remedy: "leave spec.ps and spec.heter out"},
		"claim's name":         {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "My Data", MountPath: "/data"})), field: "spec.sampleSetRef.name", remedy: "set it to one"},
		"claim without a path": {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data"})), field: "spec.sampleSetRef.mountPath", remedy: "a path without a colon"},
		"claim's path":         {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", MountPath: "/a:b"})), field: "spec.sampleSetRef.mountPath", remedy: "a path without a colon"},
		"elastic from 0":       {job: paddleJob(0, 2, elastic(0, 4)), field: "spec.worker.replicas", remedy: "1 or more"},
		"below the minimum":    {job: paddleJob(0, 2, elastic(3, 4)), field: "spec.worker.replicas", remedy: "between 3 and 4"},
		"above the maximum":    {job: paddleJob(0, 5, elastic(3, 4)), field: "spec.worker.replicas", remedy: "between 3 and 4"},
		"no container": {job: paddleJob(0, 1, workerPod(func(s *corev1.PodSpec) { s.Containers = nil })),
			field: "spec.worker.template.spec.containers", remedy: "add the container that trains"},
		"ephemeral container": {job: paddleJob(0, 1, workerPod(func(s *corev1.PodSpec) { s.EphemeralContainers = []corev1.EphemeralContainer{{}} })),
			field: "spec.worker.template.spec.ephemeralContainers", remedy: "leave them out"},
		"unknown restart policy": {job: paddleJob(0, 1, restarts("Sometimes")), field: "spec.worker.template.spec.restartPolicy", remedy: "use Never"},
		"collective, in place":   {job: paddleJob(0, 2, restarts("OnFailure")), field: "spec.worker.template.spec.restartPolicy", remedy: "use Never"},

		"other scheduler": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.SchedulerName = "default-scheduler" })),
			field: "spec.worker.template.spec.schedulerName", remedy: `use "volcano" or leave it out`},
		"Volcano's scheduler next to the project's": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.SchedulerName = "volcano" })), cfg: builder.Config{SchedulerName: "paddle"},
			field: "spec.worker.template.spec.schedulerName", remedy: `use "paddle" or leave it out`},
		"label": {job: paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.Worker.Template.Labels = map[string]string{"a": "b c"} }),
			field: "spec.worker.template.metadata.labels", remedy: "consist of"},
		"annotation": {job: paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.Worker.Template.Annotations = map[string]string{"a b": ""} }),
			field: "spec.worker.template.metadata.annotations", remedy: "consist of"},
		"node selector": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "b c"} })),
			field: "spec.worker.template.spec.nodeSelector", remedy: "consist of"},
		"priority class": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.PriorityClassName = "High" })),
			field: "spec.worker.template.spec.priorityClassName", remedy: "lower case"},
		"service account": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.ServiceAccountName = "My" })),
			field: "spec.worker.template.spec.serviceAccountName", remedy: "lower case"},
		"container name": {job: paddleJob(0, 2, workerContainer(func(c *corev1.Container) { c.Name = "Paddle" })),
			field: "spec.worker.template.spec.containers[0].name", remedy: "lower case"},
		"same name twice": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{{Name: "paddle", Image: "i"}} })),
			field: "spec.worker.template.spec.containers[0].name", remedy: "choose another"},
		"init container's image": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{{Name: "init"}} })),
			field: "spec.worker.template.spec.initContainers[0].image", remedy: "image to run"},
		"image": {job: paddleJob(0, 2, workerContainer(func(c *corev1.Container) { c.Image = " " })),
			field: "spec.worker.template.spec.containers[0].image", remedy: "image to run"},
		"nameless variable": {job: paddleJob(0, 2, workerContainer(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A"}, {Value: "b"}} })),
			field: "spec.worker.template.spec.containers[0].env[1].name", remedy: "letters"},
		"variable with a space": {job: paddleJob(0, 2, workerContainer(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A B"}} })),
			field: "spec.worker.template.spec.containers[0].env[0].name", remedy: "letters"},
		"negative request":    {job: paddleJob(0, 2, resources(list("cpu", "-1"), nil)), field: "spec.worker.template.spec.containers[0].resources.requests[cpu]", remedy: "use 0 or more"},
		"negative limit":      {job: paddleJob(0, 2, resources(nil, list("memory", "-1"))), field: "containers[0].resources.limits[memory]", remedy: "use 0 or more"},
		"request above limit": {job: paddleJob(0, 2, resources(list("cpu", "2"), list("cpu", "1"))), field: "containers[0].resources.requests[cpu]", remedy: "raise the limit"},
		"GPU request alone":   {job: paddleJob(0, 2, resources(list("nvidia.com/gpu", "1"), nil)), field: "resources.requests[nvidia.com/gpu]", remedy: "set the limit only"},
		"GPU request below":   {job: paddleJob(0, 2, resources(list("nvidia.com/gpu", "1"), list("nvidia.com/gpu", "2"))), field: "resources.requests[nvidia.com/gpu]", remedy: "set the limit only"},
		"volume name":         {job: paddleJob(0, 2, volumes("My")), field: "spec.worker.template.spec.volumes[0].name", remedy: "lower case"},
		"volume twice":        {job: paddleJob(0, 2, volumes("d", "d")), field: "spec.worker.template.spec.volumes[1].name", remedy: "choose another"},
		"Volcano's volume":    {job: paddleJob(0, 2, volumes("wide-svc")), field: "spec.worker.template.spec.volumes[0].name", remedy: "choose another"},
		"mount of nothing":    {job: paddleJob(0, 2, mounts(corev1.VolumeMount{Name: "x", MountPath: "/x"})), field: "containers[0].volumeMounts[0].name", remedy: "add it"},
		"mount to nowhere":    {job: paddleJob(0, 2, mounts(corev1.VolumeMount{Name: "d"})), field: "containers[0].volumeMounts[0].mountPath", remedy: "set it to where d is mounted"},
		"path twice": {job: paddleJob(0, 2, mounts(corev1.VolumeMount{Name: "d", MountPath: "/d"}, corev1.VolumeMount{Name: "d", MountPath: "/d"})),
			field: "containers[0].volumeMounts[1].mountPath", remedy: "choose another"},
		"Volcano's path": {job: paddleJob(0, 2, mounts(corev1.VolumeMount{Name: "d", MountPath: "/etc/volcano"})),
			field: "containers[0].volumeMounts[0].mountPath", remedy: "choose another"},
		"init container's mount": {job: paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "init", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "x", MountPath: "/x"}}}}
		})), field: "initContainers[0].volumeMounts[0].name", remedy: "add it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := Validate(tc.job, tc.overrides, tc.cfg)
			require.Len(t, errs, 1, "%v", errs)
			require.Contains(t, errs[0].Field, tc.field)
			require.Contains(t, errs[0].Error(), tc.remedy)
			require.NotContains(t, errs[0].Error(), "%!", "badly formatted")
		})
	}
}

func TestValidateFindsEverything(t *testing.T) {
	t.Parallel()
	job := paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.MinResources = list("cpu", "-1") }))
	job.Spec.PS.Template.Spec.SchedulerName = "a"
	job.Spec.Worker.Template.Spec.SchedulerName = "b"
	errs := Validate(job, builder.PodGroupOverrides{}, builder.Config{})
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	require.Equal(t, []string{
		"spec.schedulingPolicy.minResources[cpu]", "spec.ps.template.spec.schedulerName", "spec.worker.template.spec.schedulerName",
	}, fields)
	text := Messages(errs[1:])
	require.Equal(t, errs[1].Error()+"; "+errs[2].Error(), text)
	require.Empty(t, Messages(field.ErrorList{}))
}
