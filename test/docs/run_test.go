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

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

const (
	root     = "../.."
	stateDir = root + "/_output/test-docs"
	// workersRun is how long workers run on the sandbox that the pages share.
	workersRun = 15 * time.Second
)

// cluster is the sandbox of the pages that start none. It is nil unless everything is tested.
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
	options := sandbox.Options{StateDir: stateDir + "/sandbox", WorkerRunFor: workersRun, Progress: os.Stderr, ControllerArgs: []string{"--leader-elect=false"}, Trainer: true}
	os.Exit(live.Main(m, options, func(p *live.Plane) error {
		cluster = p
		return others(context.Background(), p)
	}))
}

// The kubectl that users build compares its version with the API server's.
func TestKubectlHasAVersion(t *testing.T) {
	live.SkipUnlessAll(t)
	out, err := exec.CommandContext(t.Context(), root+"/_output/bin/kubectl", "version", "--client").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `(?m)^Client Version: v1\.\d+\.\d+$`, string(out))
}

// others has the API server know Kubeflow's PaddleJobs and the runtime of TrainJobs, of which some pages have manifests.
func others(ctx context.Context, p *live.Plane) error {
	config := p.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	client, err := manifests.NewClient(config)
	if err != nil {
		return err
	}
	objects, err := manifests.Read(deploy.Files, "v1/kubeflow-crd.yaml", "trainer/runtime.yaml")
	if err != nil {
		return err
	}
	return client.Apply(ctx, "", "test-docs", objects...)
}

// shell returns where the commands of a page are typed.
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

// english returns the pages that are run: their translations have the same code.
func english(t *testing.T) (pages []*docs.Page) {
	t.Helper()
	all, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	for _, page := range all {
		if !docs.Chinese(page.Path) {
			pages = append(pages, page)
		}
	}
	require.Greater(t, len(pages), 10, "the documents were not found")
	return pages
}

// Pages that start a sandbox run in parallel. The others share one, and run one after the other, because the jobs of one page would
// change where those of another fit.
func TestCommandsDoWhatTheirPagesShow(t *testing.T) {
	live.SkipUnlessAll(t)
	for _, page := range english(t) {
		steps := stepsOf(t, page)
		if len(steps) == 0 {
			continue
		}
		own := startsASandbox(steps)
		t.Run(page.Path, func(t *testing.T) {
			if own {
				t.Parallel()
				play(t, page, steps, shell(t, page, "KUBECONFIG="))
				return
			}
			namespace := cluster.NamespaceNamed(t, page.Path)
			s := shell(t, page, "KUBECONFIG="+kubeconfig(t, namespace))
			s.Namespace = namespace
			play(t, page, steps, s)
		})
	}
}

func stepsOf(t *testing.T, page *docs.Page) (steps []docs.Step) {
	for _, block := range page.Blocks {
		switch {
		case block.Excused():
			t.Logf("%s:%d: %s", page.Path, block.Line, block.Marker)
		case block.Run():
			steps = append(steps, block.Steps()...)
		}
	}
	return steps
}

func startsASandbox(steps []docs.Step) bool {
	for _, step := range steps {
		if strings.Contains(step.Command, "paddle-sandbox up") {
			return true
		}
	}
	return false
}

// play runs a page's commands, in order, and stops at the first whose result differs from the page.
func play(t *testing.T, page *docs.Page, steps []docs.Step, s *docs.Shell) {
	t.Helper()
	t.Cleanup(func() {
		_, err := sandbox.Down(context.WithoutCancel(t.Context()), filepath.Join(s.Dir, sandbox.DefaultStateDir))
		require.NoError(t, err)
	})
	for _, block := range page.Blocks {
		if name, found := strings.CutPrefix(block.Marker, "file: "); found {
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir, name), []byte(strings.Join(block.Lines, "\n")+"\n"), 0o600))
		}
	}
	for _, step := range steps {
		if err := s.Do(t.Context(), step); err != nil {
			t.Fatalf("%s, %s", page.Path, err)
		}
	}
}

// kubeconfig returns a file that leads to a namespace of the sandbox of all, whose jobs go with the test.
func kubeconfig(t *testing.T, namespace string) string {
	t.Helper()
	t.Cleanup(func() { deleteJobs(t, namespace) })
	config, err := clientcmd.LoadFromFile(cluster.Kubeconfig())
	require.NoError(t, err)
	config.Contexts[config.CurrentContext].Namespace = namespace
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, file))
	return file
}

// deleteJobs deletes a page's jobs before the next one comes. The namespace itself takes its time.
func deleteJobs(t *testing.T, namespace string) {
	ctx := context.WithoutCancel(t.Context())
	all, background := metav1.ListOptions{}, metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(namespace).DeleteCollection(ctx, options, all))
	require.NoError(t, cluster.Volcano.BatchV1alpha1().Jobs(namespace).DeleteCollection(ctx, options, all))
	require.NoError(t, cluster.Until(ctx, "the pods of "+namespace+" to go", func(ctx context.Context) error {
		pods, err := cluster.Kube.CoreV1().Pods(namespace).List(ctx, all)
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d are there", len(pods.Items))
		}
		return err
	}))
	require.NoError(t, cluster.Kube.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}))
}

func TestManifestsAreWhatTheirJudgesTake(t *testing.T) {
	live.SkipUnlessAll(t)
	all := &docs.Page{Path: "manifests.md"}
	s := shell(t, all, "KUBECONFIG="+kubeconfig(t, cluster.Namespace(t)))
	judged := 0
	for _, page := range english(t) {
		for _, block := range page.Blocks {
			if block.Language != "yaml" || block.Excused() {
				continue
			}
			text, by, err := block.Manifest()
			require.NoError(t, err, page.Path)
			judged++
			if by == docs.BySandbox {
				_, err := topology.Parse([]byte(text))
				require.NoError(t, err, "%s, line %d", page.Path, block.Line)
				continue
			}
			file := fmt.Sprintf("%d.yaml", judged)
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir, file), []byte(text), 0o600))
			if err := s.Do(t.Context(), docs.Step{Line: block.Line, Command: string(by) + " " + file}); err != nil {
				t.Errorf("%s, %s", page.Path, err)
			}
		}
	}
	require.Positive(t, judged)
}
