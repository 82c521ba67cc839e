// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cluster is the sandbox that all tests of this package share. A test that ends a component, or that needs the cluster for itself, is
// not parallel: the parallel tests run when all others have finished.
var cluster struct{ *live.Plane }

// kubeconfig is the environment variable that names the sandbox's kubeconfig. The processes in which go test -fuzz runs inputs connect
// to that sandbox.
const kubeconfig = "PADDLE_CLUSTER_KUBECONFIG"

func TestMain(m *testing.M) {
	live.SideBySide(16)
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if path := os.Getenv(kubeconfig); path != "" {
		if err := connect(path); err != nil {
			fmt.Fprintln(os.Stderr, "connect to the sandbox:", err)
			return 1
		}
		return m.Run()
	}
	code := live.Main(m, sandbox.Options{
		StateDir: "../../_output/test-cluster", Progress: os.Stderr,
		ControllerArgs: []string{"--kubeflow", "--resync-period=1s", "-v=3", "--leader-elect=false"},
	}, ready)
	if missing, err := forbidden(); err != nil || len(missing) > 0 {
		fmt.Fprintln(os.Stderr, "the shipped permissions are not enough:", missing, err)
		code = 1
	}
	return code
}

func connect(path string) error {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	config.QPS = -1
	cluster.Plane, err = live.ConnectTo(config)
	return err
}

func ready(p *live.Plane) (err error) {
	cluster.Plane = p
	if err := os.Setenv(kubeconfig, p.Kubeconfig()); err != nil {
		return err
	}
	if err := p.MakeNamespace(context.Background(), specs); err != nil {
		return err
	}
	return installKubeflowCRD(context.Background())
}

// forbidden returns the lines of the controller's log about permissions that the controller lacks.
func forbidden() ([]string, error) {
	if cluster.Plane == nil {
		return nil, nil // the sandbox did not start
	}
	log, err := os.ReadFile(cluster.Logs(sandbox.Controller))
	return regexp.MustCompile(`(?i).*\bforbidden\b.*`).FindAllString(string(log), 5), err
}

// installKubeflowCRD creates the CRD once the controller has found that it is missing.
func installKubeflowCRD(ctx context.Context) error {
	if err := cluster.Until(ctx, "the controller to say that it waits for the CRD", func(context.Context) error {
		log, err := os.ReadFile(cluster.Logs(sandbox.Controller))
		if err == nil && !strings.Contains(string(log), "waiting for its CRD") {
			err = fmt.Errorf("%s has %d bytes without it", cluster.Logs(sandbox.Controller), len(log))
		}
		return err
	}); err != nil {
		return err
	}
	crd, err := manifests.Read(deploy.Files, "v1/kubeflow-rights.yaml", "v1/kubeflow-crd.yaml")
	if err != nil {
		return err
	}
	client, err := manifests.NewClient(cluster.RESTConfig())
	if err != nil {
		return err
	}
	if _, err = client.Create(ctx, "", metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}, crd...); err != nil {
		return err
	}
	if err := cluster.Until(ctx, "the API server to know the kind", func(ctx context.Context) error {
		_, err := cluster.Dynamic.Resource(kubeflowv1.SchemeGroupVersion.WithResource(kubeflowv1.ResourcePaddleJobs)).List(ctx, metav1.ListOptions{})
		return err
	}); err != nil {
		return err
	}
	// The garbage collector looks for new kinds every 30 seconds.
	if err := cluster.Kill(sandbox.ControllerManager, syscall.SIGTERM); err != nil {
		return err
	}
	return cluster.StartComponent(sandbox.ControllerManager)
}
