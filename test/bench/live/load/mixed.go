// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Create creates a job of any kind: a PaddleJob, a Volcano Job of another framework, or a pod without a gang.
func Create(ctx context.Context, p *live.Plane, job *cluster.Job) (err error) {
	plain := job.Plain()
	for i := range plain.Spec.Tasks {
		plain.Spec.Tasks[i].Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	switch {
	case job.Mode != cluster.Other:
		_, err = p.Paddle.BatchV1().PaddleJobs(Namespace).Create(ctx, job.PaddleJob(), metav1.CreateOptions{})
	case job.Pods() > 1:
		_, err = p.Volcano.BatchV1alpha1().Jobs(Namespace).Create(ctx, plain, metav1.CreateOptions{})
	default:
		pod := &corev1.Pod{ObjectMeta: plain.Spec.Tasks[0].Template.ObjectMeta, Spec: plain.Spec.Tasks[0].Template.Spec}
		pod.Name, pod.Spec.SchedulerName = job.PodName(cluster.WorkerTask, 0), plain.Spec.SchedulerName
		_, err = p.Kube.CoreV1().Pods(Namespace).Create(ctx, pod, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("create job %s: %w", job.Name, err)
	}
	return nil
}

// Delete deletes a job that Create created, if it still exists.
func Delete(ctx context.Context, p *live.Plane, job *cluster.Job) (err error) {
	switch {
	case job.Mode != cluster.Other:
		err = p.Paddle.BatchV1().PaddleJobs(Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{})
	case job.Pods() > 1:
		err = p.Volcano.BatchV1alpha1().Jobs(Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{})
	default:
		err = p.Kube.CoreV1().Pods(Namespace).Delete(ctx, job.PodName(cluster.WorkerTask, 0), metav1.DeleteOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete job %s: %w", job.Name, err)
	}
	return nil
}
