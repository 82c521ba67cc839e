// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// Pods are not equivalent if a predicate may read a difference, but for the index and the name of each.
func TestChecker_Equivalent(t *testing.T) {
	c := checkerOf(topologyOf(t, 1), nil)
	limits := func(n string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(n)}
		}
	}
	for name, test := range map[string]struct {
		a, b func(*corev1.Pod)
		want bool
	}{
		"nothing":              {unchanged, unchanged, true},
		"index":                {withAnnotation(batch.TaskIndex, "1"), withAnnotation(batch.TaskIndex, "2"), true},
		"label with the index": {withLabel(batch.TaskIndex, "1"), withLabel(batch.TaskIndex, "2"), true},
		"index of one":         {withAnnotation(batch.TaskIndex, "1"), unchanged, false},
		"per-pod label":        {withLabel(perPodName, "a"), withLabel(perPodName, "b"), true},
		"per-pod annotation":   {withAnnotation(perPodName, "a"), withAnnotation(perPodName, "b"), true},
		"variables":            {func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}} }, unchanged, true},
		"names of volumes":     {withVolume("a", claim("data")), withVolume("b", claim("data")), true},
		"a label":              {withLabel("app", "x"), withLabel("app", "y"), false},
		"a label of one":       {withLabel("app", "x"), unchanged, false},
		"an annotation":        {withAnnotation("volcano.sh/revocable-zone", "*"), unchanged, false},
		"claims":               {withVolume("a", claim("data")), withVolume("a", claim("other")), false},
		"limits":               {limits("1"), unchanged, false},
		"requests": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
		}, unchanged, false},
		"amounts":             {limits("1"), limits("2"), false},
		"ports":               {withHostPort(7000), unchanged, false},
		"device claims":       {func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}} }, unchanged, false},
		"the host's network":  {func(pod *corev1.Pod) { pod.Spec.HostNetwork = true }, unchanged, false},
		"priority":            {func(pod *corev1.Pod) { pod.Spec.PriorityClassName = "high" }, unchanged, false},
		"selectors":           {func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"a": "b"} }, unchanged, false},
		"affinity":            {withAffinity(nil), unchanged, false},
		"tolerations":         {func(pod *corev1.Pod) { pod.Spec.Tolerations = make([]corev1.Toleration, 1) }, unchanged, false},
		"toleration of a key": {tolerating("a", nil), tolerating("b", nil), false},
		"toleration seconds":  {tolerating("a", ptr.To[int64](1)), tolerating("a", nil), true}, // the node lifecycle controller reads them
		"spread":              {func(pod *corev1.Pod) { pod.Spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 1) }, unchanged, false},
		"resource claims":     {func(pod *corev1.Pod) { pod.Spec.ResourceClaims = make([]corev1.PodResourceClaim, 1) }, unchanged, false},
		"containers":          {func(pod *corev1.Pod) { pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{}) }, unchanged, false},
		"init containers":     {func(pod *corev1.Pod) { pod.Spec.InitContainers = make([]corev1.Container, 1) }, unchanged, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := task(test.a), task(test.b)
			require.Equal(t, test.want, c.equivalent(a, b))
			require.Equal(t, test.want, c.equivalent(b, a))
		})
	}
	placeholder := task()
	placeholder.InitResreq.Memory = 1
	require.False(t, c.equivalent(placeholder, task()))
}

func tolerating(key string, seconds *int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists, TolerationSeconds: seconds}}
	}
}

func TestMayBecomeFeasible(t *testing.T) {
	job := api.NewJobInfo("ns/j")
	for i, uid := range []api.TaskID{"0", "1"} {
		server := api.NewTaskInfo(pod("ps", i))
		server.UID = uid
		job.AddTaskInfo(server)
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":                     {unchanged, false},
		"affinity to pods of the job": {withAffinity(term("ps", "rack")), true},
		"affinity to others":          {withAffinity(term("worker", "rack")), false},
		"affinity that is invalid": {func(pod *corev1.Pod) {
			withAffinity(term("worker", "rack"))(pod)
			pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}}
		}, true},
		"anti-affinity to pods of the job": {withAntiAffinity(term("ps", "rack")), false},
		"topology spread":                  {func(pod *corev1.Pod) { pod.Spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 1) }, true},
		"devices of its own": {func(pod *corev1.Pod) {
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{ResourceClaimTemplateName: ptr.To("gpu")}}
		}, true},
		"a volume of all pods": {withVolume("v", claim("data")), false},
		"a volume of its own":  {withVolume("v", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}), true},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, mayBecomeFeasible(job, pod("worker", 0, test.change))) })
	}
}

func TestDependsOnOtherPods(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":           {unchanged, false},
		"node selector":     {func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "a"} }, false},
		"node affinity":     {func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} }, false},
		"pod affinity":      {withAffinity(nil), true},
		"pod anti-affinity": {withAntiAffinity(nil), true},
		"topology spread":   {func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 1) }, true},
		"claims":            {func(p *corev1.Pod) { p.Spec.ResourceClaims = make([]corev1.PodResourceClaim, 1) }, true},
		"a host port":       {withHostPort(80), true},
		"host network": {func(p *corev1.Pod) {
			p.Spec.HostNetwork = true
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
		}, true},
		"a port":              {func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}} }, false},
		"a persistent volume": {withVolume("v", claim("data")), true},
		"an ephemeral volume": {withVolume("v", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}), true},
		"a CSI volume":        {withVolume("v", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}), true},
		"an empty directory":  {withVolume("v", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, dependsOnOtherPods(&pod("worker", 0, test.change).Spec))
		})
	}
}
