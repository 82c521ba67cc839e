// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// submit creates the job's objects in a namespace of their own, as kubectl create would.
func submit(ctx context.Context, kube kubernetes.Interface, objects *manifests.Client, job Job) error {
	files, err := job.objects()
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: job.Name}}
	if _, err := kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the namespace of %s: %w", job.Name, err)
	}
	// No pod is admitted before the namespace has its service account.
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := kube.CoreV1().ServiceAccounts(job.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil //nolint:nilerr // it is asked again
	})
	if err != nil {
		return fmt.Errorf("wait for the default service account of namespace %s: %w", job.Name, err)
	}
	if _, err := objects.Create(ctx, job.Name, metav1.CreateOptions{}, files...); err != nil {
		return fmt.Errorf("submit %s: %w", job.Name, err)
	}
	return nil
}
