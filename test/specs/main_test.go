// SPDX-License-Identifier: Apache-2.0

package specs_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// server answers what it would accept.
var server struct {
	kube    kubernetes.Interface
	volcano vcclient.Interface
	paddle  paddleclient.Interface
}

// shared names, to the processes in which go looks for inputs, the kubeconfig of the first one's sandbox.
const shared = "PADDLE_SPECS_KUBECONFIG"

func TestMain(m *testing.M) {
	flag.Parse()
	if path := os.Getenv(shared); path != "" {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err == nil {
			err = connect(config)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "connect to the sandbox:", err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	os.Exit(live.Main(m, sandbox.Options{
		StateDir: "../../_output/test-specs", Progress: os.Stderr, Topology: sandbox.Uniform(1), WithoutController: true,
	}, func(p *live.Plane) error {
		if err := os.Setenv(shared, p.Kubeconfig()); err != nil {
			return err
		}
		if err := p.MakeNamespace(context.Background(), namespace); err != nil {
			return err
		}
		return connect(p.RESTConfig())
	}))
}

func connect(config *rest.Config) (err error) {
	config.WarningHandler, config.QPS = rest.NoWarnings{}, -1
	if server.kube, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if server.volcano, err = vcclient.NewForConfig(config); err != nil {
		return err
	}
	server.paddle, err = paddleclient.NewForConfig(config)
	return err
}
