// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Plane is a sandbox with the administrator's clients, or the clients alone where the control plane is not a sandbox's.
type Plane struct {
	*sandbox.Sandbox
	Kube    kubernetes.Interface
	Volcano vcclient.Interface
	Paddle  paddleclient.Interface
	Dynamic dynamic.Interface
}

// Connect makes the clients of a sandbox that runs. What the API server warns of is not shown.
func Connect(s *sandbox.Sandbox) (*Plane, error) {
	p, err := ConnectTo(s.RESTConfig())
	if err != nil {
		return nil, err
	}
	p.Sandbox = s
	return p, nil
}

// ConnectTo makes the clients of any API server; nothing that is a sandbox's may be asked of the Plane.
func ConnectTo(config *rest.Config) (*Plane, error) {
	p := &Plane{}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	var err error
	if p.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for Kubernetes: %w", err)
	}
	if p.Volcano, err = vcclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for Volcano: %w", err)
	}
	if p.Paddle, err = paddleclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for PaddleJobs: %w", err)
	}
	if p.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client for objects of any kind: %w", err)
	}
	return p, nil
}
