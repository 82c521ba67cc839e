// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const (
	root     = "../.."
	stateDir = root + "/_output/test-docs"
	// workersRun is what the pages are told that workers run for where they use the sandbox of all.
	workersRun = 15 * time.Second
)

// cluster is the sandbox of the pages that start none of their own; nil unless everything is tested.
var cluster *live.Plane

func TestMain(m *testing.M) {
	if !live.All() {
		os.Exit(m.Run())
	}
	build := exec.Command("make", "--silent", "-C", root, "kubectl")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "make kubectl:", err)
		os.Exit(1)
	}
	live.SideBySide(4)
	options := sandbox.Options{StateDir: stateDir + "/sandbox", WorkerRunFor: workersRun, Progress: os.Stderr, ControllerArgs: []string{"--leader-elect=false"}}
	os.Exit(live.Main(m, options, func(p *live.Plane) error {
		cluster = p
		return kubeflow(context.Background(), p)
	}))
}

// kubeflow has the API server know Kubeflow's PaddleJobs, of which some pages have manifests.
func kubeflow(ctx context.Context, p *live.Plane) error {
	config := p.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	client, err := manifests.NewClient(config)
	if err != nil {
		return err
	}
	crd, err := manifests.Read(deploy.Files, "v1/kubeflow-crd.yaml")
	if err != nil {
		return err
	}
	return client.Apply(ctx, "", "test-docs", crd...)
}

// shell is where the commands of a page are typed.
func shell(t *testing.T, page *docs.Page, env ...string) *docs.Shell {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.ReplaceAll(strings.TrimSuffix(page.Path, ".md"), "/", "-")
	dir := filepath.Join(top, "_output", "test-docs", "pages", name)
	// Of a run that was killed one may be left.
	if _, err := sandbox.Down(t.Context(), filepath.Join(dir, sandbox.DefaultStateDir)); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + filepath.Join(top, "_output", "bin") + ":" + os.Getenv("PATH")
	s, err := docs.NewShell(top, dir, append(env, path, "TERM=dumb")...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
