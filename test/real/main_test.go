// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

const (
	root     = "../.."
	stateDir = "../../_output/test-real"
	// sideBySide is how many jobs train at a time: most of their time they wait, for the scheduler, for kubelet and for DNS.
	sideBySide              = 6
	trainerImage, etcdImage = "paddle-trainer:test", "etcd:test"
)

var (
	// cluster is the sandbox of all tests of this package, and objects its client for manifests.
	cluster *live.Plane
	objects *manifests.Client
)

func TestMain(m *testing.M) {
	if what := os.Getenv(denyEnv); what != "" {
		deny(what)
	}
	if state := os.Getenv(holdEnv); state != "" {
		hold(state)
	}
	if link := os.Getenv(showEnv); link != "" {
		show(link)
		return
	}
	if live.RealRefused() != nil {
		os.Exit(m.Run()) // without a cluster: each test that needs one skips
	}
	live.SideBySide(sideBySide)
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "test-real-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // in the folder of what is temporary
	options := sandbox.Options{
		StateDir: stateDir, Progress: os.Stderr, Real: &sandbox.Real{}, ControllerArgs: []string{"--kubeflow"},
		// A claim that is seen before its volume is looked at again only after this time, by default 15 seconds.
		Args: map[string][]string{sandbox.ControllerManager: {"--pvclaimbinder-sync-period=1s"}},
	}
	if options.Real.Images, err = packImages(dir, options); err != nil {
		fmt.Fprintln(os.Stderr, "make the images:", err)
		return 1
	}
	return live.Main(m, options, ready)
}

// packImages creates those of the trainer, under all names of the examples, and of etcd.
func packImages(dir string, options sandbox.Options) ([]string, error) {
	trains, keeps := filepath.Join(dir, "trainer.tar"), filepath.Join(dir, "etcd.tar")
	if err := packTrainer(trains); err != nil {
		return nil, err
	}
	binaries, err := sandbox.Build(context.Background(), options)
	if err != nil {
		return nil, err
	}
	return []string{trains, keeps}, image.Pack(binaries[sandbox.Etcd], keeps, image.Options{Names: []string{image.Full(etcdImage)}})
}

func packTrainer(archive string) error {
	return image.Build(context.Background(), root, archive, image.Options{})
}

// ready gives the real node what the examples ask for, and the API server Kubeflow's CRD.
func ready(p *live.Plane) error {
	ctx := context.Background()
	cluster = p
	label := `{"metadata":{"labels":{"accelerator":"nvidia-tesla-p100","nvidia.com/gpu.present":"true"}}}`
	if _, err := p.Kube.CoreV1().Nodes().Patch(ctx, sandbox.RealNode, types.StrategicMergePatchType, []byte(label), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("label the real node: %w", err)
	}
	if err := promiseGPUs(ctx); err != nil {
		return err
	}
	return installKubeflow(ctx)
}

// promiseGPUs makes the kubelet admit pods that ask for GPUs and RDMA devices, which the machine does not have.
func promiseGPUs(ctx context.Context) error {
	patch := `{"status":{"capacity":{"nvidia.com/gpu":"8","rdma/hca":"8"},"allocatable":{"nvidia.com/gpu":"8","rdma/hca":"8"}}}`
	if _, err := cluster.Kube.CoreV1().Nodes().Patch(ctx, sandbox.RealNode, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("give the real node GPUs: %w", err)
	}
	return nil
}

// onEveryChange returns the cases that every change is tested with; make test-all tests all.
func onEveryChange[T any](cases map[string]T, names ...string) map[string]T {
	if live.All() {
		return cases
	}
	chosen := map[string]T{}
	for _, name := range names {
		c, ok := cases[name]
		if !ok {
			panic("there is no case " + name)
		}
		chosen[name] = c
	}
	return chosen
}

// installKubeflow creates Kubeflow's CRD, and then the client for manifests, which remembers what kinds there are.
func installKubeflow(ctx context.Context) error {
	crd, err := manifests.Read(deploy.Files, "v1/kubeflow-rights.yaml", "v1/kubeflow-crd.yaml")
	if err != nil {
		return err
	}
	config := cluster.RESTConfig()
	config.WarningHandler = rest.NoWarnings{} // the examples are as they were published
	if objects, err = manifests.NewClient(config); err != nil {
		return err
	}
	if _, err = objects.Create(ctx, "", metav1.CreateOptions{}, crd...); err != nil {
		return err
	}
	job := &unstructured.Unstructured{}
	job.SetGroupVersionKind(kubeflowv1.SchemeGroupVersion.WithKind("PaddleJob"))
	job.SetName("none")
	return cluster.Until(ctx, "the API server to offer Kubeflow's kind", func(ctx context.Context) error {
		if objects, err = manifests.NewClient(config); err != nil {
			return err
		}
		_, err = objects.Get(ctx, metav1.NamespaceDefault, job)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
