// SPDX-License-Identifier: Apache-2.0

package render

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func TestValidateAccepts(t *testing.T) {
	onFailure := workerPod(func(spec *corev1.PodSpec) { spec.RestartPolicy = corev1.RestartPolicyOnFailure })
	cases := map[string]struct {
		job  *v1.PaddleJob
		wish Wish
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
		"minimum of the user's PodGroup":    {job: paddleJob(2, 2), wish: Wish{MinMember: 4, Queue: "default"}},
		"own minimum before the PodGroup's": {job: paddleJob(2, 2, minAvailable(4)), wish: Wish{MinMember: 40}},
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
			require.Empty(t, Validate(c.job, c.wish, Config{DefaultIntranet: v1.PodIP}))
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	cases := map[string]struct {
		job    *v1.PaddleJob
		wish   Wish
		cfg    Config
		reason string
		words  []string
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
		"minMember too much": {job: paddleJob(2, 2), wish: Wish{MinMember: 5}, reason: ReasonInvalidMinAvailable, words: []string{"PodGroup wide", "is 5"}},
		"negative minMember": {job: paddleJob(2, 2), wish: Wish{MinMember: -1}, reason: ReasonInvalidMinAvailable, words: []string{"PodGroup wide"}},
		"gloo of 3":          {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.WithGloo = ptr.To(3) }), reason: ReasonInvalidWithGloo, words: []string{"spec.withGloo is 3"}},
		"gloo of -1":         {job: paddleJob(2, 2, func(job *v1.PaddleJob) { job.Spec.WithGloo = ptr.To(-1) }), reason: ReasonInvalidWithGloo, words: []string{"-1"}},
		"queue of no name":   {job: paddleJob(0, 1, policy(func(p *v1.SchedulingPolicy) { p.Queue = "My Queue" })), reason: ReasonInvalidQueue, words: []string{"spec.schedulingPolicy.queue", "My Queue"}},
		"namespace's queue": {job: paddleJob(0, 1), wish: Wish{NamespaceQueue: "My Queue"}, reason: ReasonInvalidQueue,
			words: []string{"annotation scheduling.volcano.sh/queue-name of the namespace train", "My Queue"}},
		"root queue":          {job: paddleJob(0, 1), wish: Wish{Queue: "root"}, reason: ReasonInvalidQueue, words: []string{"PodGroup wide", "root"}},
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
			found := Validate(c.job, c.wish, c.cfg)
			require.Len(t, found, 1, "%v", found)
			requireNotice(t, found, c.reason, c.words...)
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
	for _, notice := range Validate(job, Wish{}, Config{}) {
		reasons = append(reasons, notice.Reason)
	}
	require.Equal(t, []string{ReasonInvalidName, ReasonInvalidReplicas, ReasonInvalidWithGloo, ReasonNoContainer}, reasons)
}

// The longest variables of the largest role that is allowed must fit into what Linux takes, and one pod more not.
func TestMostPodsFit(t *testing.T) {
	const limit = 32 * 4096
	for _, name := range []string{"a", "wide", strings.Repeat("n", 50)} {
		for _, network := range []v1.Intranet{v1.PodIP, v1.Service} {
			most := mostPods(name, RoleWorker, network)
			require.Empty(t, Validate(paddleJob(0, most, named(name), intranet(network)), Wish{}, Config{}))
			require.NotEmpty(t, Validate(paddleJob(0, most+1, named(name), intranet(network)), Wish{}, Config{}))

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
