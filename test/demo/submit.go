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
	"k8s.io/client-go/rest"

	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// submitter hands one job after the other to the API server.
type submitter struct {
	kube    kubernetes.Interface
	objects *manifests.Client
	// warned holds what the API server warned of since it was last read.
	warned warnings
}

func newSubmitter(config *rest.Config) (*submitter, error) {
	s := &submitter{}
	config = rest.CopyConfig(config)
	config.WarningHandler = &s.warned
	var err error
	if s.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if s.objects, err = manifests.NewClient(config); err != nil {
		return nil, err
	}
	return s, nil
}

// submit creates the job's objects in a namespace of their own, as kubectl create would, and returns the warnings that
// kubectl would print.
func (s *submitter) submit(ctx context.Context, job Job) ([]string, error) {
	files, err := job.objects()
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: job.Name}}
	if _, err := s.kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("create the namespace of %s: %w", job.Name, err)
	}
	// No pod is admitted before the namespace has its service account.
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := s.kube.CoreV1().ServiceAccounts(job.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the default service account of namespace %s: %w", job.Name, err)
	}
	s.warned = nil
	if _, err := s.objects.Create(ctx, job.Name, metav1.CreateOptions{}, files...); err != nil {
		return nil, fmt.Errorf("submit %s: %w", job.Name, err)
	}
	return s.warned, nil
}

// warnings are those of requests that follow each other.
type warnings []string

// warningCode is the only one in use that says something; see RFC 7234, 5.5.
const warningCode = 299

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	if code == warningCode && text != "" {
		*w = append(*w, text)
	}
}
