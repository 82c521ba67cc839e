// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestValidateAccepts(t *testing.T) {
	onFailure := workerPod(func(spec *corev1.PodSpec) { spec.RestartPolicy = corev1.RestartPolicyOnFailure })
	cases := map[string]struct {
		job       *v1.PaddleJob
		overrides PodGroupOverrides
	}{
		"servers and workers":               {job: paddleJob(2, 2)},
		"collective":                        {job: paddleJob(0, 2)},
		"single":                            {job: paddleJob(0, 1)},
		"PodIP":                             {job: paddleJob(2, 2, intranet(v1.PodIP))},
		"Service":                           {job: paddleJob(2, 2, intranet(v1.Service))},
		"gloo off":                          {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.WithGloo = ptr.To(0) })},
		"gloo for all":                      {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.WithGloo = ptr.To(2) })},
		"least minimum":                     {job: paddleJob(2, 2, minAvailable(1))},
		"greatest minimum":                  {job: paddleJob(2, 2, minAvailable(4))},
		"minimum of the user's PodGroup":    {job: paddleJob(2, 2), overrides: PodGroupOverrides{MinMember: 4, Queue: "default"}},
		"own minimum before the PodGroup's": {job: paddleJob(2, 2, minAvailable(4)), overrides: PodGroupOverrides{MinMember: 40}},
		"volcano named":                     {job: paddleJob(2, 2, workerPod(func(spec *corev1.PodSpec) { spec.SchedulerName = "volcano" }))},
		"OnFailure with servers":            {job: paddleJob(2, 2, onFailure)},
		"OnFailure of a single worker":      {job: paddleJob(0, 1, onFailure)},
		"Always":                            {job: paddleJob(0, 2, workerPod(func(spec *corev1.PodSpec) { spec.RestartPolicy = corev1.RestartPolicyAlways }))},
		"misspelt cleanPodPolicy":           {job: paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = "OnFailed" })},
		"pod name of 63":                    {job: paddleJob(0, 2, named(strings.Repeat("a", 63-len("-worker-1"))))},
		"host name with PodIP":              {job: paddleJob(0, 2, workerPod(func(spec *corev1.PodSpec) { spec.Hostname = "h" }))},
		"GPU as a limit":                    {job: paddleJob(0, 2, workerContainer(func(c *corev1.Container) { c.Resources.Limits = list("nvidia.com/gpu", "1") }))},
		"GPU as both": {job: paddleJob(0, 2, workerContainer(func(c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Requests: list("nvidia.com/gpu", "1"), Limits: list("nvidia.com/gpu", "1")}
		}))},
		"request equal to its limit": {job: paddleJob(0, 2, workerContainer(func(c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Requests: list("cpu", "1"), Limits: list("cpu", "1000m")}
		}))},
		"sample set": {job: paddleJob(2, 2, sampleSet(v1.SampleSetRef{Name: "data", Namespace: "train", MountPath: "/data"}))},
		"volumes": {job: paddleJob(0, 2, workerPod(func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "dshm"}}
			spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "dshm", MountPath: "/dev/shm"}}
		}))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, Validate(c.job, c.overrides, Config{DefaultIntranet: v1.PodIP}))
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	cases := map[string]struct {
		job       *v1.PaddleJob
		overrides PodGroupOverrides
		cfg       Config
		reason    string
		words     []string
	}{
		"no role":            {job: paddleJob(0, 0), reason: ReasonNoRole, words: []string{"worker"}},
		"servers alone":      {job: paddleJob(1, 0), reason: ReasonNoWorker, words: []string{"spec.worker"}},
		"no replicas":        {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = 0 }), reason: ReasonInvalidReplicas, words: []string{"spec.worker.replicas is 0"}},
		"negative replicas":  {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.PS.Replicas = -3 }), reason: ReasonInvalidReplicas, words: []string{"spec.ps.replicas is -3"}},
		"far too many":       {job: paddleJob(0, math.MaxInt), reason: ReasonTooManyPods, words: []string{"spec.worker.replicas"}},
		"leading digit":      {job: paddleJob(0, 1, named("1wide")), reason: ReasonInvalidName, words: []string{"metadata.name", "1wide", "letter"}},
		"dot in the name":    {job: paddleJob(0, 1, named("wide.deep")), reason: ReasonInvalidName, words: []string{"wide.deep"}},
		"pod name of 64":     {job: paddleJob(0, 2, named(strings.Repeat("a", 64-len("-worker-1")))), reason: ReasonPodNameTooLong, words: []string{"1 characters too long", "-worker-1"}},
		"one pod of 64":      {job: paddleJob(0, 1, named(strings.Repeat("a", 64-len("-worker-0")))), reason: ReasonPodNameTooLong, words: []string{"-worker-0"}},
		"longer by a digit":  {job: paddleJob(0, 11, named(strings.Repeat("a", 63-len("-worker-1")))), reason: ReasonPodNameTooLong, words: []string{"-worker-10"}},
		"minimum above all":  {job: paddleJob(2, 2, minAvailable(5)), reason: ReasonInvalidMinAvailable, words: []string{"spec.schedulingPolicy.minAvailable is 5", "4 pods"}},
		"minimum of none":    {job: paddleJob(2, 2, minAvailable(0)), reason: ReasonInvalidMinAvailable, words: []string{"is 0"}},
		"minMember too much": {job: paddleJob(2, 2), overrides: PodGroupOverrides{MinMember: 5}, reason: ReasonInvalidMinAvailable, words: []string{"PodGroup wide", "is 5"}},
		"negative minMember": {job: paddleJob(2, 2), overrides: PodGroupOverrides{MinMember: -1}, reason: ReasonInvalidMinAvailable, words: []string{"PodGroup wide"}},
		"gloo of 3":          {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.WithGloo = ptr.To(3) }), reason: ReasonInvalidWithGloo, words: []string{"spec.withGloo is 3"}},
		"gloo of -1":         {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.WithGloo = ptr.To(-1) }), reason: ReasonInvalidWithGloo, words: []string{"-1"}},
		"queue of no name":   {job: paddleJob(0, 1, policy(func(p *v1.SchedulingPolicy) { p.Queue = "My Queue" })), reason: ReasonInvalidQueue, words: []string{"spec.schedulingPolicy.queue", "My Queue"}},
		"namespace's queue": {job: paddleJob(0, 1), overrides: PodGroupOverrides{NamespaceQueue: "My Queue"}, reason: ReasonInvalidQueue,
			words: []string{"annotation scheduling.volcano.sh/queue-name of the namespace train", "My Queue"}},
		"root queue":          {job: paddleJob(0, 1), overrides: PodGroupOverrides{Queue: "root"}, reason: ReasonInvalidQueue, words: []string{"PodGroup wide", "root"}},
		"priority of no name": {job: paddleJob(0, 1, policy(func(p *v1.SchedulingPolicy) { p.PriorityClass = "High!" })), reason: ReasonInvalidPriorityClass, words: []string{"High!"}},
		"claim without name":  {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{MountPath: "/data"})), reason: ReasonInvalidSampleSet, words: []string{"spec.sampleSetRef.name", "train"}},
		"claim elsewhere":     {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", Namespace: "other", MountPath: "/data"})), reason: ReasonInvalidSampleSet, words: []string{"spec.sampleSetRef.namespace", "other"}},
		"claim without path":  {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data"})), reason: ReasonInvalidSampleSet, words: []string{"spec.sampleSetRef.mountPath"}},
		"path with a colon":   {job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", MountPath: "/a:b"})), reason: ReasonInvalidSampleSet, words: []string{"colon"}},
		"path taken": {
			job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", MountPath: "/data"}), workerPod(func(spec *corev1.PodSpec) {
				spec.Volumes = []corev1.Volume{{Name: "d"}}
				spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "d", MountPath: "/data"}}
			})),
			reason: ReasonInvalidSampleSet, words: []string{"/data", "spec.worker.template.spec.containers[0]"},
		},
		"claim and no container": {
			job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", MountPath: "/data"}), workerPod(func(spec *corev1.PodSpec) {
				spec.Containers = nil
			})),
			reason: ReasonNoContainer, words: []string{"spec.worker.template.spec.containers"},
		},
		"volume name taken": {
			job: paddleJob(0, 2, sampleSet(v1.SampleSetRef{Name: "data", MountPath: "/data"}), workerPod(func(spec *corev1.PodSpec) {
				spec.Volumes = []corev1.Volume{{Name: sampleVolume}}
			})),
			reason: ReasonInvalidSampleSet, words: []string{sampleVolume},
		},
		"DNS by default": {
			job:    paddleJob(0, 2, workerPod(func(spec *corev1.PodSpec) { spec.DNSPolicy = corev1.DNSDefault })),
			cfg:    Config{DefaultIntranet: v1.Service},
			reason: ReasonDNSPolicy, words: []string{"spec.worker.template.spec", "PodIP"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found := Validate(c.job, c.overrides, c.cfg)
			require.Len(t, found, 1, "%v", found)
			requireCause(t, found, c.reason, c.words...)
		})
	}
}

