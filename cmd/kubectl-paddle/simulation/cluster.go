// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"
)

// cluster is a cluster to simulate, made of a snapshot.
type cluster struct {
	simulate.Cluster
	taken  metav1.Time
	wanted *vcscheduling.PodGroup
	// displaced are pods that lost their node.
	displaced []*corev1.Pod
	notes     []string
}

func newCluster(s *snapshot.Snapshot) *cluster {
	c := &cluster{taken: s.Time, Cluster: simulate.Cluster{
		Configuration: s.SchedulerConfiguration,
		Nodes:         slices.Clone(s.Nodes), Namespaces: s.Namespaces, HyperNodes: slices.Clone(s.HyperNodes),
		Queues: slices.Clone(s.Queues), PriorityClasses: s.PriorityClasses, Quotas: s.ResourceQuotas,
		PodGroups: slices.Clone(s.PodGroups), Pods: slices.Clone(s.Pods), Coming: map[string][]*corev1.Pod{},
	}}
	for _, job := range s.Jobs {
		c.Coming[job.Namespace+"/"+volcano.PodGroupName(job)] = c.podsOf(job)
	}
	if s.Lacks(snapshot.Queues) {
		for _, group := range c.PodGroups {
			c.openQueue(group.Spec.Queue)
		}
	}
	return c
}

// note adds a note, once.
func (c *cluster) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// openQueue adds an open queue instead of one that could not be read.
func (c *cluster) openQueue(name string) {
	if !c.hasQueue(name) {
		c.Queues = append(c.Queues, &vcscheduling.Queue{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: vcscheduling.QueueSpec{Weight: 1},
			Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen},
		})
	}
}

func (c *cluster) hasQueue(name string) bool {
	return slices.ContainsFunc(c.Queues, func(q *vcscheduling.Queue) bool { return q.Name == name })
}

// submit submits a job at the time of the snapshot: it is the youngest.
func (c *cluster) submit(job *v1.PaddleJob, requested builder.PodGroupOverrides, config builder.Config) {
	job = job.DeepCopy()
	job.UID = "plan"
	made, _ := builder.Job(job, requested, config) // its warnings were printed when the job was checked
	if p := job.Spec.Parallelism; p != nil && p.ConfigMapKeyRef != nil {
		c.note("the degrees of spec.parallelism.configMapKeyRef are ignored: write them into spec.parallelism to plan with them")
	}
	made.UID = "plan"
	made.CreationTimestamp = c.taken
	for i := range made.Spec.Tasks {
		spec := &made.Spec.Tasks[i].Template.Spec
		if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }) {
			c.note("volumes are ignored: a claim may restrict the job to some nodes")
		}
		if len(spec.ResourceClaims) > 0 {
			c.note("claims of devices (resourceClaims) are ignored")
		}
		*spec = snapshot.PodSpec(spec)
	}
	group := builder.PodGroup(made)
	group.UID, group.CreationTimestamp = "plan", c.taken
	group.Status.Phase = vcscheduling.PodGroupPending
	c.PodGroups = append(c.PodGroups, group)
	c.Coming[simulate.Key(group)] = c.podsOf(made)
	c.wanted = group
}

// remove removes a job that has the name of the planned one.
func (c *cluster) remove(namespace, name string) {
	groups := map[string]bool{}
	c.PodGroups = slices.DeleteFunc(c.PodGroups, func(g *vcscheduling.PodGroup) bool {
		groups[simulate.Key(g)] = g.Namespace == namespace && g.Labels[v1.JobNameLabel] == name
		return groups[simulate.Key(g)]
	})
	before := len(c.Pods)
	c.Pods = slices.DeleteFunc(c.Pods, func(p *corev1.Pod) bool {
		return groups[groupKey(p)] || p.Namespace == namespace && p.Labels[v1.JobNameLabel] == name
	})
	if removed := before - len(c.Pods); removed > 0 {
		c.note("job %s exists already: it is planned as if that one were deleted, with its pods (%d)", name, removed)
	}
}

// groupKey returns the key of a pod's PodGroup.
func groupKey(pod *corev1.Pod) string {
	return pod.Namespace + "/" + pod.Annotations[vcscheduling.KubeGroupNameAnnotationKey]
}

// podsOf returns the pods that Volcano's Job controller makes of a Job, as the API server completes them.
// Source: createJobPod in pkg/controllers/job/job_controller_util.go, v1.14.1.
func (c *cluster) podsOf(job *vcbatch.Job) (pods []*corev1.Pod) {
	for i := range job.Spec.Tasks {
		for index := range int(job.Spec.Tasks[i].Replicas) {
			pods = append(pods, c.podOf(job, &job.Spec.Tasks[i], index))
		}
	}
	return pods
}

