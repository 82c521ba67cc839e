// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const (
	root    = "../.."
	chart   = root + "/deploy/helm/paddle-volcano"
	release = "paddle"
	// system is the namespace of the release.
	system = "paddle-system"
	// images is the value without which nothing that has an image is installed.
	images = "image.registry=registry.example.com/paddle"
)

// Who the components are to the API server. The release's scheduler replaces Volcano's; the sandbox's, which is there
// first and makes the queues, has the same permissions under Volcano's name.
const (
	controllerUser = "system:serviceaccount:paddle-system:paddle-controller-manager"
	schedulerUser  = "system:serviceaccount:volcano-system:paddle-scheduler"
	firstScheduler = "system:serviceaccount:volcano-system:volcano-scheduler"
)

// auditPolicy has the API server write down all that the components ask for.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + controllerUser + `", "` + schedulerUser + `", "` + firstScheduler + `"]
- level: None
`

// plane is a sandbox with the programs of this project as the plain manifests install them.
type plane struct {
	*live.Plane
	objects *manifests.Client
	// log is the audit log.
	log string
}

var cluster plane

func TestMain(m *testing.M) {
	live.SideBySide(8)
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := filepath.Abs(root + "/_output/test-helm-audit")
	if err == nil {
		err = exec.CommandContext(context.Background(), root+"/hack/helm.sh", "version").Run()
	}
	var args []string
	if err == nil {
		args, cluster.log, err = audit.Prepare(folder, auditPolicy)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make ready for the chart's tests:", err)
		return 1
	}
	return live.Main(m, sandbox.Options{
		StateDir: root + "/_output/test-helm", Progress: os.Stderr, WorkerRunFor: 2 * time.Second, ControllerArgs: []string{"-v=4"},
		Args: map[string][]string{
			// Where owners are protected, as in OpenShift, more permissions are needed.
			sandbox.APIServer: append(args, "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"),
		},
	}, func(p *live.Plane) (err error) {
		cluster.Plane = p
		early, err := manifests.NewClient(p.RESTConfig())
		if err != nil {
			return err
		}
		// Some parts of Kubernetes look for new kinds only now and then.
		crds, err := manifests.Read(deploy.Files, "v1/kubeflow-crd.yaml")
		if err != nil {
			return err
		}
		others, err := manifests.Read(os.DirFS("."), "testdata/monitoring.yaml")
		if err != nil {
			return err
		}
		if _, err = early.Create(context.Background(), "", metav1.CreateOptions{}, append(crds, others...)...); err != nil {
			return err
		}
		cluster.objects, err = manifests.NewClient(p.RESTConfig()) // which looks for kinds when it is first used, and then knows these
		return err
	})
}

// helm runs Helm on the sandbox and returns what it prints.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), root+"/_output/bin/helm", append(args, "--namespace", system)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home, "KUBECONFIG="+cluster.Kubeconfig())
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("helm %v: %w: %s", args, err, errs.String())
	}
	return out.String(), nil
}

// needKubectl builds kubectl where make kubectl has not.
func needKubectl(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(root + "/_output/bin/kubectl"); err == nil {
		return
	}
	out, err := exec.CommandContext(t.Context(), "make", "--silent", "-C", root, "kubectl").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
