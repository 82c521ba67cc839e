// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// Environment returns the variables with which the kubelet starts the pod's first container. lookup returns the data of
// a ConfigMap in the pod's namespace, and false where there is none. An error means that the kubelet would not start
// the container (yet), or that a variable has a source that cannot be known here: a Secret, a resource or a file.
//
// The order is that of Kubelet.makeEnvironmentVariables (kubernetes, pkg/kubelet/kubelet_pods.go). Variables of the
// namespace's Services are left out: everything that a pod sets itself wins over them.
func Environment(pod *corev1.Pod, lookup func(configMap string) (map[string]string, bool)) (map[string]string, error) {
	if len(pod.Spec.Containers) == 0 {
		return nil, fmt.Errorf("pod %s has no container", pod.Name)
	}
	container := &pod.Spec.Containers[0]
	env := map[string]string{}
	for i := range container.EnvFrom {
		if err := importAll(env, &container.EnvFrom[i], lookup); err != nil {
			return nil, fmt.Errorf("pod %s, container %s: %w", pod.Name, container.Name, err)
		}
	}
	references := expansion.MappingFuncFor(env)
	for i := range container.Env {
		variable := &container.Env[i]
		value, keep := expansion.Expand(variable.Value, references), true
		if variable.Value == "" && variable.ValueFrom != nil {
			var err error
			if value, keep, err = resolve(pod, variable.ValueFrom, lookup); err != nil {
				return nil, fmt.Errorf("pod %s, container %s, variable %s: %w", pod.Name, container.Name, variable.Name, err)
			}
		}
		if keep {
			env[variable.Name] = value
		}
	}
	return env, nil
}

func importAll(env map[string]string, from *corev1.EnvFromSource, lookup func(string) (map[string]string, bool)) error {
	ref := from.ConfigMapRef
	if ref == nil {
		return errors.New("envFrom a Secret cannot be resolved here")
	}
	data, ok := lookup(ref.Name)
	if !ok {
		if isTrue(ref.Optional) {
			return nil
		}
		return fmt.Errorf("waits for ConfigMap %s, which does not exist", ref.Name)
	}
	for key, value := range data {
		env[from.Prefix+key] = value
	}
	return nil
}

// resolve returns the value of a variable that has a source, and false where an optional source is missing.
func resolve(pod *corev1.Pod, from *corev1.EnvVarSource, lookup func(string) (map[string]string, bool)) (value string, ok bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err = field(pod, from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		data, found := lookup(ref.Name)
		if found {
			value, found = data[ref.Key]
		}
		if found || isTrue(ref.Optional) {
			return value, found, nil
		}
		return "", false, fmt.Errorf("waits for key %s of ConfigMap %s, which does not exist", ref.Key, ref.Name)
	default:
		return "", false, errors.New("its source cannot be resolved here: only fields and ConfigMaps can")
	}
}

// field reads what Kubelet.podFieldSelectorRuntimeValue reads.
func field(pod *corev1.Pod, path string) (string, error) {
	switch path {
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "status.hostIP":
		return pod.Status.HostIP, nil
	case "status.podIP":
		return pod.Status.PodIP, nil
	case "status.podIPs":
		ips := make([]string, 0, len(pod.Status.PodIPs))
		for _, ip := range pod.Status.PodIPs {
			ips = append(ips, ip.IP)
		}
		return strings.Join(ips, ","), nil
	}
	value, err := fieldpath.ExtractFieldPathAsString(pod, path)
	if err != nil {
		return "", fmt.Errorf("field %s: %w", path, err)
	}
	return value, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// Resolve returns the names of the pods to which a host resolves from a pod of the namespace, while none of them is ready
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
	// The cluster domain at the end of the name does not change the result.
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
