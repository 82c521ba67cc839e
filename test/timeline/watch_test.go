// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// silent is a watch that reads no logs.
func silent() (*Watch, func(ms int, objects ...any)) {
	w := &Watch{plane: &live.Plane{Sandbox: &sandbox.Sandbox{}}, job: "j", pods: map[types.UID]*notes{}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return w, func(ms int, objects ...any) {
		for _, object := range objects {
			w.see(ctx, at(ms), object)
		}
	}
}

func owned(name, kind, owner string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: owner, Controller: ptr.To(true)}}}
}

// pod is the job's only one, so far as its fields were changed.
func pod(changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "j-worker-0", UID: "1", Labels: map[string]string{vcbatch.JobNameKey: "j", vcbatch.TaskSpecKey: "worker"}},
		Spec:       corev1.PodSpec{InitContainers: []corev1.Container{{Name: barrier}}, Containers: []corev1.Container{{Name: "paddle"}, {Name: "sidecar"}}},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func addressed(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }

func running(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{
			Name: name, ContainerID: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
}

func passed(p *corev1.Pod) {
	p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{
		Name: barrier, ContainerID: barrier, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
	})
}

func TestStamps(t *testing.T) {
	w, see := silent()
	see(1, &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	see(2, &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "j"}})
	see(6, pod(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "2"}})
	see(10, pod(addressed))
	see(11, &corev1.ConfigMap{ObjectMeta: owned("j-svc", "Job", "j")}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "j"}})
	see(12, &corev1.ConfigMap{ObjectMeta: owned("j", paddlev1.Kind, "j")})
	see(13, pod(addressed, running(barrier)))
	see(15, pod(addressed, passed))
	see(16, pod(addressed, passed, running("paddle")))
	see(20, &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "j"}}, pod(addressed, passed))
	want := Stamps{
		Environment: at(12),
		Pods: []Pod{{
			Name: "j-worker-0", Role: "worker", Created: at(6), Addressed: at(10),
			Barrier: Run{Started: at(13), Ended: at(15)}, Main: Run{Started: at(16)},
		}},
	}
	require.Equal(t, want, w.Stamps())

	// Logs have better times of when a container started, and when the barrier ended.
	var lines []Line
	w.onLine = func(l Line) { lines = append(lines, l) }
	say := func(container, text string) {
		w.addLine(w.pods["1"], Line{Pod: "j-worker-0", Role: "worker", Container: container}, text)
	}
	say(barrier, "2026-11-22T01:00:00.0125Z waiting until the names of 4 peers resolve")
	say(barrier, "2026-11-22T01:00:00.014Z all of 4 peers are found")
	say("paddle", "2026-11-22T01:00:00.0155Z step by step loss 1")
	say("paddle", "2026-11-22T01:00:00.017Z step 11 loss 0.6")
	say("paddle", "2026-11-22T01:00:00.018Z step 20 loss 0.5")
	say("paddle", "unable to retrieve container logs")
	want.Pods[0].Barrier = Run{Started: begin.Add(12500 * time.Microsecond), Ended: at(14)}
	want.Pods[0].Main.Started = begin.Add(15500 * time.Microsecond)
	require.Equal(t, want, w.Stamps())
	require.Len(t, lines, 5)

	// A barrier that runs on after its last line has not ended.
	see(30, pod(addressed, passed, func(p *corev1.Pod) {
		p.Status.InitContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(at(3000))
	}))
	require.Equal(t, at(3000), w.Stamps().Pods[0].Barrier.Ended)
	require.Equal(t, Line{Pod: "j-worker-0", Role: "worker", Container: "paddle", At: at(17), Text: "step 11 loss 0.6"}, lines[3])
}

func TestNamesAreKnownBySlices(t *testing.T) {
	slice := func(ready bool) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{Endpoints: []discoveryv1.Endpoint{
			{}, {TargetRef: &corev1.ObjectReference{UID: "1"}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}},
		}}
	}
	for intranet, named := range map[paddlev1.Intranet]time.Time{paddlev1.Service: at(4), paddlev1.PodIP: {}, paddlev1.Host: {}, "": {}} {
		t.Run(string(intranet), func(t *testing.T) {
			w, see := silent()
			see(1, &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: paddlev1.PaddleJobSpec{Intranet: intranet}}, pod())
			see(3, slice(false))
			see(4, slice(true))
			see(5, slice(true))
			require.Equal(t, named, w.Stamps().Pods[0].Named)
		})
	}
}