func TestValidateTellsEverything(t *testing.T) {
	job := paddleJob(2, 2, named("Wide"), func(job *v1.PaddleJob) {
		job.Spec.PS.Replicas = 0
		job.Spec.WithGloo = ptr.To(3)
		job.Spec.Worker.Template.Spec.Containers = nil
	})
	var reasons []string
	for _, cause := range Validate(job, PodGroupOverrides{}, Config{}) {
		reasons = append(reasons, cause.Reason)
	}
	require.Equal(t, []string{ReasonInvalidName, ReasonInvalidReplicas, ReasonInvalidWithGloo, ReasonNoContainer}, reasons)
}

// The longest variables of the largest role that is allowed must fit into what Linux takes, and one pod more not.
func TestMostPodsFit(t *testing.T) {
	const limit = 32 * 4096
	for _, name := range []string{"a", "wide", strings.Repeat("n", 50)} {
		for _, network := range []v1.Intranet{v1.PodIP, v1.Service} {
			most := mostPods(name, RoleWorker, network)
			require.Empty(t, Validate(paddleJob(0, most, named(name), intranet(network)), PodGroupOverrides{}, Config{}))
			require.NotEmpty(t, Validate(paddleJob(0, most+1, named(name), intranet(network)), PodGroupOverrides{}, Config{}))

			job := paddleJob(0, most, named(name))
			hosts := ServiceAddresses(job)
			names := len("VC_WORKER_HOSTS="+strings.Join(hosts[RoleWorker], ",")) + 1
			if network == v1.PodIP {
				for i := range hosts[RoleWorker] {
					hosts[RoleWorker][i] = "255.255.255.255"
				}
			}
			longest := len("PADDLE_TRAINER_ENDPOINTS="+contract(job, hosts, 0, Config{})["PADDLE_TRAINER_ENDPOINTS"]) + 1
			require.Less(t, max(names, longest), limit)
			require.Greater(t, max(names, longest), limit*95/100, "fewer pods are allowed than would fit")
		}
	}
}

