// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
)

func TestWait(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		took, want time.Duration
		// changes come so long after the cycle has ended; a binding waits until sent.
		changes []time.Duration
		sent    time.Duration
	}{
		"nothing changes":                      {took: 10 * ms, want: 1000 * ms},
		"a change":                             {took: 10 * ms, changes: []time.Duration{300 * ms}, want: 400 * ms},
		"a change while the last cycle ran":    {took: 250 * ms, changes: []time.Duration{0}, want: 350 * ms},
		"pods of a gang, one after the other":  {took: 10 * ms, changes: []time.Duration{200 * ms, 250 * ms, 320 * ms}, want: 420 * ms},
		"changes without end":                  {took: 10 * ms, changes: every(50*ms, 2000*ms), want: 1000 * ms},
		"a cycle that took long":               {took: 3000 * ms, changes: []time.Duration{0}, want: 1000 * ms},
		"a binding waits":                      {took: 10 * ms, changes: []time.Duration{20 * ms}, sent: 700 * ms, want: 700 * ms},
		"a binding waits longer than a period": {took: 10 * ms, sent: 1500 * ms, want: 1500 * ms},
		"a binding waits for too long":         {took: 10 * ms, sent: time.Minute, want: 6000 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cycles{period: time.Second, changed: make(chan struct{}, 1), binder: &binder{places: semaphore.NewWeighted(1)}}
				for _, after := range test.changes {
					time.AfterFunc(after, c.signal)
				}
				if test.sent > 0 {
					require.True(t, c.binder.places.TryAcquire(1))
					time.AfterFunc(test.sent, func() { c.binder.places.Release(1) })
				}
				synctest.Wait()
				begin := time.Now()
				c.wait(t.Context(), test.took)
				require.Equal(t, test.want, time.Since(begin))
			})
		})
	}
}

func every(step, until time.Duration) (all []time.Duration) {
	for at := step; at < until; at += step {
		all = append(all, at)
	}
	return all
}

func TestChanges(t *testing.T) {
	t.Parallel()
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{SchedulerName: "volcano"}}
		change(p)
		return p
	}
	pending := pod(func(*corev1.Pod) {})
	gated := pod(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}} })
	bound := pod(func(p *corev1.Pod) { p.Spec.NodeName = "n1" })
	succeeded := pod(func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "n1", corev1.PodSucceeded })
	others := pod(func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" })
	names := []string{"volcano"}
	for obj, want := range map[*corev1.Pod]any{pending: "to schedule", gated: nil, bound: nil, succeeded: "ended", others: nil} {
		require.Equal(t, want, relevant(obj, names))
	}
	require.Nil(t, relevant(nil, names))
	require.NotNil(t, relevant(&schedulingv1beta1.PodGroup{}, names))

	node := func(change func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"rack": "r1"}}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		change(n)
		return n
	}
	for name, test := range map[string]struct {
		change func(*corev1.Node)
		want   bool
	}{
		"heartbeat":     {func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.Now() }, false},
		"equal":         {func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1000m") }, false},
		"not ready":     {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"no conditions": {func(n *corev1.Node) { n.Status.Conditions = nil }, true},
		"taint":         {func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k"}} }, true},
		"label":         {func(n *corev1.Node) { n.Labels["rack"] = "r2" }, true},
		"allocatable":   {func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("2") }, true},
	} {
		before, now := relevant(node(func(*corev1.Node) {}), names), relevant(node(test.change), names)
		require.Equal(t, test.want, !equality.Semantic.DeepEqual(before, now), name)
	}
}

// fillingCache is given another node every 60 ms until it has as many as there are, and a pod if it has one.
type fillingCache struct {
	cache.Cache
	nodes int
	pods  map[api.TaskID]*api.TaskInfo
	begin time.Time
}

func (f *fillingCache) Snapshot() *api.ClusterInfo {
	cluster := &api.ClusterInfo{Nodes: map[string]*api.NodeInfo{}, Jobs: map[api.JobID]*api.JobInfo{"gang": {Tasks: f.pods}}}
	for i := range min(f.nodes, int(time.Since(f.begin)/(60*time.Millisecond))) {
		cluster.Nodes[strconv.Itoa(i)] = nil
	}
	return cluster
}

func TestUntilRead(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		of   fillingCache
		want time.Duration
	}{
		"nothing":   {of: fillingCache{}, want: 100 * ms},
		"a pod":     {of: fillingCache{pods: map[api.TaskID]*api.TaskInfo{"p": nil}}, want: 100 * ms},
		"ten nodes": {of: fillingCache{nodes: 10}, want: 700 * ms},
		"no end":    {of: fillingCache{nodes: 1000}, want: 5000 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.of.begin = time.Now()
				(&cycles{cache: &test.of}).untilRead(t.Context())
				require.Equal(t, test.want, time.Since(test.of.begin))
			})
		})
	}
}

// noCache is told the configuration of the metrics.
type noCache struct {
	cache.Cache
	metrics map[string]string
}

func (n *noCache) SetMetricsConf(conf map[string]string) { n.metrics = conf }

func TestConfigurationIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	names := func(c *cycles) (all []string) {
		for _, action := range c.actions {
			all = append(all, action.Name())
		}
		return all
	}
	of := &noCache{}
	c, err := newCycles(of, nil, &options.ServerOption{SchedulerConf: file})
	require.NoError(t, err, "Volcano's default configuration is used")
	require.Equal(t, []string{"enqueue", "allocate", "backfill"}, names(c))
	_, err = newCycles(of, nil, &options.ServerOption{SchedulerConf: file, DisableDefaultSchedulerConfig: true})
	require.ErrorContains(t, err, "read --scheduler-conf: open "+file)

	write("actions: allocate\ntiers:\n- plugins:\n  - name: gang\nmetrics:\n  type: prometheus\n")
	require.NoError(t, c.load())
	require.Equal(t, []string{"allocate"}, names(c))
	require.Equal(t, "gang", c.tiers[0].Plugins[0].Name)
	require.Equal(t, map[string]string{"type": "prometheus"}, of.metrics)

	write("actions: fly\n")
	require.ErrorContains(t, c.load(), "failed to find Action fly")
	require.Equal(t, []string{"allocate"}, names(c), "the last valid configuration stays")
	require.NoError(t, c.load(), "and the error is told once")

	write("actions: backfill\n")
	require.NoError(t, c.load())
	require.Equal(t, []string{"backfill"}, names(c))
}
