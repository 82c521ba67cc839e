// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
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
		c.Coming[job.Namespace+"/"+snapshot.GroupOf(job)] = c.podsOf(job)
	}
	if s.Lacks(snapshot.Queues) {
		for _, group := range c.PodGroups {
			c.openQueue(group.Spec.Queue)
		}
	}
	return c
}

func (c *cluster) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// openQueue adds an open queue in place of one that could not be read.
func (c *cluster) openQueue(name string) {
	if c.queue(name) == nil {
		c.Queues = append(c.Queues, &vcscheduling.Queue{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: vcscheduling.QueueSpec{Weight: 1},
			Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen},
		})
	}
}

func (c *cluster) queue(name string) *vcscheduling.Queue {
	at := slices.IndexFunc(c.Queues, func(q *vcscheduling.Queue) bool { return q.Name == name })
	if at < 0 {
		return nil
	}
	return c.Queues[at]
}

// submit submits a job at the time of the snapshot: it is the youngest.
func (c *cluster) submit(job *v1.PaddleJob, requested builder.PodGroupOverrides, config builder.Config) {
	job = job.DeepCopy()
	job.UID = "plan"
	made, _ := builder.Job(job, requested, config) // its warnings were printed when the job was checked
	made.UID = "plan"
	made.CreationTimestamp = c.taken
	for i := range made.Spec.Tasks {
		c.addCaveats(&made.Spec.Tasks[i].Template.Spec)
		made.Spec.Tasks[i].Template.Spec = snapshot.PodSpec(&made.Spec.Tasks[i].Template.Spec)
	}
	group := builder.PodGroup(made, func(class string) int32 { return c.priority(class) })
	group.UID, group.CreationTimestamp = "plan", c.taken
	group.Status.Phase = vcscheduling.PodGroupPending
	c.PodGroups = append(c.PodGroups, group)
	c.Coming[simulate.Key(group)] = c.podsOf(made)
	c.wanted = group
}

// addCaveats notes what of a pod the plan ignores.
func (c *cluster) addCaveats(spec *corev1.PodSpec) {
	const claims, devices = "volumes are ignored: a claim may restrict the job to some nodes", "claims of devices (resourceClaims) are ignored"
	if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }) &&
		!slices.Contains(c.notes, claims) {
		c.note(claims)
	}
	if len(spec.ResourceClaims) > 0 && !slices.Contains(c.notes, devices) {
		c.note(devices)
	}
}

// remove removes a job that has the name of the planned one.
func (c *cluster) remove(namespace, name string) {
	groups := map[string]bool{}
	c.PodGroups = slices.DeleteFunc(c.PodGroups, func(g *vcscheduling.PodGroup) bool {
		its := g.Namespace == namespace && g.Labels[v1.JobNameLabel] == name
		groups[simulate.Key(g)] = groups[simulate.Key(g)] || its
		return its
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

// priority returns the value of a priority class, and of the default one if the name is empty.
func (c *cluster) priority(class string) int32 {
	return describe.Priority(c.PriorityClasses, class)
}
