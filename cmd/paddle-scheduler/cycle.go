// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"
	nodeutil "k8s.io/component-helpers/node/util"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	vcinformers "volcano.sh/apis/pkg/client/informers/externalversions"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler"
	schedulercache "volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
)

// cycles runs scheduling cycles. A cycle is one of Volcano's sessions with the actions of volcano-scheduler.conf. Volcano's own
// scheduler waits for --schedule-period after each cycle. Here, that is the longest wait: a cycle begins earlier where pods, PodGroups
// or nodes have changed, and later where it could only add to the bindings that wait.
type cycles struct {
	cache  schedulercache.Cache
	binder *binder
	period time.Duration
	file   string // of --scheduler-conf

	// changed has an element where something has changed that a cycle may act upon.
	changed chan struct{}
	// text is the configuration that was parsed last, and failure why it could not be used.
	text, failure string
	actions       []framework.Action
	tiers         []conf.Tier
	arguments     []conf.Configuration
}

const (
	// settle is for how long nothing changes before a cycle begins early: the pods of a gang are created one after the other.
	settle = 100 * time.Millisecond
	// maxDelay is for how long bindings that wait, or a cluster that is still being read, hold a cycle back.
	maxDelay = 5 * time.Second
)

// newCycles returns an error for an invalid configuration if there is no other that could be used.
func newCycles(of schedulercache.Cache, b *binder, opts *options.ServerOption) (*cycles, error) {
	c := &cycles{cache: of, binder: b, period: opts.SchedulePeriod, file: opts.SchedulerConf, changed: make(chan struct{}, 1)}
	if !opts.DisableDefaultSchedulerConfig {
		if err := c.parse(scheduler.DefaultSchedulerConf); err != nil {
			return nil, err
		}
	}
	if err := c.load(); err != nil && opts.DisableDefaultSchedulerConfig {
		return nil, err
	}
	return c, nil
}

// load reads the configuration again. One that is invalid is logged once, and the last one that was valid stays.
func (c *cycles) load() error {
	if c.file == "" {
		return nil
	}
	text, err := os.ReadFile(c.file)
	switch {
	case err != nil:
		err = fmt.Errorf("read --scheduler-conf: %w", err)
	case string(text) == c.text:
		return nil
	default:
		err = c.parse(string(text))
		c.text = string(text)
	}
	if err == nil {
		c.failure = ""
	} else if c.failure != err.Error() {
		c.failure = err.Error()
		klog.ErrorS(err, "The configuration is not used, the last one stays", "file", c.file)
	}
	return err
}

func (c *cycles) parse(text string) error {
	actions, tiers, arguments, metricsConf, err := scheduler.UnmarshalSchedulerConf(strings.TrimSpace(text))
	if err != nil {
		return fmt.Errorf("parse the scheduler's configuration: %w", err)
	}
	c.actions, c.tiers, c.arguments = actions, tiers, arguments
	c.cache.SetMetricsConf(metricsConf)
	return nil
}

// run runs cycles until the context ends.
func (c *cycles) run(ctx context.Context, schedulerNames []string) error {
	if err := c.watch(ctx, schedulerNames); err != nil {
		return err
	}
	c.cache.Run(ctx.Done())
	c.untilRead(ctx)
	for ctx.Err() == nil {
		_ = c.load() // load has logged the error
		begin := time.Now()
		c.cycle(begin)
		c.wait(ctx, time.Since(begin))
	}
	return nil
}

// untilRead returns when the cache holds what the informers have listed, or the context ends. Cache.Run returns before the cache's handlers
// have been given all of that: a cycle would find half of the nodes, and would report gangs of which it knows half of the pods as
// unschedulable, with a write for each pod.
func (c *cycles) untilRead(ctx context.Context) {
	last := -1
	for deadline := time.Now().Add(maxDelay); time.Now().Before(deadline) && ctx.Err() == nil; sleep(ctx, settle, nil) {
		snapshot := c.cache.Snapshot()
		size := len(snapshot.Nodes)
		for _, job := range snapshot.Jobs {
			size += len(job.Tasks)
		}
		if size == last {
			return
		}
		last = size
	}
}

func (c *cycles) cycle(begin time.Time) {
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range c.actions {
		conf.EnabledActionMap[action.Name()] = true
	}
	ssn := framework.OpenSession(c.cache, c.tiers, c.arguments)
	for _, action := range c.actions {
		start := time.Now()
		action.Execute(ssn)
		metrics.UpdateActionDuration(action.Name(), metrics.Duration(start))
	}
	framework.CloseSession(ssn)
	metrics.UpdateE2eDuration(metrics.Duration(begin))
}

// wait returns when the next cycle shall begin, the last of which took so long. Cycles take at most half of the time.
func (c *cycles) wait(ctx context.Context, took time.Duration) {
	latest := time.Now().Add(c.period)
	sleep(ctx, min(took, c.period), nil)
	pause := c.period
	for !sleep(ctx, min(pause, time.Until(latest)), c.changed) && ctx.Err() == nil {
		pause = settle
	}
	// What the next cycle places is bound after all bindings that wait.
	delay, cancel := context.WithTimeout(ctx, maxDelay)
	defer cancel()
	c.binder.untilSent(delay)
}

// sleep waits for a duration, or until there is a signal or the context ends; then it returns false.
func sleep(ctx context.Context, d time.Duration, signal <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-signal:
	case <-ctx.Done():
	}
	return false
}

// watch has each change signaled after which a cycle may place pods that the last one could not. A change that it overlooks, such as
// one of a queue, is found by the next cycle.
func (c *cycles) watch(ctx context.Context, schedulerNames []string) error {
	update := func(before, now any) {
		if demands := relevant(now, schedulerNames); demands != nil && !equality.Semantic.DeepEqual(relevant(before, schedulerNames), demands) {
			c.signal()
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { update(nil, obj) }, UpdateFunc: update, DeleteFunc: func(any) { c.signal() },
	}
	core := c.cache.SharedInformerFactory().Core().V1()
	volcano := vcinformers.NewSharedInformerFactory(c.cache.VCClient(), 0)
	groups := volcano.Scheduling().V1beta1().PodGroups()
	for _, informer := range []cache.SharedIndexInformer{core.Pods().Informer(), core.Nodes().Informer(), groups.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watch for changes: %w", err)
		}
	}
	volcano.Start(ctx.Done())
	return nil
}

// relevant returns what of an object decides which pods a cycle can place, nil if nothing of it does. Of a PodGroup that is the spec, and of
// a node what decides whether a pod is feasible there. Of a pod it is that a scheduler of these names can bind it, or that it uses its node
// no longer.
func relevant(obj any, schedulerNames []string) any {
	switch o := obj.(type) {
	case *schedulingv1beta1.PodGroup:
		return o.Spec
	case *corev1.Node:
		_, ready := nodeutil.GetNodeCondition(&o.Status, corev1.NodeReady)
		return []any{o.Spec, o.Labels, o.Status.Allocatable, ready != nil && ready.Status == corev1.ConditionTrue}
	case *corev1.Pod:
		if podutil.IsPodTerminal(o) {
			return "ended"
		}
		if o.Spec.NodeName == "" && len(o.Spec.SchedulingGates) == 0 && slices.Contains(schedulerNames, o.Spec.SchedulerName) {
			return "to schedule"
		}
	}
	return nil
}

// signal has a cycle begin early.
func (c *cycles) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}
