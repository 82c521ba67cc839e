// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	schedulingscheme "volcano.sh/apis/pkg/apis/scheduling/scheme"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	_ "volcano.sh/volcano/pkg/scheduler/uthelper" // its init starts the metrics that predicates write
	"volcano.sh/volcano/pkg/scheduler/util"
)

const namespace = "ns"

// Configurations that name the plugin are read also where no test has made a cluster yet.
func TestMain(m *testing.M) {
	framework.RegisterPluginBuilder(PluginName, NewBuilder())
	os.Exit(m.Run())
}

// cluster is a scheduler's real cache, without an API server behind it: bindings and status writes end here.
type cluster struct {
	t       *testing.T
	cache   *cache.SchedulerCache
	actions []framework.Action
	tiers   []conf.Tier
	status  *statusWriter
	version int
	clock   *clocktesting.FakePassiveClock // one second passes from a session to the next
}

// newCluster runs a scheduler with one configuration over nodes, queues, PodGroups and pods.
func newCluster(t *testing.T, configuration string, objects ...any) *cluster {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	framework.RegisterPluginBuilder(PluginName, newBuilder(&stateStore{clock: clock}))
	actions, tiers, _, _, err := scheduler.UnmarshalSchedulerConf(configuration)
	require.NoError(t, err)
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range actions {
		conf.EnabledActionMap[action.Name()] = true
	}
	status := &statusWriter{groups: map[string]*api.PodGroup{}, pods: map[string]corev1.PodStatus{}}
	// Bindings are read from the cache, which knows them before any binder does; the channel is never full.
	binder, evictor := util.NewFakeBinder(1000), util.NewFakeEvictor(1000)
	c := &cluster{t: t, actions: actions, tiers: tiers, status: status, clock: clock}
	if len(syncedCaches) == 0 {
		syncedCaches = startCaches(20)
	}
	synced := syncedCaches[0]
	syncedCaches = syncedCaches[1:]
	t.Cleanup(func() { close(synced.stop) })
	c.cache = synced.cache
	c.cache.Binder, c.cache.Evictor, c.cache.StatusUpdater = binder, evictor, status
	c.add(queue("default", nil))
	c.add(objects...)
	return c
}

type syncedCache struct {
	cache *cache.SchedulerCache
	stop  chan struct{}
}

// syncedCaches run, and no cluster has one of them yet.
var syncedCaches []syncedCache

// startCaches starts several caches at once: each waits 100 ms or more for its informers, and tests need hundreds of caches.
func startCaches(n int) []syncedCache {
	caches := make([]syncedCache, n)
	var running sync.WaitGroup
	for i := range caches {
		caches[i] = syncedCache{cache: cache.NewCustomMockSchedulerCache("volcano", nil, nil, nil, nil, &record.FakeRecorder{}), stop: make(chan struct{})}
		running.Add(1)
		go func() {
			defer running.Done()
			caches[i].cache.Run(caches[i].stop)
		}()
	}
	running.Wait()
	return caches
}

// add puts objects into the cache, or lists of them.
func (c *cluster) add(objects ...any) {
	c.t.Helper()
	for _, object := range objects {
		switch o := object.(type) {
		case *corev1.Node:
			require.NoError(c.t, c.cache.AddOrUpdateNode(o))
		case *corev1.Pod:
			c.cache.AddPod(o)
		case []*corev1.Pod:
			for _, pod := range o {
				c.cache.AddPod(pod)
			}
		case *scheduling.PodGroup:
			c.cache.AddPodGroupV1beta1(o)
		case *scheduling.Queue:
			c.cache.AddQueueV1beta1(o)
		default:
			c.t.Fatalf("cannot add a %T", object)
		}
	}
}

// racks makes each list of nodes a HyperNode of tier 1.
func (c *cluster) racks(nodes map[string][]string) {
	infos := map[string]*api.HyperNodeInfo{}
	names := sets.New[string]()
	members := map[string]sets.Set[string]{}
	for name, list := range nodes {
		infos[name] = api.NewHyperNodeInfo(api.BuildHyperNode(name, 1, nil))
		names.Insert(name)
		members[name] = sets.New(list...)
	}
	var ready atomic.Bool
	ready.Store(true)
	c.cache.HyperNodesInfo = api.NewHyperNodesInfoWithCache(infos, map[int]sets.Set[string]{1: names}, members, &ready)
}

