// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// longestRole bounds the lists, so that a spec that Validate refuses cannot exhaust memory; what it allows is far less.
const longestRole = 1 << 14

// ServiceAddresses are the pods' names in the job's headless Service, known before any pod exists: {pod}.{job}.
func ServiceAddresses(job *v1.PaddleJob) Addresses {
	addresses := Addresses{}
	for _, r := range roles(job) {
		hosts := make([]string, min(r.replicas(), longestRole))
		for i := range hosts {
			hosts[i] = podName(job.Name, r.name, i) + "." + job.Name
		}
		addresses[r.name] = hosts
	}
	return addresses
}

// PodAddresses are the IPs of the job's pods that live: neither failed nor being deleted. Missing names, in order, the
// pods of the job that have none yet; while there are any, their places in addresses are empty. Gang identifies the pods
// that were counted, so that the addresses of one gang are never taken for another's.
func PodAddresses(job *v1.PaddleJob, pods []*corev1.Pod) (addresses Addresses, gang string, missing []string) {
	addresses = Addresses{}
	living := map[string]*corev1.Pod{}
	for _, pod := range pods {
		if name, ok := member(job, pod); ok && lives(pod) {
			living[name] = pod
		}
	}
	var text strings.Builder
	for _, r := range roles(job) {
		hosts := make([]string, min(r.replicas(), longestRole))
		for i := range hosts {
			name := podName(job.Name, r.name, i)
			pod := living[name]
			if pod == nil {
				missing = append(missing, name)
				continue
			}
			hosts[i] = address(pod)
			fmt.Fprintf(&text, "%s %s %s\n", name, pod.UID, hosts[i])
		}
		addresses[r.name] = hosts
	}
	return addresses, digest([]byte(text.String())), missing
}

// address is the text by which a pod knows itself: the one it was told, or its first IP, which Kubernetes gives it.
func address(pod *corev1.Pod) string {
	if told := pod.Annotations[keys.Address]; told != "" {
		return told
	}
	return pod.Status.PodIP
}

// Members are those of the pods that PodAddresses counts.
func Members(job *v1.PaddleJob, pods []*corev1.Pod) []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range pods {
		if _, ok := member(job, pod); ok && lives(pod) {
			all = append(all, pod)
		}
	}
	return all
}

// place is a pod's role and index, and whether it has a place in the job.
func place(job *v1.PaddleJob, pod *corev1.Pod) (role string, index int, ok bool) {
	index, err := strconv.Atoi(pod.Labels[keys.TaskIndex])
	if _, named := member(job, pod); err != nil || !named {
		return "", 0, false
	}
	for _, r := range roles(job) {
		if r.name == pod.Annotations[vcbatch.TaskSpecKey] && index < int(r.replicas()) {
			return r.name, index, true
		}
	}
	return "", 0, false
}

// member is the name that a pod has in the job by its task and index, and whether that is its name: nothing else than
// Volcano's own pod may hold a place.
func member(job *v1.PaddleJob, pod *corev1.Pod) (string, bool) {
	index, err := strconv.Atoi(pod.Labels[keys.TaskIndex])
	if err != nil {
		return "", false
	}
	name := podName(job.Name, pod.Annotations[vcbatch.TaskSpecKey], index)
	return name, name == pod.Name
}

func lives(pod *corev1.Pod) bool {
	_, doomed := pod.Annotations[keys.OutOfSync]
	return !doomed && pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.PodIP != ""
}
