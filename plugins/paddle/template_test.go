// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestPodsThatPredicatesTakeForAlikeShareAKey(t *testing.T) {
	key := func(change func(*corev1.PodSpec)) (string, bool) {
		pod := pods("j", "worker", 1, nil)[0]
		change(&pod.Spec)
		return templateKey(pod)
	}
	pool := func(name string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"pool": name, "zone": "z"} }
	}
	plain, alone := key(func(*corev1.PodSpec) {})
	require.Empty(t, plain)
	require.False(t, alone)
	a, alone := key(pool("a"))
	require.False(t, alone)
	again, _ := key(pool("a"))
	require.Equal(t, a, again)
	b, _ := key(pool("b"))
	require.NotEqual(t, a, b)
	tolerant, alone := key(func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
	require.False(t, alone)
	require.NotEqual(t, plain, tolerant)

	volume := func(source corev1.VolumeSource) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}} }
	}
	for name, test := range map[string]struct {
		change func(*corev1.PodSpec)
		alone  bool
	}{
		"node affinity":     {func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} }, false},
		"pod affinity":      {func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}} }, true},
		"pod anti-affinity": {func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}} }, true},
		"spread":            {func(s *corev1.PodSpec) { s.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 1) }, true},
		"claims":            {func(s *corev1.PodSpec) { s.ResourceClaims = make([]corev1.PodResourceClaim, 1) }, true},
		"a host port":       {func(s *corev1.PodSpec) { s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} }, true},
		"the host's network": {func(s *corev1.PodSpec) {
			s.HostNetwork = true
			s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
		}, true},
		"a port":              {func(s *corev1.PodSpec) { s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}} }, false},
		"a persistent volume": {volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}), true},
		"an ephemeral volume": {volume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}), true},
		"a CSI volume":        {volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}), true},
		"an empty directory":  {volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, alone := key(test.change)
			require.Equal(t, test.alone, alone)
		})
	}
}
