// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
)

// Clients are those for what a job is made of.
type Clients struct {
	Kube    kubernetes.Interface
	Volcano vcclient.Interface
	Paddle  paddleclient.Interface
}

// Connect makes the clients of an API server.
func Connect(config *rest.Config) (*Clients, error) {
	c := &Clients{}
	var err error
	if c.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for Kubernetes: %w", err)
	}
	if c.Volcano, err = vcclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for Volcano: %w", err)
	}
	if c.Paddle, err = paddleclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for PaddleJobs: %w", err)
	}
	return c, nil
}
