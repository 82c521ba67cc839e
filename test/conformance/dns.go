// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Resolve returns the names of the pods that a host leads to from a pod of the namespace, while none of them is ready
// yet: launchers meet before any is. A host is an IP, or a name for which the cluster's DNS has a record.
//
// A pod has the record {hostname}.{subdomain} only if it sets both, and a headless Service is named as the subdomain and
// selects it (https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/).
func Resolve(host, namespace string, pods []*corev1.Pod, services []*corev1.Service) []string {
	var found []string
	if net.ParseIP(host) != nil {
		for _, pod := range pods {
			if pod.Status.PodIP == host {
				found = append(found, pod.Name)
			}
		}
		return found
	}
	// Whatever cluster domain the name may end in does not change what it leads to.
	parts := strings.SplitN(host, ".", 4)
	if len(parts) < 2 || len(parts) > 2 && parts[2] != namespace || len(parts) == 4 && parts[3] != "svc" && !strings.HasPrefix(parts[3], "svc.") {
		return nil
	}
	at := slices.IndexFunc(services, func(s *corev1.Service) bool { return s.Name == parts[1] && s.Namespace == namespace })
	if at < 0 {
		return nil
	}
	service := services[at]
	if service.Spec.ClusterIP != corev1.ClusterIPNone || !service.Spec.PublishNotReadyAddresses || len(service.Spec.Selector) == 0 {
		return nil
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	for _, pod := range pods {
		if pod.Spec.Hostname == parts[0] && pod.Spec.Subdomain == parts[1] && pod.Namespace == namespace && selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, pod.Name)
		}
	}
	return found
}