func TestHostIsChecked(t *testing.T) {
	few := Config{HostPorts: Ports{First: 20000, Count: 99}}
	port := func(host int32) change {
		return workerContainer(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{ContainerPort: 8040, HostPort: host}} })
	}
	require.Empty(t, Validate(paddleJob(2, 2, onHosts), PodGroupOverrides{}, few))
	require.Empty(t, Validate(paddleJob(0, 2, onHosts, port(8040)), PodGroupOverrides{}, Config{}))
	require.Empty(t, Validate(paddleJob(0, 2, onHosts, port(0)), PodGroupOverrides{}, Config{}))
	require.Empty(t, Validate(paddleJob(0, 2, port(8041)), PodGroupOverrides{}, Config{}))
	require.Empty(t, Validate(paddleJob(0, 6, onHosts, elastic(1, 6), etcdAt("kv:1")), PodGroupOverrides{}, few), "elastic workers choose themselves")
	found := Validate(paddleJob(2, 3, onHosts), PodGroupOverrides{}, few)
	require.Len(t, found, 1)
	requireCause(t, found, ReasonTooManyPods, "5 pods", "20000-20098", "--host-ports")
	found = Validate(paddleJob(0, 2, onHosts, port(8041)), PodGroupOverrides{}, Config{})
	require.Len(t, found, 1)
	requireCause(t, found, ReasonInvalidTemplate, "spec.worker.template.spec.containers[0].ports", "hostPort 8041")
}

