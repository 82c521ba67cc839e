// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

const (
	namespace = "bench"
	queueName = "default"
	gpuName   = "nvidia.com/gpu"
	// maxPods is what a kubelet takes by default.
	maxPods = 110
)

// list is amounts as Kubernetes writes them.
func (a Amounts) list() corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(a.CPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(a.Memory<<30, resource.BinarySI),
	}
	if a.GPU > 0 {
		list[gpuName] = *resource.NewQuantity(a.GPU, resource.DecimalSI)
	}
	return list
}

// identity is a UID that says nothing of the name's order, and is the same in every run.
func identity(name string) types.UID {
	sum := sha256.Sum256([]byte(name))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

func (n *Node) object() *corev1.Node {
	list := n.Capacity.list()
	list[corev1.ResourcePods] = *resource.NewQuantity(maxPods, resource.DecimalSI)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name,
			UID:  identity(n.Name),
			Labels: map[string]string{
				corev1.LabelHostname: n.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{
			Capacity: list, Allocatable: list,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

// pods are those of others that run on the node.
func (n *Node) pods() []*corev1.Pod {
	pods := make([]*corev1.Pod, len(n.Running))
	for i, amounts := range n.Running {
		name := fmt.Sprintf("other-%s-%d", n.Name, i)
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: identity(name)},
			Spec: corev1.PodSpec{
				NodeName: n.Name, SchedulerName: corev1.DefaultSchedulerName,
				Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: amounts.list()}}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
	}
	return pods
}

// hyperNodes are the racks, and then the blocks, of a fleet.
func (f Fleet) hyperNodes() []*topology.HyperNode {
	racks, blocks := map[string][]string{}, map[string][]string{}
	for i := range f {
		n := &f[i]
		if racks[n.Rack] == nil {
			blocks[n.Block] = append(blocks[n.Block], n.Rack)
		}
		racks[n.Rack] = append(racks[n.Rack], n.Name)
	}
	var all []*topology.HyperNode
	for _, name := range slices.Sorted(maps.Keys(racks)) {
		all = append(all, hyperNode(name, 1, "rack", topology.MemberTypeNode, racks[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		all = append(all, hyperNode(name, 2, "block", topology.MemberTypeHyperNode, blocks[name]))
	}
	return all
}

func hyperNode(name string, tier int, tierName string, kind topology.MemberType, members []string) *topology.HyperNode {
	node := &topology.HyperNode{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       topology.HyperNodeSpec{Tier: tier, TierName: tierName},
	}
	for _, member := range members {
		node.Spec.Members = append(node.Spec.Members, topology.MemberSpec{
			Type: kind, Selector: topology.MemberSelector{ExactMatch: &topology.ExactMatch{Name: member}},
		})
	}
	return node
}

// queue is an open queue without a quota.
func queue(name string) *scheduling.Queue {
	return &scheduling.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       scheduling.QueueSpec{Weight: 1},
		Status:     scheduling.QueueStatus{State: scheduling.QueueStateOpen},
	}
}

// Bound is the node of each pod of a job that is bound or runs, by the pod's name; nil if the job is not known.
func (s *Scheduler) Bound(job *Job) map[string]string {
	s.cache.Lock()
	defer s.cache.Unlock()
	info := s.info(job)
	if info == nil {
		return nil
	}
	nodes := map[string]string{}
	for _, task := range info.Tasks {
		if api.AllocatedStatus(task.Status) {
			nodes[task.Name] = task.NodeName
		}
	}
	return nodes
}

// Placed reports whether every pod of the job is bound.
func (s *Scheduler) Placed(job *Job) bool { return len(s.Bound(job)) == job.Pods() }

// Run does what kubelets do: the job's bound pods run.
func (s *Scheduler) Run(job *Job) {
	for _, old := range s.pods(job) {
		if old.node == "" || old.pod.Status.Phase == corev1.PodRunning {
			continue
		}
		running := old.pod.DeepCopy()
		running.Spec.NodeName = old.node
		running.Status.Phase = corev1.PodRunning
		s.cache.UpdatePod(old.pod, running)
	}
}

// Remove takes a job with its pods and PodGroup away.
func (s *Scheduler) Remove(job *Job) {
	for _, old := range s.pods(job) {
		s.cache.DeletePod(old.pod)
	}
	if group := s.groups[job.Name]; group != nil {
		s.cache.DeletePodGroupV1beta1(group)
		delete(s.groups, job.Name)
	}
}

// Jobs is how many jobs the cache knows; those taken away are forgotten a little later.
func (s *Scheduler) Jobs() int {
	s.cache.Lock()
	defer s.cache.Unlock()
	return len(s.cache.Jobs)
}

type placedPod struct {
	pod  *corev1.Pod
	node string
}

// pods of a job as the cache has them now.
func (s *Scheduler) pods(job *Job) []placedPod {
	s.cache.Lock()
	defer s.cache.Unlock()
	info := s.info(job)
	if info == nil {
		return nil
	}
	pods := make([]placedPod, 0, len(info.Tasks))
	for _, task := range info.Tasks {
		pods = append(pods, placedPod{task.Pod, task.NodeName})
	}
	return pods
}

// info is the cache's, whose lock is held.
func (s *Scheduler) info(job *Job) *api.JobInfo {
	group := s.groups[job.Name]
	if group == nil {
		return nil
	}
	return s.cache.Jobs[api.JobID(group.Namespace+"/"+group.Name)]
}
