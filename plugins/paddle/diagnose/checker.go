// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/feasibility"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// parallelism is how many goroutines call predicates, as many as Volcano has.
const parallelism = 16

// Checker finds what refuses nodes to the pods of a gang.
type Checker struct {
	Nodes []*api.NodeInfo
	// PrePredicate and Predicate are the session's. Several goroutines call Predicate.
	PrePredicate func(*api.TaskInfo) error
	Predicate    func(*api.TaskInfo, *api.NodeInfo) error
	// Filters are those of Kubernetes that the session applies.
	Filters feasibility.Filters
	Objects Objects
}

// WaitingRole is the pods of one role that a gang needs and that have no node.
type WaitingRole struct {
	Name            string
	Task            *api.TaskInfo // the first of them
	Minimum, Needed int
}

// Check returns what refuses nodes to a role: an object that its pods name, or what makes nodes infeasible for them; false if
// each role alone has enough nodes. Resources are reported only if nothing else is. It checks every node.
func (c *Checker) Check(roles []WaitingRole) (r report.Report, found bool) {
	all := map[*corev1.Pod]int{}
	for _, role := range roles {
		all[role.Task.Pod] = role.Needed
	}
	for _, role := range roles {
		if of, short := c.checkRole(role, all); short && (!found || r.Reason == report.InsufficientResources) {
			r, found = of, true
		}
	}
	return r, found
}

func (c *Checker) checkRole(role WaitingRole, all map[*corev1.Pod]int) (report.Report, bool) {
	task := role.Task.Clone() // predicates write to it
	short := func(missing int) []report.Role {
		return []report.Role{{Role: role.Name, Minimum: role.Minimum, Missing: missing}}
	}
	if err := c.PrePredicate(task); err != nil {
		r, found := c.Objects.missing(task.Pod)
		if !found {
			r = report.Report{Reason: report.RefusedByPlugin, Cause: err.Error(), Missing: &report.Missing{}}
		}
		r.Missing.Roles = short(role.Needed)
		return r, true
	}
	excluded := exclusionOf(task.Pod, role.Needed, all)
	chosen, isShort := chooseBlocker(role.Name, c.checkNodes(task, excluded), role.Needed, excluded)
	if !isShort || chosen.reason == "" {
		return report.Report{}, false
	}
	r := report.Report{Reason: chosen.reason, Missing: &report.Missing{Roles: short(chosen.missing)}, Nodes: &chosen.nodes}
	if chosen.reason == report.InsufficientResources && chosen.value != "" {
		name := corev1.ResourceName(chosen.value)
		short := report.Shortage{Name: name, Requested: task.InitResreq.Get(name), Available: c.mostIdle(task, name)}
		r.Missing.Resources = []report.Resource{short.Resource()}
	}
	c.suggest(&r, &chosen, task.Pod)
	return r, true
}

func (c *Checker) suggest(r *report.Report, chosen *chosenBlocker, pod *corev1.Pod) {
	add := func(kind report.Kind, value string) {
		r.Suggestions = append(r.Suggestions, report.Suggest(kind, value))
	}
	switch chosen.reason { //nolint:exhaustive // the others have nothing to name
	case report.NodeAffinity:
		r.Nodes.Refused[0].Value = selectorsOf(pod)
		add(report.ChangeNodeSelector, r.Nodes.Refused[0].Value)
	case report.NodeUnschedulable:
		add(report.Uncordon, chosen.value)
	case report.UntoleratedTaint:
		add(report.AddToleration, chosen.value)
		add(report.RemoveTaint, chosen.value)
	case report.HostPortConflict:
		add(report.ChangeHostPort, chosen.value)
	case report.GangAntiAffinity:
		if fits := r.Missing.Roles[0].Minimum - r.Missing.Roles[0].Missing; fits > 0 {
			r.Suggestions = append(r.Suggestions, report.SuggestFewer(r.Missing.Roles[0].Role, fits))
		}
	case report.PersistentVolumeClaimUnbound:
		for i := range pod.Spec.Volumes {
			if source := pod.Spec.Volumes[i].PersistentVolumeClaim; source != nil {
				r.Missing.Objects = append(r.Missing.Objects, report.Object{Kind: "PersistentVolumeClaim", Name: source.ClaimName})
				add(report.BindClaim, source.ClaimName)
			}
		}
	case report.ResourceClaimNotAllocatable:
		for i := range pod.Spec.ResourceClaims {
			r.Missing.Objects = append(r.Missing.Objects, report.Object{Kind: "ResourceClaim", Name: resourceClaimOf(pod, &pod.Spec.ResourceClaims[i])})
		}
	}
}

// mostIdle returns the most that a node which matches a pod and has too little of a resource has free of it.
func (c *Checker) mostIdle(task *api.TaskInfo, name corev1.ResourceName) (most float64) {
	required := nodeaffinity.GetRequiredNodeAffinity(task.Pod)
	for _, node := range c.Nodes {
		if node.Node == nil || !c.Filters.Matches(node.Node, required) {
			continue
		}
		if idle := node.FutureIdle().Get(name); idle < task.InitResreq.Get(name) {
			most = max(most, idle)
		}
	}
	return most
}

