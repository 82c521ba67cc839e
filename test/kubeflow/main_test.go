// SPDX-License-Identifier: Apache-2.0

package kubeflow_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/apis/kubeflow/v1"
	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/controller/kubeflow"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cluster is the sandbox that all tests of this package share.
var cluster *plane

// plane is a sandbox with the clients that tests need.
type plane struct {
	*sandbox.Sandbox
	kube    kubernetes.Interface
	paddle  paddleclient.Interface
	dynamic dynamic.Interface
	jobs    kubeflow.Jobs
	objects *manifests.Client
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

// sideBySide is how many tests run at a time. They wait, so that the number of cores does not matter.
const sideBySide = "16"

func run(m *testing.M) (code int) {
	flag.Parse()
	err := flag.Set("test.parallel", sideBySide)
	if err == nil {
		cluster, err = start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the sandbox:", err)
		return 1
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the sandbox:", err)
			code = 1
		}
	}()
	code = m.Run()
	if missing, err := cluster.refused(); err != nil || len(missing) > 0 {
		fmt.Fprintln(os.Stderr, "the shipped rights are not enough:", missing, err)
		code = 1
	}
	return code
}

// refused are the lines of the controller's log that tell of rights which it does not have.
func (p *plane) refused() ([]string, error) {
	log, err := os.ReadFile(p.Logs(sandbox.Controller))
	return regexp.MustCompile(`(?i).*\bforbidden\b.*`).FindAllString(string(log), 5), err
}

func start() (*plane, error) {
	s, err := sandbox.Start(context.Background(), sandbox.Options{
		StateDir: "../../_output/test-kubeflow", Progress: os.Stderr, WorkerRunFor: 3 * time.Second,
		ControllerArgs: []string{"--kubeflow", "--resync-period=1s", "-v=3", "--leader-elect=false"},
	})
	if err != nil {
		return nil, err
	}
	p := &plane{Sandbox: s}
	config := s.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	if p.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.paddle, err = paddleclient.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.jobs, err = kubeflow.NewJobs(config); err != nil {
		return nil, err
	}
	if p.objects, err = manifests.NewClient(config); err != nil {
		return nil, err
	}
	return p, p.installCRD()
}

// installCRD makes the CRD once the controller has found that it is missing.
func (p *plane) installCRD() error {
	ctx := context.Background()
	if err := p.until(ctx, func() error {
		log, err := os.ReadFile(p.Logs(sandbox.Controller))
		if err == nil && !strings.Contains(string(log), "waiting for its CRD") {
			err = fmt.Errorf("the controller does not say that it waits for the CRD: %s", p.Logs(sandbox.Controller))
		}
		return err
	}); err != nil {
		return err
	}
	crd, err := manifests.Read(deploy.Files, "v1/kubeflow-crd.yaml")
	if err != nil {
		return err
	}
	if _, err = p.objects.Create(ctx, "", metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}, crd...); err != nil {
		return err
	}
	if err := p.until(ctx, func() error {
		_, err := p.dynamic.Resource(kubeflowv1.SchemeGroupVersion.WithResource(kubeflowv1.Resource)).List(ctx, metav1.ListOptions{})
		return err
	}); err != nil {
		return err
	}
	// The garbage collector looks for new kinds every 30 seconds.
	if err := p.Kill(sandbox.ControllerManager, syscall.SIGTERM); err != nil {
		return err
	}
	return p.StartComponent(sandbox.ControllerManager)
}

// patience is generous: what is waited for takes seconds.
const patience = 2 * time.Minute

// until asks again and again until there is no error, and returns the last one when patience is over.
func (p *plane) until(ctx context.Context, try func() error) error {
	var last error
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = try()
		return last == nil, nil
	}); err != nil {
		return fmt.Errorf("gave up (logs in %s): %w", p.StateDir(), last)
	}
	return nil
}
