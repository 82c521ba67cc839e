// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"maps"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"
	vcinformers "volcano.sh/apis/pkg/client/informers/externalversions"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	paddleinformers "github.com/paddle-volcano/paddle-volcano/controller/client/informers/externalversions"
)

// Clients are the API clients that the controller uses.
type Clients struct {
	Paddle  paddleclient.Interface
	Volcano vcclient.Interface
	Kube    kubernetes.Interface
}

// jobIndex finds pods by the PaddleJob they belong to, as namespace/name.
const jobIndex = "paddlejob"

// factory is what all of the generated informer factories can do.
type factory interface {
	Start(stop <-chan struct{})
	WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool
	Shutdown()
}

// sources are the informers, and the factories that run them.
type sources struct {
	paddle     paddleinformers.SharedInformerFactory
	volcano    vcinformers.SharedInformerFactory
	cluster    informers.SharedInformerFactory
	pods       informers.SharedInformerFactory
	configMaps informers.SharedInformerFactory
}

func newSources(clients Clients, namespace string, resync time.Duration) *sources {
	labelled := func(label string) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(clients.Kube, resync,
			informers.WithNamespace(namespace), informers.WithTransform(stripUnusedFields),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = label }))
	}
	return &sources{
		paddle: paddleinformers.NewSharedInformerFactoryWithOptions(clients.Paddle, resync,
			paddleinformers.WithNamespace(namespace), paddleinformers.WithTransform(stripUnusedFields)),
		volcano: vcinformers.NewSharedInformerFactoryWithOptions(clients.Volcano, resync,
			vcinformers.WithNamespace(namespace), vcinformers.WithTransform(stripUnusedFields)),
		cluster:    informers.NewSharedInformerFactoryWithOptions(clients.Kube, resync, informers.WithTransform(stripUnusedFields)),
		pods:       labelled(v1.ResourceTypeLabel),
		configMaps: labelled(v1.JobNameLabel),
	}
}

func (s *sources) all() []factory {
	return []factory{s.paddle, s.volcano, s.cluster, s.pods, s.configMaps}
}

// stripUnusedFields drops what the controller never reads, so that its caches stay small.
func stripUnusedFields(object any) (any, error) {
	if m, ok := object.(metav1.Object); ok {
		m.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Pod:
		maps.DeleteFunc(o.Labels, unusedKey)
		maps.DeleteFunc(o.Annotations, unusedKey)
		o.Spec = corev1.PodSpec{NodeName: o.Spec.NodeName}
		o.Status = corev1.PodStatus{
			Phase: o.Status.Phase, Reason: o.Status.Reason, Message: o.Status.Message,
			PodIP: o.Status.PodIP, PodIPs: o.Status.PodIPs, HostIP: o.Status.HostIP, Conditions: stripConditions(o.Status.Conditions),
			InitContainerStatuses: stripContainers(o.Status.InitContainerStatuses),
			ContainerStatuses:     stripContainers(o.Status.ContainerStatuses),
		}
	case *vcbatch.Job:
		o.Status.Conditions = nil
		if _, labeled := o.Labels[v1.JobNameLabel]; !labeled {
			o.Spec, o.Status = vcbatch.JobSpec{}, vcbatch.JobStatus{}
		}
	}
	return object, nil
}

// unusedKey reports whether the controller reads no label or annotation of this key on a pod. They are most of a stripped pod.
func unusedKey(key, _ string) bool {
	switch key {
	case v1.ResourceNameLabel, v1.ResourceTypeLabel, v1.TaskIndexLabel, v1.OutOfSyncAnnotation, vcbatch.TaskSpecKey, vcbatch.JobRetryCountKey:
		return false
	}
	return !strings.HasPrefix(key, v1.Prefix)
}

func stripContainers(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	for i := range statuses {
		statuses[i] = corev1.ContainerStatus{Name: statuses[i].Name, State: statuses[i].State}
	}
	return statuses
}

// stripConditions leaves what observed.Disruption and observed.State.PartlyRecreated read.
func stripConditions(conditions []corev1.PodCondition) (used []corev1.PodCondition) {
	for _, c := range conditions {
		switch c.Type {
		case corev1.DisruptionTarget:
			used = append(used, c)
		case corev1.PodScheduled:
			used = append(used, corev1.PodCondition{Type: corev1.PodScheduled, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
		}
	}
	return used
}

// indexPod returns the PaddleJob that a pod belongs to: by JobNameLabel, or by its owner where paddle-operator created it.
func indexPod(object any) ([]string, error) {
	if pod, ok := object.(*corev1.Pod); ok && jobOf(pod) != "" {
		return []string{jobOf(pod)}, nil
	}
	return nil, nil
}

// jobOf is the key of the PaddleJob that an object belongs to, empty if it names none.
func jobOf(object metav1.Object) string {
	if name := object.GetLabels()[v1.JobNameLabel]; name != "" {
		return cache.NewObjectName(object.GetNamespace(), name).String()
	}
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == v1.Kind {
		return cache.NewObjectName(object.GetNamespace(), owner.Name).String()
	}
	return ""
}
