// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"context"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// blocked is what refuses nodes to a role of a gang: an object that its pods name, or what stands between them and nodes;
// false if each role has nodes enough for itself. Resources are named where nothing else is. It asks about every node, and is
// called only where a gang is explained.
func (c *course) blocked(job *api.JobInfo) (r report.Report, found bool) {
	if len(c.ssn.Nodes) == 0 {
		return report.Report{Reason: report.NoReadyNodes}, true
	}
	roles, all := c.waiting(job)
	for _, role := range roles {
		if of, short := c.blockedRole(role, all); short && (!found || r.Reason == report.InsufficientResources) {
			r, found = of, true
		}
	}
	return r, found
}

// waitingRole is the pods of one role that a gang needs and that have no node.
type waitingRole struct {
	name            string
	task            *api.TaskInfo // the first of them
	minimum, needed int
}

// waiting are the roles of a gang that are short of their minimum, and how many pods they need, by a pod of each.
func (c *course) waiting(job *api.JobInfo) (roles []waitingRole, all map[*corev1.Pod]int) {
	all = map[*corev1.Pod]int{}
	tasks := paddlejob.InOrder(job)
	for _, group := range c.gangs[job.UID] {
		role := waitingRole{name: roleNames[group.Role], minimum: int(group.Min), needed: int(group.Min)}
		for _, task := range tasks {
			switch {
			case task.TaskRole != group.Task:
			case paddlejob.Occupies(task.Status):
				role.needed--
			case task.Status == api.Pending && !task.SchGated && role.task == nil:
				role.task = task
			}
		}
		if role.task != nil && role.needed > 0 {
			roles = append(roles, role)
			all[role.task.Pod] = role.needed
		}
	}
	return roles, all
}

func (c *course) blockedRole(role waitingRole, all map[*corev1.Pod]int) (report.Report, bool) {
	task := role.task.Clone() // predicates write to it
	short := func(missing int) []report.Role {
		return []report.Role{{Role: role.name, Minimum: role.minimum, Missing: missing}}
	}
	if err := c.PrePredicateFn(task); err != nil {
		r, found := c.objects().missing(task.Pod)
		if !found {
			r = report.Report{Reason: report.RefusedByPlugin, Message: "the pods cannot be scheduled: " + err.Error(), Missing: &report.Missing{}}
		}
		r.Missing.Roles = short(role.needed)
		return r, true
	}
	excluded := exclusionOf(task.Pod, role.needed, all)
	chosen, isShort := chooseBlocker(role.name, c.check(task, excluded), role.needed, excluded)
	if !isShort || chosen.reason == "" {
		return report.Report{}, false
	}
	r := report.Report{Reason: chosen.reason, Missing: &report.Missing{Roles: short(chosen.missing)}, Nodes: &chosen.nodes}
	if chosen.reason == report.InsufficientResources && chosen.value != "" {
		name := corev1.ResourceName(chosen.value)
		r.Missing.Resources = []report.Resource{{
			Name: chosen.value, Requested: quantity(name, task.InitResreq.Get(name)), Available: quantity(name, c.mostIdle(task, name)),
		}}
	}
	c.suggest(&r, &chosen, task.Pod)
	return r, true
}

// suggest adds what would help against a blocker.
func (c *course) suggest(r *report.Report, chosen *chosenBlocker, pod *corev1.Pod) {
	add := func(kind report.Kind, value string) {
		r.Suggestions = append(r.Suggestions, report.Suggest(kind, value))
	}
	switch chosen.reason { //nolint:exhaustive // the others have nothing to name
	case report.NodeAffinity:
		var nodes []*corev1.Node
		for _, node := range c.ssn.NodeList {
			if node.Node != nil {
				nodes = append(nodes, node.Node)
			}
		}
		r.Nodes.Refused[0].Value = selectedBy(pod, nodes)
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
			r.Suggestions = append(r.Suggestions, report.Suggestion{
				Kind: report.FewerReplicas, Role: r.Missing.Roles[0].Role, Value: strconv.Itoa(fits),
				Text: "it fits with " + strconv.Itoa(fits) + " " + report.Plural(fits, r.Missing.Roles[0].Role),
			})
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

// mostIdle is the most that a node which matches a pod and has too little of a resource has free of it.
func (c *course) mostIdle(task *api.TaskInfo, name corev1.ResourceName) (most float64) {
	required := nodeaffinity.GetRequiredNodeAffinity(task.Pod)
	for _, node := range c.ssn.NodeList {
		if node.Node == nil || !c.templates.matches(node.Node, required) {
			continue
		}
		if idle := node.FutureIdle().Get(name); idle < task.InitResreq.Get(name) {
			most = max(most, idle)
		}
	}
	return most
}

// check looks at every node of the session for the pods that are like a task. Predicates are asked about the nodes that
// match and whose spec refuses nothing.
func (c *course) check(task *api.TaskInfo, excluded *exclusion) []checkedNode {
	required := nodeaffinity.GetRequiredNodeAffinity(task.Pod)
	nodes := slices.DeleteFunc(slices.Clone(c.ssn.NodeList), func(node *api.NodeInfo) bool { return node.Node == nil })
	checked := make([]checkedNode, len(nodes))
	c.asking = true
	defer func() { c.asking = false }()
	workqueue.ParallelizeUntil(context.Background(), askers, len(nodes), func(i int) {
		node, it := nodes[i], &checked[i]
		it.matches = c.templates.matches(node.Node, required)
		it.whenEmpty, it.now = podsIn(node.Allocatable, task.InitResreq), podsIn(node.FutureIdle(), task.InitResreq)
		if excluded != nil {
			it.domain = excluded.domain(node.Node)
		}
		if !it.matches || it.whenEmpty == 0 {
			return
		}
		it.blockers = c.templates.ownBlockers(node.Node, task.Pod)
		if len(it.blockers) == 0 {
			if err := c.PredicateForAllocateAction(task, node); err != nil {
				it.blockers = filterBlockers(task.Pod, err)
			}
		}
		if b, short := resourceBlocker(task.InitResreq, node.FutureIdle()); short && !slices.Contains(it.blockers, b) {
			it.blockers = append(it.blockers, b)
		}
	})
	return checked
}

// objects are the claims and classes of the session's informers, which predicates read.
func (c *course) objects() objects {
	var o objects
	if factory := c.ssn.InformerFactory(); factory != nil {
		claims, classes := factory.Core().V1().PersistentVolumeClaims().Lister(), factory.Storage().V1().StorageClasses().Lister()
		o.claim = func(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
			return claims.PersistentVolumeClaims(namespace).Get(name)
		}
		o.class = func(name string) (*storagev1.StorageClass, error) { return classes.Get(name) }
	}
	if manager := c.ssn.SharedDRAManager(); manager != nil {
		o.resourceClaim = func(namespace, name string) error {
			_, err := manager.ResourceClaims().Get(namespace, name)
			return err
		}
	}
	return o
}
