// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// conditionPaddleScheduled is the plugin's own condition on the PodGroups of Paddle jobs.
const conditionPaddleScheduled = "PaddleScheduled"

// recorder keeps what the watches report of pods and PodGroups. It is safe for concurrent use.
type recorder struct {
	mu    sync.Mutex
	gangs map[string]*gang // by the PodGroup's name
	pods  map[types.UID]*podSeen
	said  map[string]string // the session in which the scheduler last refused a gang
	// sessions numbers those that placed gangs, in the order in which they ended.
	sessions map[string]int
	uses     []use
	// faults are those that a single event shows.
	faults []string
	// changed holds one token after anything has changed.
	changed chan struct{}
}

// podSeen is the last observed state of a pod.
type podSeen struct {
	name, gang, task, node string
	refused                string
	ended, released        bool
}

func newRecorder() *recorder {
	return &recorder{
		gangs: map[string]*gang{}, pods: map[types.UID]*podSeen{}, said: map[string]string{}, sessions: map[string]int{}, changed: make(chan struct{}, 1),
	}
}

// take takes in an event at the time of its arrival.
func (r *recorder) take(event watch.Event, arrived time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch object := event.Object.(type) {
	case *corev1.Pod:
		r.takePod(object, event.Type == watch.Deleted, arrived)
	case *vcscheduling.PodGroup:
		r.takeGroup(object)
	default:
		r.faults = append(r.faults, fmt.Sprintf("the watch ended: %v", event.Object))
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// gang returns the gang of a PodGroup. Pods and PodGroups are watched separately, so either may be seen first.
func (r *recorder) gang(name string) *gang {
	if r.gangs[name] == nil {
		r.gangs[name] = &gang{name: name, pods: map[string]int{}}
	}
	return r.gangs[name]
}

func (r *recorder) takePod(pod *corev1.Pod, deleted bool, arrived time.Time) {
	name := pod.Annotations[vcscheduling.KubeGroupNameAnnotationKey]
	if name == "" {
		r.faults = append(r.faults, "pod "+pod.Name+" is of no gang")
		return
	}
	g, seen, version := r.gang(name), r.pods[pod.UID], versionOf(pod)
	if seen == nil {
		seen = &podSeen{name: pod.Name, gang: name, task: pod.Labels[vcbatch.TaskSpecKey]}
		r.pods[pod.UID] = seen
		g.pods[seen.task]++
		if n := pod.Annotations[vcbatch.JobRetryCountKey]; n != "" && n != "0" {
			r.faults = append(r.faults, fmt.Sprintf("pod %s was made by restart %s of its job", pod.Name, n))
		}
	}
	scheduled := conditionOf(pod)
	switch {
	case pod.Spec.NodeName == "":
		if pod.Status.NominatedNodeName != "" {
			r.faults = append(r.faults, fmt.Sprintf("pod %s waits and has nominatedNodeName %s", pod.Name, pod.Status.NominatedNodeName))
		}
		if scheduled.Status == corev1.ConditionFalse && scheduled.Message != seen.refused {
			seen.refused = scheduled.Message
			g.refusals = append(g.refusals, refusal{pod: pod.Name, task: seen.task, words: scheduled.Message, version: version})
		}
	case seen.node == "":
		seen.node = pod.Spec.NodeName
		g.bindings = append(g.bindings, binding{
			pod: pod.Name, task: seen.task, node: seen.node, index: indexOf(pod), takes: requestOf(pod),
			version: version, arrived: arrived, stamp: scheduled.LastTransitionTime.Time,
		})
		r.uses = append(r.uses, use{version: version, gang: name, node: seen.node, takes: requestOf(pod)})
	}
	over := deleted || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if over && seen.node != "" && !seen.ended {
		r.uses = append(r.uses, use{version: version, gang: name, node: seen.node, takes: requestOf(pod), ends: true})
	}
	seen.ended = seen.ended || over
}

func (r *recorder) takeGroup(group *vcscheduling.PodGroup) {
	g := r.gang(group.Name)
	if owner := metav1.GetControllerOf(group); owner != nil {
		g.job = owner.Name
	}
	g.members = int(group.Spec.MinMember)
	g.tasks = map[string]int{}
	for task, n := range group.Spec.MinTaskMember {
		g.tasks[task] = int(n)
	}
	for i := range group.Status.Conditions {
		switch c := &group.Status.Conditions[i]; {
		case c.Type == vcscheduling.PodGroupUnschedulableType && c.Status == corev1.ConditionTrue && c.TransitionID != r.said[group.Name]:
			r.said[group.Name] = c.TransitionID
			g.refusals = append(g.refusals, refusal{words: c.Message, version: versionOf(group)})
		case c.Type == vcscheduling.PodGroupScheduled && c.Status == corev1.ConditionTrue && g.session == 0:
			if r.sessions[c.TransitionID] == 0 {
				r.sessions[c.TransitionID] = len(r.sessions) + 1
			}
			g.session = r.sessions[c.TransitionID]
		case c.Type == conditionPaddleScheduled:
			g.placed, g.why = c.Status == corev1.ConditionTrue, [2]string{c.Reason, c.Message}
		}
	}
}

// placedBefore returns the gangs that were placed in the session of a gang or in an earlier one. The scheduler counts their
// capacity as used from then on, and binds them later, in no order. While the gang's session is not known, that is any gang that was placed.
func (r *recorder) placedBefore(g *gang) map[string]bool {
	placed := map[string]bool{}
	for name, other := range r.gangs {
		placed[name] = other.session > 0 && (g.session == 0 || other.session <= g.session)
	}
	return placed
}

// list returns all gangs, by name.
func (r *recorder) list() []*gang {
	var gangs []*gang
	for _, g := range r.gangs {
		gangs = append(gangs, g)
	}
	slices.SortFunc(gangs, func(a, b *gang) int { return cmp.Compare(a.name, b.name) })
	return gangs
}

func conditionOf(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c
		}
	}
	return corev1.PodCondition{}
}

