// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/kind/turns"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// placed has Kubernetes place the pods of all that was applied, which are admitted and find the one node that is for them, as kind's
// would be; then the schedulers take turns, as in make kind-bench.
func placed(t *testing.T, p *live.Plane, schedulers *turns.Deployments) {
	t.Helper()
	p.Await(t, "every Deployment to be available", func(ctx context.Context) error {
		all, err := p.Kube.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(all.Items) != 5 {
			return fmt.Errorf("there are %d, not admission, controllers, scheduler, kwok and our controller", len(all.Items))
		}
		for i := range all.Items {
			if err := available(&all.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
	pods, err := p.Kube.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, pod := range pods.Items {
		require.Equal(t, "own-node-0", pod.Spec.NodeName, "%s", pod.Name)
	}

	for _, name := range []string{"stock", "paddle", "stock", "paddle"} {
		require.NoError(t, schedulers.Stop(t.Context()))
		require.NoError(t, schedulers.Start(t.Context(), name))
		objects, err := manifests.Read(schedulers.Manifests, "scheduler-"+name+".yaml")
		require.NoError(t, err)
		want := podOf(t, objects[len(objects)-1])
		p.Await(t, "scheduler "+name+" to be in place", func(ctx context.Context) error {
			d, err := p.Kube.AppsV1().Deployments("volcano-system").Get(ctx, "volcano-scheduler", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if got := d.Spec.Template.Spec; shape(got) != shape(want) {
				return fmt.Errorf("it is %s, not %s", shape(got), shape(want))
			}
			return available(d)
		})
	}
}

// shape is what the two schedulers' pods differ in.
func shape(pod corev1.PodSpec) string {
	var volumes []string
	for _, volume := range pod.Volumes {
		volumes = append(volumes, volume.Name)
	}
	c := pod.Containers[0]
	return fmt.Sprint(c.Image, c.Args, len(c.Env), len(c.Ports), volumes, pod.SecurityContext.RunAsUser != nil, strings.Contains(fmt.Sprint(c.SecurityContext), "DAC_OVERRIDE"))
}

func available(d *appsv1.Deployment) error {
	if s := d.Status; s.ObservedGeneration < d.Generation || s.AvailableReplicas != 1 || s.UpdatedReplicas != 1 || s.Replicas != 1 {
		return fmt.Errorf("%s has %d pods, %d of them new, %d available", d.Name, s.Replicas, s.UpdatedReplicas, s.AvailableReplicas)
	}
	return nil
}
