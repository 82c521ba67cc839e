// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// StartFailures are the reasons for which the kubelet does not start the job's pods. References are read from the templates,
// because the cache has no specs of pods.
func (s *State) StartFailures() []StartFailure {
	if s.VolcanoJob == nil {
		return nil
	}
	var specs []*corev1.PodSpec
	for i := range s.VolcanoJob.Spec.Tasks {
		specs = append(specs, &s.VolcanoJob.Spec.Tasks[i].Template.Spec)
	}
	refs := References(specs...)
	failures := StartFailures(s.Pods, refs)
	for _, ref := range refs {
		known := slices.ContainsFunc(failures, func(f StartFailure) bool { return f.Missing != nil && *f.Missing == ref })
		if pods := s.mounting(); len(pods) > 0 && !known && strings.HasSuffix(s.FailedMount, ": "+ref.absence()) {
			failures = append(failures, StartFailure{Reason: ref.NotFound(), Missing: &ref, Pods: pods, Message: s.FailedMount})
		}
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
		slices.ContainsFunc(s.VolcanoJob.Spec.Tasks, func(t vcbatch.TaskSpec) bool { return t.Name == m.Role && len(volumeReferences(&t.Template.Spec)) > 0 })
}

// PlacedFor is how long the gang has had its nodes, 0 if it has none.
func (s *State) PlacedFor() time.Duration {
	c := meta.FindStatusCondition(s.Job.Status.Conditions, v1.ConditionScheduled)
	if c == nil || c.Status != metav1.ConditionTrue {
		return 0
	}
	return s.Now.Sub(c.LastTransitionTime.Time)
}

// StartFailures are the reasons for which the kubelet does not start pods, in the order of the first pod of each. The pods
// refer to refs.
func StartFailures(pods []*corev1.Pod, refs []Reference) (failures []StartFailure) {
	for _, pod := range pods {
		if stateOf(pod) != Starting {
			continue
		}
		waits := Waiting(pod)
		if waits == nil {
			continue
		}
		reason, missing := startFailure(pod, waits, refs)
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

// startFailure classifies what the kubelet says of a container that it does not start; "" while a pod waits for the
// environment of its own job, which comes once all addresses are known.
func startFailure(pod *corev1.Pod, waits *corev1.ContainerStateWaiting, refs []Reference) (reason string, missing *Reference) {
	switch waits.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return ReasonImagePullFailed, nil
	case "CreateContainerConfigError":
		environment := Reference{Kind: KindConfigMap, Name: pod.Labels[v1.JobNameLabel]}
		if waits.Message == environment.absence() {
			return "", nil
		}
		for _, ref := range refs {
			if waits.Message == ref.absence() {
				return ref.NotFound(), &ref
			}
		}
	}
	return waits.Reason, nil
}

// absence is what the kubelet says where the object does not exist.
func (r Reference) absence() string {
	return fmt.Sprintf("%s %q not found", strings.ToLower(r.Kind), r.Name)
}

// References are the ConfigMaps and Secrets that the kubelet needs to start pods, each once.
func References(specs ...*corev1.PodSpec) (refs []Reference) {
	for _, spec := range specs {
		needVolumes(spec, needed(&refs))
		needVariables(spec, needed(&refs))
	}
	return refs
}

// volumeReferences are those that the kubelet needs to mount the volumes of a pod.
func volumeReferences(spec *corev1.PodSpec) (refs []Reference) {
	needVolumes(spec, needed(&refs))
	return refs
}

// needed adds references that are not optional, each once.
func needed(refs *[]Reference) func(kind, name string, optional *bool) {
	return func(kind, name string, optional *bool) {
		ref := Reference{Kind: kind, Name: name}
		if name != "" && (optional == nil || !*optional) && !slices.Contains(*refs, ref) {
			*refs = append(*refs, ref)
		}
	}
}

func needVolumes(spec *corev1.PodSpec, need func(kind, name string, optional *bool)) {
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		if v.ConfigMap != nil {
			need(KindConfigMap, v.ConfigMap.Name, v.ConfigMap.Optional)
		}
		if v.Secret != nil {
			need(KindSecret, v.Secret.SecretName, v.Secret.Optional)
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.ConfigMap != nil {
				need(KindConfigMap, source.ConfigMap.Name, source.ConfigMap.Optional)
			}
			if source.Secret != nil {
				need(KindSecret, source.Secret.Name, source.Secret.Optional)
			}
		}
	}
}

func needVariables(spec *corev1.PodSpec, need func(kind, name string, optional *bool)) {
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for _, from := range containers[i].EnvFrom {
				if from.ConfigMapRef != nil {
					need(KindConfigMap, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
				}
				if from.SecretRef != nil {
					need(KindSecret, from.SecretRef.Name, from.SecretRef.Optional)
				}
			}
			for _, env := range containers[i].Env {
				if env.ValueFrom == nil {
					continue
				}
				if ref := env.ValueFrom.ConfigMapKeyRef; ref != nil {
					need(KindConfigMap, ref.Name, ref.Optional)
				}
				if ref := env.ValueFrom.SecretKeyRef; ref != nil {
					need(KindSecret, ref.Name, ref.Optional)
				}
			}
		}
	}
}