func TestHostNetworkIsReported(t *testing.T) {
	own := workerPod(func(spec *corev1.PodSpec) { spec.HostNetwork = true })
	affinity := func(key string) change {
		return workerPod(func(spec *corev1.PodSpec) {
			spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{}}},
			}}
		})
	}
	for name, c := range map[string]struct {
		job   *v1.PaddleJob
		words []string
	}{
		"collective":               {paddleJob(0, 2, onHosts), []string{"counts nodes by their addresses", "before 2.3"}},
		"servers":                  {paddleJob(2, 2, onHosts), []string{"python train.py", "paddle.distributed.launch"}},
		"one worker":               {paddleJob(0, 1, onHosts), nil},
		"elastic":                  {paddleJob(0, 2, onHosts, elastic(1, 2), etcdAt("kv:1")), nil},
		"kept apart":               {paddleJob(0, 2, onHosts, affinity(corev1.LabelHostname)), nil},
		"kept apart by zone":       {paddleJob(0, 2, onHosts, affinity(corev1.LabelTopologyZone)), []string{"counts nodes"}},
		"the template's own":       {paddleJob(0, 2, own), []string{"spec.worker.template.spec.hostNetwork", "spec.intranet: Host", "36000"}},
		"the template's own, too":  {paddleJob(0, 2, own, onHosts), []string{"counts nodes"}},
		"the template's own, once": {paddleJob(0, 1, own), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings := mustJob(t, c.job)
			if c.words == nil {
				require.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			requireCause(t, warnings, ReasonHostNetwork, c.words...)
		})
	}
}

