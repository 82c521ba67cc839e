// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	internal "volcano.sh/apis/pkg/apis/scheduling"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins"
	"volcano.sh/volcano/pkg/scheduler/plugins/gang"
	"volcano.sh/volcano/pkg/scheduler/plugins/predicates"
	"volcano.sh/volcano/pkg/scheduler/plugins/priority"
	"volcano.sh/volcano/pkg/scheduler/plugins/proportion"
	"volcano.sh/volcano/pkg/scheduler/uthelper"
	"volcano.sh/volcano/pkg/scheduler/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

const namespace = "ns"

var (
	defaultTaskRoles = paddlejob.NewRoleMap([]string{"ps", "pserver"}, []string{"worker", "trainer"}, []string{"heter"})
	ownedByJob       = []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "job", UID: "job"}, batch.SchemeGroupVersion.WithKind("Job"))}
	twoTwo           = map[string]int32{"ps": 2, "worker": 2}
	oneTwo           = map[string]int32{"ps": 1, "worker": 2}
)

// jobInfo returns a job as a session gets it; pods is the number of pods of each task.
func jobInfo(minMember int32, minTaskMember map[string]int32, pods map[string]int) *api.JobInfo {
	job := api.NewJobInfo(namespace + "/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: internal.PodGroup{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: ownedByJob},
		Spec:       internal.PodGroupSpec{MinMember: minMember, MinTaskMember: minTaskMember},
	}})
	for task, n := range pods {
		for _, pod := range plainPods("job", task, n, "") {
			job.AddTaskInfo(api.NewTaskInfo(pod).Clone()) // a copy, as in a session
		}
	}
	return job
}

// inStatus sets the status of the pods of a job: others by name, such as "worker-1", and api.Running.
func inStatus(t *testing.T, job *api.JobInfo, others map[string]api.TaskStatus) *api.JobInfo {
	t.Helper()
	for _, task := range paddlejob.InOrder(job) {
		status, ok := others[strings.TrimPrefix(task.Name, "job-")]
		if !ok {
			status = api.Running
		}
		require.NoError(t, job.UpdateTaskStatus(task, status))
	}
	return job
}

// plainPods returns n pods of one task of a Volcano Job that is not Paddle's. They run on the given nodes, the last of which has
// all others, and are pending without any.
func plainPods(job, task string, n int, cpu string, nodes ...string) []*corev1.Pod {
	result := make([]*corev1.Pod, n)
	for i := range result {
		var requests corev1.ResourceList
		if cpu != "" {
			requests = api.BuildResourceList(cpu, "1Gi")
		}
		node, phase := "", corev1.PodPending
		if len(nodes) > 0 {
			node, phase = nodes[min(i, len(nodes)-1)], corev1.PodRunning
		}
		pod := util.BuildPod(namespace, fmt.Sprintf("%s-%s-%d", job, task, i), node, phase, requests, job, map[string]string{}, nil)
		pod.Annotations[batch.TaskSpecKey] = task
		pod.Annotations[batch.TaskIndex] = strconv.Itoa(i)
		pod.Spec.SchedulerName = "volcano"
		result[i] = pod
	}
	return result
}

// pods returns plainPods of a Paddle job.
func pods(job, task string, n int, cpu string, nodes ...string) []*corev1.Pod {
	result := plainPods(job, task, n, cpu, nodes...)
	for _, pod := range result {
		pod.Labels[paddlejob.JobNameLabel] = job
		pod.Labels[paddlejob.ResourceTypeLabel] = task
	}
	return result
}

// podGroup returns a PodGroup of a Volcano Job that was admitted by the queue.
func podGroup(name, queue, class string, minTaskMember map[string]int32) *scheduling.PodGroup {
	var minMember int32
	for _, n := range minTaskMember {
		minMember += n
	}
	group := util.BuildPodGroupWithPrio(name, namespace, queue, minMember, minTaskMember, scheduling.PodGroupInqueue, class)
	group.OwnerReferences = ownedByJob
	return group
}

// node returns a node with so many CPUs.
func node(name, cpu string) *corev1.Node {
	return util.BuildNode(name, api.BuildResourceList(cpu, "64Gi", api.ScalarResource{Name: "pods", Value: "110"}),
		map[string]string{corev1.LabelHostname: name})
}

// sessionPlugin is a plugin of one function.
type sessionPlugin func(ssn *framework.Session)

func (sessionPlugin) Name() string                           { return "paddle" }
func (p sessionPlugin) OnSessionOpen(ssn *framework.Session) { p(ssn) }
func (sessionPlugin) OnSessionClose(*framework.Session)      {}

// open opens a session with a selector, and the queue default and the priority classes high and low in addition to the objects.
func open(t *testing.T, objects uthelper.TestCommonStruct, configurations ...conf.Configuration) (*framework.Session, *Selector) {
	t.Helper()
	option := func(name string) conf.PluginOption {
		o := conf.PluginOption{Name: name}
		plugins.ApplyPluginConfDefaults(&o)
		return o
	}
	tiers := []conf.Tier{
		{Plugins: []conf.PluginOption{option("priority"), option("gang")}},
		{Plugins: []conf.PluginOption{option("predicates"), option("proportion")}},
	}
	off := false
	tiers[0].Plugins[1].EnabledPreemptable = &off

	var s *Selector
	objects.Plugins = map[string]framework.PluginBuilder{
		"priority": priority.New, "gang": gang.New, "predicates": predicates.New, "proportion": proportion.New,
		"paddle": func(framework.Arguments) framework.Plugin {
			return sessionPlugin(func(ssn *framework.Session) {
				wrapped := []conf.Tier{{Plugins: []conf.PluginOption{option("first")}}}
				for _, tier := range tiers {
					wrapped = append(wrapped, conf.Tier{Plugins: append([]conf.PluginOption{option("veto")}, tier.Plugins...)})
				}
				ssn.Tiers = wrapped
				s = New(ssn, defaultTaskRoles, nil, Tiers{First: "first", Veto: "veto", WithStock: func(call func()) {
					ssn.Tiers = tiers
					call()
					ssn.Tiers = wrapped
				}})
				s.Register()
			})
		},
	}
	objects.Queues = append(objects.Queues, util.BuildQueue("default", 1, nil))
	objects.PriClass = append(objects.PriClass, util.BuildPriorityClass("high", 1000), util.BuildPriorityClass("low", 1))
	ssn := objects.RegisterSession(append(tiers[:2:2], conf.Tier{Plugins: []conf.PluginOption{option("paddle")}}), configurations)
	t.Cleanup(objects.Close)
	return ssn, s
}

// tasks returns the pods of a job in a session, by index.
func tasks(ssn *framework.Session, job string) []*api.TaskInfo {
	return paddlejob.InOrder(ssn.Jobs[api.JobID(namespace+"/"+job)])
}
