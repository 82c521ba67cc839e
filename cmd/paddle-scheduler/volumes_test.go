// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	clientcache "k8s.io/client-go/tools/cache"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/cache"
)

func TestVolumesAreCountedAgainOnceTheirClaimIsBound(t *testing.T) {
	const name, attached = "data", corev1.ResourceName("attachable-volumes-csi-nfs")
	meta := metav1.ObjectMeta{Name: name, Namespace: "team", Labels: map[string]string{}}
	claim := func(volume string) *corev1.PersistentVolumeClaim {
		class := "nfs"
		return &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, VolumeName: volume}}
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
		ClaimRef:               &corev1.ObjectReference{Namespace: "team", Name: name},
		PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}},
	}}
	for order, volumeFirst := range map[string]bool{"volume first": true, "claim first": false} {
		t.Run(order, func(t *testing.T) {
			c := cache.NewDefaultMockSchedulerCache("volcano")
			require.NoError(t, recountVolumes(c))
			client, ctx := c.Client(), t.Context()
			_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "nfs"}, Provisioner: "nfs"}, metav1.CreateOptions{})
			require.NoError(t, err)
			_, err = client.CoreV1().PersistentVolumeClaims("team").Create(ctx, claim(""), metav1.CreateOptions{})
			require.NoError(t, err)
			c.Run(ctx.Done())
			pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{SchedulerName: "volcano"}}
			pod.UID, pod.Annotations = "uid", map[string]string{schedulingv1beta1.KubeGroupNameAnnotationKey: "group"}
			pod.Spec.Volumes = []corev1.Volume{{Name: name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
			}}}
			others := pod.DeepCopy()
			others.Name, others.UID, others.Spec.SchedulerName = "others", "others", "another-scheduler"
			for _, p := range []*corev1.Pod{others, pod} {
				_, err = client.CoreV1().Pods("team").Create(ctx, p, metav1.CreateOptions{})
				require.NoError(t, err)
			}
			count := func() float64 {
				c.Lock()
				defer c.Unlock()
				if job := c.Jobs["team/group"]; job != nil && job.Tasks["uid"] != nil {
					return job.Tasks["uid"].Resreq.ScalarResources[attached]
				}
				return -1
			}
			require.Eventually(t, func() bool { return count() == 1 }, 10*time.Second, time.Millisecond)
			steps := []func() error{
				func() error {
					_, err := client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
					return err
				},
				func() error {
					_, err := client.CoreV1().PersistentVolumeClaims("team").Update(ctx, claim("pv"), metav1.UpdateOptions{})
					return err
				},
			}
			if !volumeFirst {
				steps[0], steps[1] = steps[1], steps[0]
			}
			for _, step := range steps {
				require.NoError(t, step())
			}
			require.Eventually(t, func() bool { return count() == 0 }, 10*time.Second, time.Millisecond)
			require.True(t, hasTask(c, pod))
			require.False(t, hasTask(c, others))
		})
	}
}

func TestRecountEndsWithWhatTheInformerHas(t *testing.T) {
	pod := func(version, node string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "worker", Namespace: "team", UID: "uid", ResourceVersion: version}, Spec: corev1.PodSpec{NodeName: node}}
		p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		return p
	}
	other := pod("2", "")
	other.UID = "uid of a new pod"
	for name, test := range map[string]struct {
		before, meanwhile *corev1.Pod
		claim             string
		unknown           bool
		want              []string
	}{
		"nothing happens":     {pod("1", ""), pod("1", ""), "worker-scratch", false, []string{"update 1"}},
		"the pod changes":     {pod("1", ""), pod("2", ""), "worker-scratch", false, []string{"update 1", "update 2"}},
		"the pod is bound":    {pod("1", ""), pod("2", "node"), "worker-scratch", false, []string{"update 1", "update 2"}},
		"the pod is deleted":  {pod("1", ""), nil, "worker-scratch", false, []string{"update 1", "delete 1"}},
		"the pod is replaced": {pod("1", ""), other, "worker-scratch", false, []string{"update 1", "delete 1"}},
		"a bound pod":         {pod("1", "node"), pod("1", "node"), "worker-scratch", false, nil},
		"another scheduler's": {pod("1", ""), pod("1", ""), "worker-scratch", true, nil},
		"another claim":       {pod("1", ""), pod("1", ""), "worker-data", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			pods := clientcache.NewIndexer(clientcache.MetaNamespaceKeyFunc, clientcache.Indexers{clientcache.NamespaceIndex: clientcache.MetaNamespaceIndexFunc})
			require.NoError(t, pods.Add(test.before))
			c := &calls{then: func() error {
				if test.meanwhile == nil {
					return pods.Delete(test.before)
				}
				return pods.Update(test.meanwhile)
			}}
			recount(c, func(*corev1.Pod) bool { return !test.unknown }, corelisters.NewPodLister(pods).Pods("team"), test.claim)
			require.NoError(t, c.err)
			require.Equal(t, test.want, c.made)
		})
	}
}

// calls are those that a cache was given. After each, something happens.
type calls struct {
	made []string
	then func() error
	err  error
}

func (c *calls) UpdatePod(_, now any) { c.call("update", now) }
func (c *calls) DeletePod(pod any)    { c.call("delete", pod) }

func (c *calls) call(verb string, pod any) {
	object, _ := pod.(*corev1.Pod)
	c.made = append(c.made, verb+" "+object.ResourceVersion)
	if verb == "update" {
		c.err = errors.Join(c.err, c.then())
	}
}
