// SPDX-License-Identifier: Apache-2.0

package kubeflow_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/apis/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/kubeflow"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cluster is the sandbox that all tests of this package share.
var cluster struct {
	*live.Plane
	jobs kubeflow.Jobs
}

func TestMain(m *testing.M) {
	live.SideBySide(16)
	code := live.Main(m, sandbox.Options{
		StateDir: "../../_output/test-kubeflow", Progress: os.Stderr, WorkerRunFor: 3 * time.Second,
		ControllerArgs: []string{"--kubeflow", "--resync-period=1s", "-v=3", "--leader-elect=false"},
	}, ready)
	if missing, err := refused(); err != nil || len(missing) > 0 {
		fmt.Fprintln(os.Stderr, "the shipped rights are not enough:", missing, err)
		code = 1
	}
	os.Exit(code)
}

func ready(p *live.Plane) (err error) {
	cluster.Plane = p
	if cluster.jobs, err = kubeflow.NewJobs(p.RESTConfig()); err != nil {
		return err
	}
	return installCRD(context.Background())
}

// refused are the lines of the controller's log that tell of rights which it does not have.
func refused() ([]string, error) {
	if cluster.Plane == nil {
		return nil, nil // it has not run
	}
	log, err := os.ReadFile(cluster.Logs(sandbox.Controller))
	return regexp.MustCompile(`(?i).*\bforbidden\b.*`).FindAllString(string(log), 5), err
}

// installCRD makes the CRD once the controller has found that it is missing.
func installCRD(ctx context.Context) error {
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
		_, err := cluster.Dynamic.Resource(kubeflowv1.SchemeGroupVersion.WithResource(kubeflowv1.Resource)).List(ctx, metav1.ListOptions{})
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
