// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/test/conformance"
)

// podsOf are a Volcano Job's pods that have neither ended nor are being deleted.
func podsOf(ctx context.Context, namespace, job string) ([]*corev1.Pod, error) {
	list, err := cluster.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: vcbatch.JobNameKey + "=" + job})
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; alive(pod) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

func alive(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// gangOf reads all that the API server has of a job's pods. It fails while a container could not start.
func gangOf(ctx context.Context, mode conformance.Mode, namespace, job string, size int) (*conformance.Gang, error) {
	// Before the pods: it is written when all is known of them.
	data := map[string]map[string]string{}
	maps, err := cluster.Kube.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range maps.Items {
		data[maps.Items[i].Name] = maps.Items[i].Data
	}
	pods, err := podsOf(ctx, namespace, job)
	if err != nil {
		return nil, err
	}
	if len(pods) != size {
		return nil, fmt.Errorf("%d pods of %d are there", len(pods), size)
	}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			return nil, fmt.Errorf("pod %s is %s with IP %q", pod.Name, pod.Status.Phase, pod.Status.PodIP)
		}
	}
	list, err := cluster.Kube.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var services []*corev1.Service
	for i := range list.Items {
		services = append(services, &list.Items[i])
	}
	return conformance.NewGang(mode, pods, services, func(name string) (map[string]string, bool) {
		found, ok := data[name]
		return found, ok
	})
}