// indexOf returns a pod's number in its task.
func indexOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[vcbatch.TaskIndex])
	if err != nil {
		panic(fmt.Sprintf("pod %s has no index: %v", pod.Name, err))
	}
	return index
}

// versionOf returns an object's place in the order of all that happened: the API server has one etcd, which gives a number to
// each write.
func versionOf(object metav1.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resource version %q is no number of etcd's", object.GetResourceVersion()))
	}
	return version
}

// follow hands every event of pods and PodGroups to the recorder, from a time when there are none of them, until the test
// ends. A watch that breaks is resumed.
func (r *recorder) follow(t *testing.T, p *plane) {
	t.Helper()
	pods, err := p.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, pods.Items)
	groups, err := p.Volcano.SchedulingV1beta1().PodGroups(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, groups.Items)
	for _, objects := range []struct {
		from string
		open cache.WatchFuncWithContext
	}{
		{pods.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return p.Kube.CoreV1().Pods(namespace).Watch(ctx, o)
		}},
		{groups.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return p.Volcano.SchedulingV1beta1().PodGroups(namespace).Watch(ctx, o)
		}},
	} {
		w, err := watchtools.NewRetryWatcherWithContext(t.Context(), objects.from, &cache.ListWatch{WatchFuncWithContext: objects.open})
		require.NoError(t, err)
		go func() {
			for event := range w.ResultChan() {
				r.take(event, time.Now())
			}
		}()
	}
}

// patience is generous: a machine may be slow, and nothing is judged by it.
const patience = 10 * time.Minute

// await waits until there is no error, looking again whenever something has changed. What is asked for holds the
// recorder's lock.
func (r *recorder) await(t *testing.T, p *plane, what string, ask func() error) {
	t.Helper()
	over := time.After(patience)
	for {
		r.mu.Lock()
		err := ask()
		r.mu.Unlock()
		if err == nil {
			return
		}
		select {
		case <-r.changed:
		case died := <-p.Failed():
			require.NoError(t, died)
		case <-t.Context().Done():
			require.NoError(t, context.Cause(t.Context()))
		case <-over:
			require.FailNow(t, fmt.Sprintf("gave up waiting for %s after %s", what, patience), "%v (logs in %s)", err, p.StateDir())
		}
	}
}

// few joins errors, the first ones in full.
func few(errs []error) error {
	const shown = 5
	if len(errs) > shown {
		errs = append(errs[:shown:shown], fmt.Errorf("and %d more", len(errs)-shown))
	}
	return errors.Join(errs...)
}
