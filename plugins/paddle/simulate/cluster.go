// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Cluster is what a scheduler sees. The objects are not changed.
type Cluster struct {
	// Configuration is the text of volcano-scheduler.conf.
	Configuration string
	// Scheduler is what the scheduler's pods call it (spec.schedulerName); empty means volcano.
	Scheduler string

	Nodes           []*corev1.Node
	Namespaces      []*corev1.Namespace
	HyperNodes      []*topology.HyperNode
	Queues          []*scheduling.Queue
	PriorityClasses []*schedulingv1.PriorityClass
	Quotas          []*corev1.ResourceQuota
	PodGroups       []*scheduling.PodGroup
	Pods            []*corev1.Pod
	// Coming are pods that Volcano's Job controller makes once their PodGroup is admitted, by its key.
	Coming map[string][]*corev1.Pod
}

func (c *Cluster) name() string { return cmp.Or(c.Scheduler, volcano) }

// Key returns the name of a PodGroup or pod in results: namespace/name.
func Key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// Result is what the scheduler would do.
type Result struct {
	// Groups are the PodGroups that it wrote to, as it wrote them last, by key.
	Groups map[string]*scheduling.PodGroup
	// Bound are the nodes of the pods that it bound, by PodGroup and pod; those that were bound before are not among them.
	Bound map[string]map[string]string
	// Placements are gangs that the plugin placed, by PodGroup.
	Placements map[string]Placement
	// Evicted are the pods that it evicted, in the order of their keys.
	Evicted []*corev1.Pod
	// Notes say what of the configuration was left out, and which objects it could not use.
	Notes []string
}

// Placement is where the plugin placed a gang.
type Placement struct {
	report.Placement
	// Domains are the domains of the gang's nodes in the tier above the nodes, by the nodes' names.
	Domains map[string]string
}

// sorted returns a list in the order of keys: what comes first must not depend on who listed it.
func sorted[T metav1.Object](list []T) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int { return cmp.Compare(Key(a), Key(b)) })
}
