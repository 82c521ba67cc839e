// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

func TestServiceAddresses(t *testing.T) {
	require.Equal(t, Addresses{
		RolePS:     {"wide-ps-0.wide"},
		RoleWorker: {"wide-worker-0.wide", "wide-worker-1.wide"},
	}, ServiceAddresses(paddleJob(1, 2)))
}

func gangOfThree() []*corev1.Pod {
	return []*corev1.Pod{
		pod("wide", RoleWorker, "1", "10.0.0.3"),
		pod("wide", RolePS, "0", "10.0.0.1"),
		pod("wide", RoleWorker, "0", "10.0.0.2"),
	}
}

func TestPodAddresses(t *testing.T) {
	addresses, gang, missing := PodAddresses(paddleJob(1, 2), gangOfThree())
	require.Empty(t, missing)
	require.NotEmpty(t, gang)
	require.Equal(t, Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"10.0.0.2", "10.0.0.3"}}, addresses)

	reversed := gangOfThree()
	slices.Reverse(reversed)
	_, same, _ := PodAddresses(paddleJob(1, 2), reversed)
	require.Equal(t, gang, same, "the order of the pods decides nothing")
}

// Each change is to pod wide-worker-0 of a whole gang.
func TestPodAddressesLeavesOut(t *testing.T) {
	_, whole, _ := PodAddresses(paddleJob(1, 2), gangOfThree())
	cases := map[string]func(*corev1.Pod){
		"no IP":          func(p *corev1.Pod) { p.Status.PodIP = "" },
		"failed":         func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"being deleted":  func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} },
		"out of sync":    func(p *corev1.Pod) { p.Annotations[keys.OutOfSync] = "true" },
		"no index":       func(p *corev1.Pod) { p.Labels = nil },
		"no role":        func(p *corev1.Pod) { p.Annotations = nil },
		"another's name": func(p *corev1.Pod) { p.Name = "wide-worker-00" },
	}
	for name, apply := range cases {
		t.Run(name, func(t *testing.T) {
			pods := gangOfThree()
			apply(pods[2])
			addresses, gang, missing := PodAddresses(paddleJob(1, 2), pods)
			require.Equal(t, []string{"wide-worker-0"}, missing)
			require.Equal(t, []string{"", "10.0.0.3"}, addresses[RoleWorker])
			require.NotEqual(t, whole, gang)
		})
	}
	_, _, missing := PodAddresses(paddleJob(1, 2), nil)
	require.Equal(t, []string{"wide-ps-0", "wide-worker-0", "wide-worker-1"}, missing)
}

func TestPodAddressesTellsGangsApart(t *testing.T) {
	_, first, _ := PodAddresses(paddleJob(1, 2), gangOfThree())
	for name, apply := range map[string]func(*corev1.Pod){
		"made anew with the same IP": func(p *corev1.Pod) { p.UID = "another" },
		"another IP":                 func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.9" },
	} {
		pods := gangOfThree()
		apply(pods[0])
		_, gang, missing := PodAddresses(paddleJob(1, 2), pods)
		require.Empty(t, missing)
		require.NotEqual(t, first, gang, name)
	}
	// Pods that have succeeded still belong to the gang, and those beyond the replicas do not.
	pods := gangOfThree()
	pods[0].Status.Phase = corev1.PodSucceeded
	pods = append(pods, pod("wide", RoleWorker, "2", "10.0.0.4"), pod("wide", RoleWorker, "-1", "10.0.0.5"), pod("other", RolePS, "0", "10.0.0.6"))
	addresses, gang, missing := PodAddresses(paddleJob(1, 2), pods)
	require.Empty(t, missing)
	require.Equal(t, first, gang)
	require.Len(t, addresses[RoleWorker], 2)
}
