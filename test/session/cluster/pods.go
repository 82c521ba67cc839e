// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

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

// Placed says whether every pod of the job is bound.
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
