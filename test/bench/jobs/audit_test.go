// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
)

// line is an entry of the log.
func line(stage, user, verb, ref string) string {
	return `{"stage":"` + stage + `","user":{"username":"` + user + `"},"verb":"` + verb + `","objectRef":` + ref + "}\n"
}

func TestCountIsOfTheControllersWrites(t *testing.T) {
	const done = "ResponseComplete"
	path := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join([]string{
		line(done, controllerUser, "create", `{"resource":"jobs"}`),
		line(done, controllerUser, "update", `{"resource":"paddlejobs","subresource":"status"}`),
		line(done, controllerUser, "update", `{"resource":"paddlejobs","subresource":"status"}`),
		line("ResponseStarted", controllerUser, "create", `{"resource":"jobs"}`),
		line(done, "system:admin", "create", `{"resource":"jobs"}`),
		line(done, controllerUser, "create", `{"resource":"events"}`),
		line(done, controllerUser, "update", `{"resource":"leases"}`),
		line(done, controllerUser, "create", "null"),
	}, "")), 0o600))
	writes, events, err := count(path)
	require.NoError(t, err)
	require.Equal(t, Writes{"create jobs": 1, "update paddlejobs/status": 2}, writes)
	require.Equal(t, 3, writes.sum())
	require.Equal(t, 1, events)

	require.NoError(t, os.WriteFile(path, []byte("{\n"), 0o600))
	_, _, err = count(path)
	require.ErrorContains(t, err, path)
}

// The name by which the controller is known is that of the shipped manifest.
func TestControllerUserIsTheShippedOne(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/v1/operator.yaml")
	require.NoError(t, err)
	var found string
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var object struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		require.NoError(t, yaml.Unmarshal(document, &object))
		if object.Kind == "ServiceAccount" {
			found = "system:serviceaccount:" + object.Metadata.Namespace + ":" + object.Metadata.Name
		}
	}
	require.Equal(t, controllerUser, found)
}

func TestRawJobsAreEqual(t *testing.T) {
	s := Default()
	job := s.paddleJob(7)
	require.Empty(t, render.Validate(job, render.Wish{}, render.Config{}))
	raw, bare := s.volcanoJob(kindVolcano, 7), s.volcanoJob(kindBare, 7)
	require.Equal(t, job.Name, raw.Name)
	require.EqualValues(t, 10, raw.Spec.MinAvailable)
	require.Len(t, raw.Spec.Tasks, 2)
	for i, replicas := range []int32{2, 8} {
		require.Equal(t, replicas, raw.Spec.Tasks[i].Replicas)
		require.Empty(t, raw.Spec.Tasks[i].Template.Spec.Containers[0].EnvFrom)
		require.NotEmpty(t, raw.Spec.Tasks[i].Template.Spec.Containers[0].Env)
		require.NotEmpty(t, raw.Spec.Tasks[i].Template.Annotations)
		require.Empty(t, bare.Spec.Tasks[i].Template.Spec.InitContainers)
		require.Len(t, raw.Spec.Tasks[i].Template.Spec.InitContainers, 1)
		require.Empty(t, raw.Spec.Tasks[i].Template.Spec.InitContainers[0].EnvFrom)
		raw.Spec.Tasks[i].Template.Spec.InitContainers = nil
	}
	require.Equal(t, bare, raw)
	require.Empty(t, raw.OwnerReferences)
	require.Equal(t, 10_000, s.pods())
}

func TestReport(t *testing.T) {
	s := Settings{Jobs: 10, Servers: 1, Workers: 1, Nodes: 3}
	used := func(seconds float64) map[string]usage.Process {
		return map[string]usage.Process{"etcd": {CPU: seconds}}
	}
	r := s.report([]Round{
		{Kind: kindBare, Ready: 5, Processes: used(1)}, {Kind: kindVolcano, Ready: 10, Processes: used(2)},
		{Kind: KindPaddle, Ready: 12, Early: 7, Processes: used(3), RSS: 100, Writes: Writes{"create jobs": 10, "patch podgroups": 20}, Events: 50},
		{Kind: KindPaddle, Ready: 13, RSS: 300, Writes: Writes{"create jobs": 10}, Events: 10}, {Kind: kindVolcano, Ready: 10}, {Kind: kindVolcano, Ready: 90},
	})
	require.Equal(t, []float64{12.5, 10, 1.25, 300, 3, 5}, []float64{r.PaddleJob, r.VolcanoJob, r.Ratio, r.RSS, r.Writes, r.Events})
	require.Equal(t, []float64{5, 2.5}, []float64{r.Bare, r.BareRatio})
	require.Equal(t, []int{10, 20, 3}, []int{r.Jobs, r.Pods, r.Nodes})
	var out strings.Builder
	require.NoError(t, r.print(&out))
	require.Contains(t, out.String(), "slice   controller's memory, MiB")
	require.Contains(t, out.String(), "met     writes per job")
	require.Contains(t, out.String(), "patch podgroups")
	require.Contains(t, out.String(), "2.00 per job")
	require.Contains(t, out.String(), "1.0 of bare Volcano Jobs,    2.0 of equal ones,    3.0 of PaddleJobs")
	require.Contains(t, out.String(), "7 jobs of the round of PaddleJob had ended")
	require.Contains(t, out.String(), "5.0 s (2.50 times theirs)")

	s.Jobs = barJobs
	out.Reset()
	require.NoError(t, s.report([]Round{{Kind: kindBare, Ready: 10}, {Kind: kindVolcano, Ready: 10}, {Kind: KindPaddle, Ready: 12, RSS: 300}}).print(&out))
	require.Contains(t, out.String(), "MISSED  controller's memory, MiB")
	require.Contains(t, out.String(), "met     time of PaddleJobs")
}

func TestKindsTakeTurns(t *testing.T) {
	for rounds, want := range map[int][]string{
		1: {kindBare, kindVolcano, KindPaddle},
		2: {kindBare, kindVolcano, KindPaddle, KindPaddle, kindVolcano},
		3: {kindBare, kindVolcano, KindPaddle, KindPaddle, kindVolcano, kindVolcano, KindPaddle},
	} {
		turns, whole := (&Settings{Rounds: rounds}).turns()
		require.Equal(t, want, turns)
		require.Equal(t, KindPaddle, turns[whole])
		require.NotContains(t, turns[whole+1:], KindPaddle)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, spoil := range []func(*Settings){
		func(s *Settings) { s.Jobs = 0 }, func(s *Settings) { s.Servers = 0 }, func(s *Settings) { s.Workers = -1 },
		func(s *Settings) { s.Nodes = 0 }, func(s *Settings) { s.Rounds = 0 }, func(s *Settings) { s.Patience = 0 },
	} {
		s := Default()
		require.NoError(t, s.check())
		spoil(&s)
		require.Error(t, s.check())
	}
}

func TestWatcherCountsEnvironments(t *testing.T) {
	w := &watcher{maps: map[string]bool{}, changed: make(chan struct{}, 1)}
	made := func(name, kind string) {
		controls := true
		w.note(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Controller: &controls}}}})
	}
	made("job-0001", "PaddleJob")
	made("job-0001-svc", "Job")
	w.note(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}})
	require.Equal(t, 1, w.seen().Complete)
}
