// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// Reasons of a StartFailure that the kubelet has several words for. Of any other failure the reason is the kubelet's own.
const (
	ReasonImagePullFailed   = "ImagePullFailed"
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	ReasonSecretNotFound    = "SecretNotFound"
)

// StartFailure is a reason for which the kubelet does not start pods that have a node.
type StartFailure struct {
	Reason string
	// Missing is the object that does not exist, nil unless the reason is that one is missing.
	Missing *Reference
	// Pods are the names of the pods with this reason.
	Pods []string
	// Message is the kubelet's, about the first of Pods.
	Message string
}

// Reference is a ConfigMap or a Secret without which the kubelet does not start a pod.
type Reference struct {
	// Kind is KindConfigMap or KindSecret.
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Kinds of a Reference.
const (
	KindConfigMap = "ConfigMap"
	KindSecret    = "Secret"
)

// NotFound is the reason of a pod that does not start because the object does not exist.
func (r Reference) NotFound() string {
	if r.Kind == KindSecret {
		return ReasonSecretNotFound
	}
	return ReasonConfigMapNotFound
}

// StartFailures are the reasons for which the kubelet does not start the job's pods.
func (s *State) StartFailures() []StartFailure {
	failures := StartFailures(s.Pods)
	missing, pods := missingObject(s.FailedMount), s.mounting()
	if missing != nil && len(pods) > 0 && !slices.ContainsFunc(failures, func(f StartFailure) bool { return f.Missing != nil && *f.Missing == *missing }) {
		failures = append(failures, StartFailure{Reason: missing.NotFound(), Missing: missing, Pods: pods, Message: s.FailedMount})
	}
	return failures
}

// Mounting returns the first pod that may wait for a ConfigMap or a Secret of its volumes, nil if there is none: a pod that has a
// node, and of whose containers the kubelet says nothing.
func (s *State) Mounting() *corev1.Pod {
	if i := slices.IndexFunc(s.Pods, s.isMounting); i >= 0 {
		return s.Pods[i]
	}
	return nil
}

// mounting are the names of the pods of the same role as that pod which may wait for their volumes.
func (s *State) mounting() (names []string) {
	first := s.Mounting()
	for _, pod := range s.Pods {
		if s.isMounting(pod) && NewRolePod(pod).Role == NewRolePod(first).Role {
			names = append(names, pod.Name)
		}
	}
	return names
}

func (s *State) isMounting(pod *corev1.Pod) bool {
	m := NewRolePod(pod)
	return m.State == Starting && Waiting(pod) == nil && !m.Started() && s.VolcanoJob != nil &&
		slices.ContainsFunc(s.VolcanoJob.Spec.Tasks, func(t vcbatch.TaskSpec) bool { return t.Name == m.Role && mountsObjects(&t.Template.Spec) })
}

// mountsObjects reports whether a pod has a volume of a ConfigMap or a Secret that has to exist.
func mountsObjects(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap != nil && !ptr.Deref(v.ConfigMap.Optional, false) || v.Secret != nil && !ptr.Deref(v.Secret.Optional, false) || v.Projected != nil
	})
}

// PlacedFor is how long the gang has had its nodes, 0 if it has none.
func (s *State) PlacedFor() time.Duration {
	c := meta.FindStatusCondition(s.Job.Status.Conditions, v1.ConditionScheduled)
	if c == nil || c.Status != metav1.ConditionTrue {
		return 0
	}
	return s.Now.Sub(c.LastTransitionTime.Time)
}

// StartFailures are the reasons for which the kubelet does not start pods, in the order of the first pod of each.
func StartFailures(pods []*corev1.Pod) (failures []StartFailure) {
	for _, pod := range pods {
		if stateOf(pod) != Starting {
			continue
		}
		waits := Waiting(pod)
		if waits == nil {
			continue
		}
		reason, missing := startFailure(pod, waits)
		if reason == "" {
			continue
		}
		i := slices.IndexFunc(failures, func(f StartFailure) bool {
			return f.Reason == reason && (missing == nil || *f.Missing == *missing)
		})
		if i < 0 {
			i = len(failures)
			failures = append(failures, StartFailure{Reason: reason, Missing: missing, Message: strings.TrimSpace(waits.Message)})
		}
		failures[i].Pods = append(failures[i].Pods, pod.Name)
	}
	return failures
}

// Waiting is the state of the first container that does not merely wait for its turn, nil if there is none.
func Waiting(pod *corev1.Pod) *corev1.ContainerStateWaiting {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if w := statuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
				return w
			}
		}
	}
	return nil
}

// startFailure classifies the kubelet's message about a container that it does not start; "" while a pod waits for the
// environment of its job, which is written once all addresses are known.
func startFailure(pod *corev1.Pod, waits *corev1.ContainerStateWaiting) (reason string, missing *Reference) {
	switch waits.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return ReasonImagePullFailed, nil
	case "CreateContainerConfigError":
		switch missing := missingObject(waits.Message); {
		case missing == nil:
		case *missing == (Reference{Kind: KindConfigMap, Name: pod.Labels[v1.JobNameLabel]}):
			return "", nil
		default:
			return missing.NotFound(), missing
		}
	}
	return waits.Reason, nil
}

// notFound matches the kubelet's message about an object that does not exist (kubernetes pkg/kubelet).
var notFound = regexp.MustCompile(`(?:^|: )(configmap|secret) "([^"]+)" not found$`)

// missingObject returns the object that does not exist according to a message of the kubelet, nil if it says nothing of the kind.
func missingObject(message string) *Reference {
	found := notFound.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	return &Reference{Kind: map[string]string{"configmap": KindConfigMap, "secret": KindSecret}[found[1]], Name: found[2]}
}
