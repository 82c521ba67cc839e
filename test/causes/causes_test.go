// SPDX-License-Identifier: Apache-2.0

package causes_test

import (
	"context"
	_ "embed" // for the table
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cause is one cause of a table. In its texts NAME is its name, which is the namespace's and the label of its nodes too.
type cause struct {
	Name string
	// Shape is that of its two nodes. Apart says that each is in a separate rack.
	Shape string
	Apart bool
	// Pod is more of the pod's template, Spec more of the job's.
	Pod, Spec string
	Workers   int
	CPU       string
	// Before makes the cause.
	Before []step
	// Reason is reported, with a text, what is missing and a suggestion.
	Reason     report.Reason
	Text       string
	Missing    string
	Suggestion report.Suggestion
	Remedy     []step
	// Then is a cause that the remedy uncovers.
	Then *cause
}

//go:embed testdata/causes.yaml
var tableText []byte

var table = sync.OnceValue(func() (all struct {
	Causes                []cause
	WithoutPods, Overused cause
}) {
	if err := yaml.UnmarshalStrict(tableText, &all); err != nil {
		panic(fmt.Errorf("testdata/causes.yaml: %w", err))
	}
	return all
})

// step is one command of kubectl, or objects that are applied.
type step string

func (s step) run(ctx context.Context, u user, name string) error {
	text := strings.NewReplacer("NAME", name, "MANY", strconv.Itoa(nodeCount()*11/10)).Replace(string(s))
	if command, ok := strings.CutPrefix(text, "kubectl "); ok {
		_, err := u.kubectl(ctx, "", strings.Fields(command)...)
		return err
	}
	object, err := yaml.YAMLToJSON([]byte(text)) // kubectl takes what begins with a brace for JSON
	if err == nil {
		_, err = u.kubectl(ctx, string(object), "apply", "-f", "-")
	}
	return err
}

// manifest returns the cause's job.
func (c *cause) manifest() string {
	container := "name: paddle, image: paddle, resources: {requests: {cpu: CPU, memory: 1Gi}, limits: {memory: 1Gi}}"
	if c.Name == "host-port" {
		container += ", ports: [{containerPort: 8080, hostPort: 8080}]"
	}
	if c.Name == "devices" {
		container = strings.Replace(container, "limits: ", "claims: [{name: card}], limits: ", 1)
	}
	pod := "nodeSelector: {cause: NAME}, containers: [{" + container + "}]"
	if c.Pod != "" {
		pod += ",\n      " + c.Pod
	}
	cpu, workers := c.CPU, c.Workers
	if cpu == "" {
		cpu = "1"
	}
	if workers == 0 {
		workers = 2
	}
	return strings.NewReplacer("CPU", cpu, "NAME", c.Name).Replace(fmt.Sprintf(`apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: job}
spec:
  worker:
    replicas: %d
    template: {spec: {%s}}
  %s
`, workers, pod, c.Spec))
}

func TestCauses(t *testing.T) {
	t.Parallel()
	requireKubectl(t)
	for _, c := range table().Causes {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			u := c.submit(t)
			for now := &c; now != nil; now = now.Then {
				now.waits(t, u)
				for _, s := range now.Remedy {
					require.NoError(t, s.run(t.Context(), u, c.Name))
				}
			}
			u.awaitRunning(t)
		})
	}
}

func TestGangWithoutPods(t *testing.T) {
	requireKubectl(t)
	require.NoError(t, cluster.Kill(sandbox.VolcanoController, syscall.SIGTERM))
	start := sync.OnceFunc(func() { require.NoError(t, cluster.StartComponent(sandbox.VolcanoController)) })
	t.Cleanup(start)
	withoutPods := table().WithoutPods
	u := withoutPods.submit(t)
	withoutPods.waits(t, u)
	start()
	u.awaitRunning(t)
}

func TestQueueThatHasItsShare(t *testing.T) {
	requireKubectl(t)
	configure := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(cluster.StateDir(), "volcano-scheduler.conf"), []byte(text), 0o644))
	}
	configure(strings.Replace(configuration, "capacity\n    enableHierarchy: true", "proportion", 1))
	t.Cleanup(func() { configure(configuration) })
	overused := table().Overused
	u := overused.submit(t)
	overused.waits(t, u)
	for _, s := range overused.Remedy {
		require.NoError(t, s.run(t.Context(), u, overused.Name))
	}
	u.awaitRunning(t)
	_, err := u.kubectl(t.Context(), "", "delete", "deployment/wants-all", "paddlejob/first", "paddlejob/job")
	require.NoError(t, err)
}

// submit creates the cause and submits its job.
func (c *cause) submit(t *testing.T) user {
	t.Helper()
	u := user(cluster.NamespaceNamed(t, c.Name))
	for _, s := range c.Before {
		require.NoError(t, s.run(t.Context(), u, c.Name))
	}
	_, err := u.paddle(t.Context(), c.manifest(), "submit", "-f", "-")
	require.NoError(t, err)
	return u
}

// awaitRunning waits until the job runs once a remedy is followed.
func (u user) awaitRunning(t *testing.T) {
	t.Helper()
	cluster.Await(t, "the job to run once the remedy is followed", func(ctx context.Context) error {
		job, err := cluster.Paddle.BatchV1().PaddleJobs(string(u)).Get(ctx, "job", metav1.GetOptions{})
		if err == nil && job.Status.Phase != v1.Running {
			why, _ := u.paddle(ctx, "", "why", "job")
			err = fmt.Errorf("it is %s: %s", job.Status.Phase, why)
		}
		return err
	})
}

// waits waits until each surface says why the job waits.
func (c *cause) waits(t *testing.T, u user) {
	t.Helper()
	cluster.Await(t, "kubectl paddle why -o json to say "+string(c.Reason), func(ctx context.Context) error {
		out, err := u.paddle(ctx, "", "why", "job", "-o", "json")
		if err != nil {
			return err
		}
		var got describe.Description
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			return err
		}
		missing, err := json.Marshal(got.Missing)
		if err != nil || got.Reason != string(c.Reason) || !strings.Contains(string(missing), c.Missing) || !suggests(got.Suggestions, c.Suggestion) {
			return errors.Join(err, fmt.Errorf("it says %s", out))
		}
		return nil
	})
	var why string
	cluster.Await(t, "kubectl paddle why to say "+string(c.Reason), func(ctx context.Context) (err error) {
		why, err = u.paddle(ctx, "", "why", "job")
		if err == nil && (!strings.Contains(strings.ToLower(why), strings.ToLower(c.Text)) || !strings.Contains(why, string(c.Reason)) || !strings.Contains(why, "What helps:")) {
			err = fmt.Errorf("it says %s", why)
		}
		return err
	})
	t.Logf("$ kubectl paddle why job\n%s", why)
	cluster.Await(t, "kubectl describe pdj to say "+string(c.Reason), func(ctx context.Context) error {
		out, err := u.kubectl(ctx, "", "describe", "pdj", "job")
		if err == nil && !strings.Contains(out, string(c.Reason)) {
			err = fmt.Errorf("it says %s", out)
		}
		return err
	})
}

// suggests reports whether one suggestion is of a kind and, where that is given, has a value.
func suggests(all []report.Suggestion, wanted report.Suggestion) bool {
	for _, s := range all {
		if s.Kind == wanted.Kind && (wanted.Value == "" || s.Value == wanted.Value) && s.Text != "" {
			return true
		}
	}
	return wanted.Kind == ""
}
