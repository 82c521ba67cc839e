// SPDX-License-Identifier: Apache-2.0

// Package cluster reads what belongs to PaddleJobs, as far as the user has permission. It writes and prints nothing.
package cluster

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
)

// Clients are the clients for all objects of a job.
type Clients struct {
	Kube    kubernetes.Interface
	Volcano vcclient.Interface
	Paddle  paddleclient.Interface
}

// Connect returns the clients of an API server.
func Connect(config *rest.Config) (*Clients, error) {
	c := &Clients{}
	var err error
	if c.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create a client for Kubernetes: %w", err)
	}
	if c.Volcano, err = vcclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create a client for Volcano: %w", err)
	}
	if c.Paddle, err = paddleclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create a client for PaddleJobs: %w", err)
	}
	return c, nil
}