func (c *cluster) podOf(job *vcbatch.Job, task *vcbatch.TaskSpec, index int) *corev1.Pod {
	number := strconv.Itoa(index)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%s-%d", job.Name, task.Name, index), Namespace: job.Namespace,
			UID: types.UID(fmt.Sprintf("%s-%s-%s-%d", job.Namespace, job.UID, task.Name, index)), CreationTimestamp: job.CreationTimestamp,
			Labels: map[string]string{}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, vcbatch.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec:   *task.Template.Spec.DeepCopy(),
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	maps.Copy(pod.Labels, task.Template.Labels)
	maps.Copy(pod.Annotations, task.Template.Annotations)
	for key, value := range map[string]string{
		vcbatch.TaskIndex: number, vcbatch.TaskSpecKey: task.Name, vcbatch.JobNameKey: job.Name, vcbatch.QueueNameKey: job.Spec.Queue,
	} {
		pod.Labels[key], pod.Annotations[key] = value, value
	}
	pod.Labels[vcbatch.JobNamespaceKey] = job.Namespace
	pod.Annotations[vcscheduling.KubeGroupNameAnnotationKey] = volcano.PodGroupName(job)
	pod.Annotations[vcbatch.JobVersion] = strconv.Itoa(int(job.Status.Version))
	pod.Annotations[vcbatch.JobRetryCountKey] = strconv.Itoa(int(job.Status.RetryCount))
	pod.Annotations[vcbatch.PodTemplateKey] = job.Name + "-" + task.Name
	copyKeys(pod.Labels, job.Labels, vcscheduling.PodPreemptable, vcscheduling.CooldownTime)
	copyKeys(pod.Annotations, job.Annotations, vcscheduling.PodPreemptable, vcscheduling.CooldownTime, vcscheduling.RevocableZone,
		vcscheduling.JDBMinAvailable, vcscheduling.JDBMaxUnavailable)
	if task.TopologyPolicy != "" {
		pod.Annotations[vcscheduling.NumaPolicyKey] = string(task.TopologyPolicy)
	}
	if parts := task.PartitionPolicy; parts != nil {
		pod.Labels[vcbatch.TaskPartitionID] = strconv.Itoa(index / max(int(parts.PartitionSize), 1))
	}
	pod.Spec.SchedulerName = cmp.Or(pod.Spec.SchedulerName, job.Spec.SchedulerName)
	pod.Spec.PriorityClassName = cmp.Or(pod.Spec.PriorityClassName, job.Spec.PriorityClassName)
	if pod.Spec.Priority == nil {
		value := describe.Priority(c.PriorityClasses, pod.Spec.PriorityClassName)
		pod.Spec.Priority = &value
	}
	builder.FillRequests(&pod.Spec)
	return pod
}

func copyKeys(to, from map[string]string, keys ...string) {
	for _, key := range keys {
		if value, ok := from[key]; ok {
			to[key] = value
		}
	}
}

// without removes nodes and what runs on them.
func (c *cluster) without(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(c.Nodes, func(n *corev1.Node) bool { return n.Name == name }) {
			return plan.Errorf(plan.NotFound, "plan without node %s: not found: the cluster has no node of that name", name)
		}
		c.Nodes = slices.DeleteFunc(c.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		c.Pods = slices.DeleteFunc(c.Pods, func(p *corev1.Pod) bool {
			removed := p.Spec.NodeName == name
			if removed && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
				c.displaced = append(c.displaced, p)
			}
			return removed
		})
	}
	return nil
}

// add adds copies of a node to its domains: of the named one, or of one of the largest group of equal nodes.
func (c *cluster) add(count int, like string) error {
	if count == 0 {
		return nil
	}
	model := c.usual()
	if at := slices.IndexFunc(c.Nodes, func(n *corev1.Node) bool { return n.Name == like }); at >= 0 {
		model = c.Nodes[at]
	} else if like != "" || model == nil {
		return plan.Errorf(plan.NotFound, "plan with %d more nodes: not found: the cluster has no node %s to copy", count, like)
	}
	for i := range count {
		added := model.DeepCopy()
		added.Name = fmt.Sprintf("%s-added-%d", model.Name, i+1)
		added.UID = types.UID(added.Name)
		if _, ok := added.Labels[corev1.LabelHostname]; ok {
			added.Labels[corev1.LabelHostname] = added.Name
		}
		c.Nodes = append(c.Nodes, added)
		c.join(model.Name, added.Name)
	}
	c.note("%d nodes are added, copies of %s with the same place in the network", count, model.Name)
	return nil
}

// usual returns the first of the largest group of nodes that take pods and are equal to the scheduler, nil if there is none.
func (c *cluster) usual() (first *corev1.Node) {
	sizes, largest := map[string]int{}, 0
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue} // all that a snapshot keeps of one
	for _, n := range slices.SortedFunc(slices.Values(c.Nodes), func(a, b *corev1.Node) int { return cmp.Compare(b.Name, a.Name) }) {
		kind, err := json.Marshal([]any{n.Status.Allocatable, n.Spec.Taints})
		if err != nil || n.Spec.Unschedulable || !slices.Contains(n.Status.Conditions, ready) {
			continue
		}
		if sizes[string(kind)]++; sizes[string(kind)] >= largest {
			first, largest = n, sizes[string(kind)]
		}
	}
	return first
}

// join adds a node to the HyperNodes that name its model. Those that select by labels have it already.
func (c *cluster) join(model, added string) {
	for i, hyper := range c.HyperNodes {
		for _, member := range hyper.Spec.Members {
			if member.Type == topology.MemberTypeNode && member.Selector.ExactMatch != nil && member.Selector.ExactMatch.Name == model {
				hyper = hyper.DeepCopy()
				hyper.Spec.Members = append(hyper.Spec.Members, topology.MemberSpec{
					Type: topology.MemberTypeNode, Selector: topology.MemberSelector{ExactMatch: &topology.ExactMatch{Name: added}},
				})
				c.HyperNodes[i] = hyper
				break
			}
		}
	}
}