// session runs one scheduling cycle and brings what it wrote to PodGroups back into the cache.
func (c *cluster) session() {
	c.t.Helper()
	c.clock.SetTime(c.clock.Now().Add(time.Second))
	ssn := framework.OpenSession(c.cache, c.tiers, nil)
	for _, action := range c.actions {
		action.Execute(ssn)
	}
	requireConsistent(c.t, ssn.Jobs, ssn.Nodes)
	framework.CloseSession(ssn)
	c.requireUntouched()
	for _, written := range c.status.take() {
		var group scheduling.PodGroup
		require.NoError(c.t, schedulingscheme.Scheme.Convert(&written.PodGroup, &group, nil))
		c.version++
		group.ResourceVersion = strconv.Itoa(c.version)
		c.cache.UpdatePodGroupV1beta1(&scheduling.PodGroup{}, &group)
	}
}

// requireConsistent requires that jobs and nodes account what their tasks hold: each byte once.
func requireConsistent(t *testing.T, jobs map[api.JobID]*api.JobInfo, nodes map[string]*api.NodeInfo) {
	t.Helper()
	for _, job := range jobs {
		total, allocated := api.EmptyResource(), api.EmptyResource()
		for _, task := range job.Tasks {
			total.Add(task.Resreq)
			if api.AllocatedStatus(task.Status) {
				allocated.Add(task.Resreq)
			}
		}
		require.InDelta(t, total.Memory, job.TotalRequest.Memory, 0, "memory that job %s requests", job.UID)
		require.InDelta(t, allocated.Memory, job.Allocated.Memory, 0, "memory that job %s has", job.UID)
	}
	for _, node := range nodes {
		used := api.EmptyResource()
		for _, task := range node.Tasks {
			require.Equal(t, api.GetPodResourceRequest(task.Pod), task.Resreq, "what %s holds on its node", task.Name)
			if task.Status != api.Pipelined {
				used.Add(task.Resreq)
			}
		}
		require.InDelta(t, used.Memory, node.Used.Memory, 0, "memory used on %s", node.Name)
		require.InDelta(t, used.MilliCPU, node.Used.MilliCPU, 0, "CPU used on %s", node.Name)
		require.InDelta(t, node.Allocatable.MilliCPU-used.MilliCPU, node.Idle.MilliCPU, 0, "CPU idle on %s", node.Name)
	}
}

// requireUntouched requires that the cache, which the next session starts from, holds the pods' own requests only.
func (c *cluster) requireUntouched() {
	c.t.Helper()
	c.cache.Lock()
	defer c.cache.Unlock()
	requireConsistent(c.t, c.cache.Jobs, c.cache.Nodes)
	for _, job := range c.cache.Jobs {
		for _, task := range job.Tasks {
			own := api.GetPodResourceRequest(task.Pod)
			require.Equal(c.t, own, task.Resreq, "Resreq of %s", task.Name)
			require.Equal(c.t, own, task.InitResreq, "InitResreq of %s", task.Name)
			require.Equal(c.t, own.IsEmpty(), task.BestEffort, "BestEffort of %s", task.Name)
		}
		if job.PodGroup != nil {
			require.Equal(c.t, job.PodGroup.Spec.MinMember, job.MinAvailable, "minimum of %s", job.UID)
		}
	}
	for _, node := range c.cache.Nodes {
		require.InDelta(c.t, node.Allocatable.Memory-node.Used.Memory, node.Idle.Memory, 0, "memory idle on %s", node.Name)
	}
}

// sessions runs n cycles and requires after each that exactly these pods are bound.
func (c *cluster) sessions(n int, bound ...string) {
	c.t.Helper()
	for i := range n {
		c.session()
		require.Equal(c.t, slices.Sorted(slices.Values(bound)), c.bound(), "bound after cycle %d", i+1)
	}
}