// checkNodes checks every node of the session for the pods that are like a task. Predicates are called for the nodes that
// match and whose spec refuses nothing.
func (c *Checker) checkNodes(task *api.TaskInfo, excluded *exclusion) []checkedNode {
	required := nodeaffinity.GetRequiredNodeAffinity(task.Pod)
	nodes := slices.DeleteFunc(slices.Clone(c.Nodes), func(node *api.NodeInfo) bool { return node.Node == nil })
	checked := make([]checkedNode, len(nodes))
	workqueue.ParallelizeUntil(context.Background(), parallelism, len(nodes), func(i int) {
		node, it := nodes[i], &checked[i]
		it.matches = c.Filters.Matches(node.Node, required)
		it.whenEmpty, it.now = podsIn(node.Allocatable, task.InitResreq), podsIn(node.FutureIdle(), task.InitResreq)
		if excluded != nil {
			it.domain = excluded.domain(node.Node)
		}
		if !it.matches || it.whenEmpty == 0 {
			return
		}
		it.blockers = c.specBlockers(node.Node, task.Pod)
		if len(it.blockers) == 0 {
			if err := c.Predicate(task, node); err != nil {
				it.blockers = filterBlockers(task.Pod, err)
			}
		}
		if b, short := resourceBlocker(task.InitResreq, node.FutureIdle()); short && !slices.Contains(it.blockers, b) {
			it.blockers = append(it.blockers, b)
		}
	})
	return checked
}

func (c *Checker) specBlockers(node *corev1.Node, pod *corev1.Pod) (blockers []blocker) {
	if !c.Filters.Enabled {
		return nil
	}
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if node.Spec.Unschedulable && !v1helper.TolerationsTolerateTaint(pod.Spec.Tolerations, &cordon) {
		blockers = append(blockers, blocker{reason: report.NodeUnschedulable, value: node.Name})
	}
	if !c.Filters.TaintToleration {
		return blockers
	}
	others := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeUnschedulable && node.Spec.Unschedulable
	})
	if taint, untolerated := v1helper.FindMatchingUntoleratedTaint(others, pod.Spec.Tolerations, helper.DoNotScheduleTaintsFilterFunc()); untolerated {
		blockers = append(blockers, blocker{reason: report.UntoleratedTaint, value: taint.ToString()})
	}
	return blockers
}

// Objects reads the objects that pods name. A function may be nil.
type Objects struct {
	Claim         func(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	Class         func(name string) (*storagev1.StorageClass, error)
	ResourceClaim func(namespace, name string) error
}

// ObjectsOf returns the objects in the informers of a session, which predicates read.
func ObjectsOf(ssn *framework.Session) Objects {
	var o Objects
	if factory := ssn.InformerFactory(); factory != nil {
		claims, classes := factory.Core().V1().PersistentVolumeClaims().Lister(), factory.Storage().V1().StorageClasses().Lister()
		o.Claim = func(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
			return claims.PersistentVolumeClaims(namespace).Get(name)
		}
		o.Class = func(name string) (*storagev1.StorageClass, error) { return classes.Get(name) }
	}
	if manager := ssn.SharedDRAManager(); manager != nil {
		o.ResourceClaim = func(namespace, name string) error {
			_, err := manager.ResourceClaims().Get(namespace, name)
			return err
		}
	}
	return o
}

// missing returns what is wrong with an object that a pod names, so that no node is feasible; false if nothing is.
func (o Objects) missing(pod *corev1.Pod) (r report.Report, found bool) {
	missing := func(reason report.Reason, suggestion report.Suggestion, objects ...report.Object) (report.Report, bool) {
		return report.Report{
			Reason: reason, Missing: &report.Missing{Objects: objects}, Suggestions: []report.Suggestion{suggestion},
		}, true
	}
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil || o.Claim == nil {
			continue
		}
		object := report.Object{Kind: "PersistentVolumeClaim", Name: source.ClaimName}
		claim, err := o.Claim(pod.Namespace, source.ClaimName)
		if apierrors.IsNotFound(err) {
			return missing(report.PersistentVolumeClaimNotFound, report.Suggest(report.CreateObject, object.String()), object)
		}
		if err != nil || claim.Spec.VolumeName != "" {
			continue
		}
		name := volume.GetPersistentVolumeClaimClass(claim)
		if name == "" || o.Class == nil {
			return missing(report.PersistentVolumeClaimUnbound, report.Suggest(report.BindClaim, claim.Name), object)
		}
		class, err := o.Class(name)
		if apierrors.IsNotFound(err) {
			kind := report.Object{Kind: "StorageClass", Name: name}
			r, found = missing(report.StorageClassNotFound, report.Suggest(report.CreateObject, kind.String()), kind, object)
			r.Value = name
			return r, found
		}
		if err == nil && (class.VolumeBindingMode == nil || *class.VolumeBindingMode == storagev1.VolumeBindingImmediate) {
			return missing(report.PersistentVolumeClaimUnbound, report.Suggest(report.BindClaim, claim.Name), object)
		}
	}
	for i := range pod.Spec.ResourceClaims {
		object := report.Object{Kind: "ResourceClaim", Name: resourceClaimOf(pod, &pod.Spec.ResourceClaims[i])}
		if object.Name == "" {
			object = report.Object{Kind: "ResourceClaim of template", Name: *pod.Spec.ResourceClaims[i].ResourceClaimTemplateName}
		} else if o.ResourceClaim == nil || o.ResourceClaim(pod.Namespace, object.Name) == nil {
			continue
		}
		return missing(report.ResourceClaimNotFound, report.Suggest(report.CreateObject, object.String()), object)
	}
	return r, false
}

// resourceClaimOf returns the name of the claim that a pod uses; empty if it was not made from its template yet.
func resourceClaimOf(pod *corev1.Pod, claim *corev1.PodResourceClaim) string {
	if claim.ResourceClaimName != nil {
		return *claim.ResourceClaimName
	}
	for _, made := range pod.Status.ResourceClaimStatuses {
		if made.Name == claim.Name && made.ResourceClaimName != nil {
			return *made.ResourceClaimName
		}
	}
	return ""
}
