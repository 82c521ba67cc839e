// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"strconv"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// SchedulePeriod is the scheduler's argument in tests: a fifth of the default, because most tests wait for some scheduling sessions.
const SchedulePeriod = "--schedule-period=200ms"

// Main is the body of a TestMain: it starts a sandbox, calls ready with it, runs the tests, stops the sandbox, whose logs
// stay for reading, and returns the exit code.
func Main(m *testing.M, options sandbox.Options, ready func(*Plane) error) (code int) {
	args := maps.Clone(options.Args)
	if args == nil {
		args = map[string][]string{}
	}
	args[sandbox.Scheduler] = append([]string{SchedulePeriod}, args[sandbox.Scheduler]...)
	options.Args = args
	s, err := sandbox.Start(context.Background(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the sandbox:", err)
		return 1
	}
	defer func() {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the sandbox:", err)
			code = 1
		}
	}()
	p, err := Connect(s)
	if err == nil {
		err = ready(p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make the sandbox ready:", err)
		return 1
	}
	return m.Run()
}

// SideBySide sets how many tests run at a time on any number of cores, because these tests mostly wait. Call it before Main.
func SideBySide(tests int) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(tests)); err != nil {
		panic(err) // package testing has had this flag since Go 1
	}
}

// Plane is a sandbox with the administrator's clients, or the clients alone where the control plane is not a sandbox's.
type Plane struct {
	*sandbox.Sandbox
	Kube    kubernetes.Interface
	Volcano vcclient.Interface
	Paddle  paddleclient.Interface
	Dynamic dynamic.Interface
}

// Connect creates the clients of a sandbox that runs. What the API server warns of is not shown.
func Connect(s *sandbox.Sandbox) (*Plane, error) {
	p, err := ConnectTo(s.RESTConfig())
	if err != nil {
		return nil, err
	}
	p.Sandbox = s
	return p, nil
}

// ConnectTo creates the clients of any API server; nothing that is a sandbox's may be asked of the Plane.
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