// open opens a session, for as long as the test runs, and gives the plugin in it.
func (c *cluster) open() (*framework.Session, *plugin) {
	c.t.Helper()
	var opened *plugin
	framework.RegisterPluginBuilder(PluginName, func(raw framework.Arguments) framework.Plugin {
		made := NewBuilder()(raw)
		opened, _ = made.(*plugin)
		return made
	})
	ssn := framework.OpenSession(c.cache, c.tiers, nil)
	c.t.Cleanup(func() { framework.CloseSession(ssn) })
	return ssn, opened
}

// bound is the names of the pods that are bound or run.
func (c *cluster) bound() []string {
	return slices.Sorted(maps.Keys(c.nodes()))
}

// nodes is the node of each pod that is bound or runs.
func (c *cluster) nodes() map[string]string {
	c.cache.Lock()
	defer c.cache.Unlock()
	result := map[string]string{}
	for _, job := range c.cache.Jobs {
		for _, task := range job.Tasks {
			if api.AllocatedStatus(task.Status) {
				result[task.Name] = task.NodeName
			}
		}
	}
	return result
}

// run does what the kubelet does: bound pods run.
func (c *cluster) run() {
	for name, node := range c.nodes() {
		c.change(name, func(pod *corev1.Pod) {
			pod.Spec.NodeName = node
			pod.Status.Phase = corev1.PodRunning
		})
	}
}

// change replaces a pod by a changed copy.
func (c *cluster) change(name string, change func(*corev1.Pod)) {
	old := c.pod(name)
	changed := old.DeepCopy()
	change(changed)
	c.cache.UpdatePod(old, changed)
}

// remove deletes a pod.
func (c *cluster) remove(name string) {
	c.cache.DeletePod(c.pod(name))
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.t.Helper()
	c.cache.Lock()
	defer c.cache.Unlock()
	for _, job := range c.cache.Jobs {
		for _, task := range job.Tasks {
			if task.Name == name {
				return task.Pod
			}
		}
	}
	require.Failf(c.t, "no such pod", "%s", name)
	return nil
}

// message is the text of the PodGroup's Unschedulable condition.
func (c *cluster) message(group string) string {
	c.cache.Lock()
	defer c.cache.Unlock()
	for _, condition := range c.cache.Jobs[api.JobID(namespace+"/"+group)].PodGroup.Status.Conditions {
		if string(condition.Type) == string(scheduling.PodGroupUnschedulableType) {
			return condition.Message
		}
	}
	return ""
}

// podMessage is the text of the pod's PodScheduled condition.
func (c *cluster) podMessage(name string) string {
	c.status.mu.Lock()
	defer c.status.mu.Unlock()
	for _, condition := range c.status.pods[name].Conditions {
		if condition.Type == corev1.PodScheduled {
			return condition.Message
		}
	}
	return ""
}

// phase is the PodGroup's phase.
func (c *cluster) phase(group string) string {
	c.cache.Lock()
	defer c.cache.Unlock()
	return string(c.cache.Jobs[api.JobID(namespace+"/"+group)].PodGroup.Status.Phase)
}

// statusWriter keeps what the scheduler writes to PodGroups and pods.
type statusWriter struct {
	util.FakeStatusUpdater

	mu     sync.Mutex
	groups map[string]*api.PodGroup
	pods   map[string]corev1.PodStatus
}

// UpdatePodGroup implements cache.StatusUpdater.
func (s *statusWriter) UpdatePodGroup(group *api.PodGroup) (*api.PodGroup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[group.Name] = group
	return group, nil
}

// UpdatePodStatus implements cache.StatusUpdater.
func (s *statusWriter) UpdatePodStatus(pod *corev1.Pod) (*corev1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[pod.Name] = pod.Status
	return pod, nil
}

func (s *statusWriter) take() map[string]*api.PodGroup {
	s.mu.Lock()
	defer s.mu.Unlock()
	groups := s.groups
	s.groups = map[string]*api.PodGroup{}
	return groups
}