func TestValidateRefusesTemplates(t *testing.T) {
	resources := func(requests, limits corev1.ResourceList) change {
		return workerContainer(func(c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
		})
	}
	mounts := func(all ...corev1.VolumeMount) change {
		return workerPod(func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "d"}}
			spec.Containers[0].VolumeMounts = all
		})
	}
	volumes := func(names ...string) change {
		return workerPod(func(spec *corev1.PodSpec) {
			for _, name := range names {
				spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name})
			}
		})
	}
	pod, container := workerPod, workerContainer
	cases := map[string]struct {
		change change
		reason string
		words  []string
	}{
		"no container":    {pod(func(s *corev1.PodSpec) { s.Containers = nil }), ReasonNoContainer, []string{"spec.worker.template.spec.containers"}},
		"other scheduler": {pod(func(s *corev1.PodSpec) { s.SchedulerName = "default-scheduler" }), ReasonOtherScheduler, []string{"spec.worker.template.spec.schedulerName", "default-scheduler", "volcano"}},
		"OnFailure":       {pod(func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure }), ReasonRestartPolicy, []string{"spec.worker.template.spec.restartPolicy", "hang"}},
		"unknown policy":  {pod(func(s *corev1.PodSpec) { s.RestartPolicy = "Sometimes" }), ReasonRestartPolicy, []string{"Sometimes"}},
		"dns": {func(job *v1.PaddleJob) {
			intranet(v1.Service)(job)
			job.Spec.Worker.Template.Spec.DNSPolicy = corev1.DNSDefault
		}, ReasonDNSPolicy, []string{"spec.worker.template.spec.dnsPolicy", "PodIP"}},
		"ephemeral container": {pod(func(s *corev1.PodSpec) { s.EphemeralContainers = []corev1.EphemeralContainer{{}} }), ReasonInvalidTemplate, []string{"ephemeralContainers"}},
		"label":               {func(job *v1.PaddleJob) { job.Spec.Worker.Template.Labels = map[string]string{"a": "b c"} }, ReasonInvalidTemplate, []string{"spec.worker.template.metadata.labels", "b c"}},
		"annotation":          {func(job *v1.PaddleJob) { job.Spec.Worker.Template.Annotations = map[string]string{"a b": ""} }, ReasonInvalidTemplate, []string{"spec.worker.template.metadata.annotations", "a b"}},
		"node selector":       {pod(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "b c"} }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.nodeSelector", "b c"}},
		"priority class":      {pod(func(s *corev1.PodSpec) { s.PriorityClassName = "High" }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.priorityClassName", "High"}},
		"service account":     {pod(func(s *corev1.PodSpec) { s.ServiceAccountName = "My" }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.serviceAccountName", "My"}},
		"container name":      {container(func(c *corev1.Container) { c.Name = "Paddle" }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.containers[0].name", "Paddle"}},
		"same name twice": {pod(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "paddle", Image: "i"}}
		}), ReasonInvalidTemplate, []string{"containers[0].name", "taken"}},
		"init container's image": {pod(func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{{Name: "init"}} }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.initContainers[0].image"}},
		"image":                  {container(func(c *corev1.Container) { c.Image = " " }), ReasonInvalidTemplate, []string{"containers[0].image"}},
		"nameless variable":      {container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A"}, {Value: "b"}} }), ReasonInvalidTemplate, []string{"containers[0].env[1].name"}},
		"variable with =":        {container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A B"}} }), ReasonInvalidTemplate, []string{"A B"}},
		"negative request":       {resources(list("cpu", "-1"), nil), ReasonInvalidTemplate, []string{"containers[0].resources", "cpu", "negative"}},
		"negative limit":         {resources(nil, list("memory", "-1")), ReasonInvalidTemplate, []string{"memory", "negative"}},
		"request above limit":    {resources(list("cpu", "2"), list("cpu", "1")), ReasonInvalidTemplate, []string{"cpu", "above"}},
		"GPU request alone":      {resources(list("nvidia.com/gpu", "1"), nil), ReasonInvalidTemplate, []string{"nvidia.com/gpu", "limit"}},
		"GPU request below":      {resources(list("nvidia.com/gpu", "1"), list("nvidia.com/gpu", "2")), ReasonInvalidTemplate, []string{"nvidia.com/gpu"}},
		"volume name":            {volumes("My"), ReasonInvalidTemplate, []string{"spec.worker.template.spec.volumes[0].name", "My"}},
		"volume twice":           {volumes("d", "d"), ReasonInvalidTemplate, []string{"volumes[1].name", "taken"}},
		"Volcano's volume":       {volumes("wide-svc"), ReasonInvalidTemplate, []string{"wide-svc"}},
		"mount of nothing":       {mounts(corev1.VolumeMount{Name: "x", MountPath: "/x"}), ReasonInvalidTemplate, []string{"containers[0].volumeMounts[0].name", "\"x\""}},
		"mount to nowhere":       {mounts(corev1.VolumeMount{Name: "d"}), ReasonInvalidTemplate, []string{"volumeMounts[0].mountPath"}},
		"path twice":             {mounts(corev1.VolumeMount{Name: "d", MountPath: "/d"}, corev1.VolumeMount{Name: "d", MountPath: "/d"}), ReasonInvalidTemplate, []string{"volumeMounts[1].mountPath"}},
		"Volcano's path":         {mounts(corev1.VolumeMount{Name: "d", MountPath: "/etc/volcano"}), ReasonInvalidTemplate, []string{"/etc/volcano"}},
		"init container's mount": {pod(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "init", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "x", MountPath: "/x"}}}}
		}), ReasonInvalidTemplate, []string{"initContainers[0].volumeMounts[0].name"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found := Validate(paddleJob(0, 2, c.change), PodGroupOverrides{}, Config{})
			require.Len(t, found, 1, "%v", found)
			requireCause(t, found, c.reason, c.words...)
		})
	}
}

func TestValidateChecksEveryRole(t *testing.T) {
	job := paddleJob(2, 2)
	job.Spec.PS.Template.Spec.SchedulerName = "a"
	job.Spec.Worker.Template.Spec.SchedulerName = "b"
	found := Validate(job, PodGroupOverrides{}, Config{})
	require.Len(t, found, 2)
	require.Contains(t, found[0].Message, "spec.ps.template")
	require.Contains(t, found[1].Message, "spec.worker.template")
}

// Beside Volcano's scheduler ours has a name of its own, and Volcano's is then the other one.
func TestSchedulerOfAnotherName(t *testing.T) {
	job := paddleJob(0, 2)
	beside := Config{SchedulerName: "paddle"}
	got, _ := Job(job, PodGroupOverrides{}, beside)
	require.Equal(t, "paddle", got.Spec.SchedulerName)
	job.Spec.Worker.Template.Spec.SchedulerName = "paddle"
	require.Empty(t, Validate(job, PodGroupOverrides{}, beside))
	job.Spec.Worker.Template.Spec.SchedulerName = DefaultScheduler
	requireCause(t, Validate(job, PodGroupOverrides{}, beside), ReasonOtherScheduler, `"volcano"`, `use "paddle"`)
}
