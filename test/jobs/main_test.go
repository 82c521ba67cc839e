// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// resync makes the controller look at every job again and again, so that needless writes show.
const resync = time.Second

// cluster is the sandbox that all tests of this package share. Those that end one of its components are not parallel.
var cluster *plane

// plane is a sandbox with the clients that tests need.
type plane struct {
	*sandbox.Sandbox
	kube      kubernetes.Interface
	volcano   vcclient.Interface
	paddle    paddleclient.Interface
	dynamic   dynamic.Interface
	discovery discovery.DiscoveryInterface
	// controller is where the controller serves its metrics.
	controller string
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	var err error
	if cluster, err = start(); err != nil {
		fmt.Fprintln(os.Stderr, "start the sandbox:", err)
		return 1
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the sandbox:", err)
			code = 1
		}
	}()
	return m.Run()
}

func start() (*plane, error) {
	s, err := sandbox.Start(context.Background(), sandbox.Options{
		StateDir: "../../_output/test-jobs", Progress: os.Stderr,
		ControllerArgs: []string{
			"--resync-period=" + resync.String(), "-v=3",
			// With the shipped rights; a controller that was killed is to be missed for a moment only.
			"--leader-elect=true", "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms",
		},
	})
	if err != nil {
		return nil, err
	}
	address, err := served(s.Logs(sandbox.Controller))
	if err != nil {
		return nil, err
	}
	p := &plane{Sandbox: s, controller: "http://" + address}
	config := s.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	if p.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.volcano, err = vcclient.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.paddle, err = paddleclient.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	p.discovery = p.kube.Discovery()
	return p, nil
}

// served finds in the controller's log where it serves its metrics.
func served(log string) (string, error) {
	text, err := os.ReadFile(log)
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`Serving .* address="([^"]+)"`).FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s does not say where the controller serves", log)
	}
	return string(found[1]), nil
}
