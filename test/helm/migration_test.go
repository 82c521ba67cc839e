// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// theirChart has the facts of paddle-operator's chart. The manifests from 0.3.1 on differ in the values of as0_3_5.
const (
	theirChart = "test/helm/testdata/paddle-operator"
	as0_3_5    = " --set account=paddle-manager-sa,image=registry.baidubce.com/paddlecloud/controller:v0.3.5"
	elsewhere  = " --set controllernamespace=ml,jobnamespace=ml,image=harbor.corp/ai/controller:v1"
)

// The commands of deploy/docs/how-to/migrate.md, which are those that migrate-check prints, replace paddle-operator with the controller. Every
// job and its pods stay.
func TestMigrationFromPaddleOperator(t *testing.T) {
	run := migrationShell(t)
	forget, remove, update, byHelm, byKubectl := migrationGuide(t)
	_ = cluster.Kill(sandbox.Controller, syscall.SIGTERM) // it does not run after TestLifeOfAnInstallation
	// paddle-operator's chart makes the namespace.
	run(t, "kubectl delete --ignore-not-found crd "+theCRD, nil)
	run(t, "kubectl delete --ignore-not-found -f deploy/v1/operator.yaml -f deploy/v1/namespace.yaml", nil)
	for i, tc := range []struct {
		name, install, values string
		// namespace is where paddle-operator runs.
		namespace string
		// printed are the commands of migrate-check; nil where the document does not have the names of the installation.
		printed []string
		// helm has the last command replaced by the document's for Helm.
		helm bool
	}{
		{name: "its chart", install: "helm install paddle-operator " + theirChart, namespace: system, printed: []string{forget, remove, update, byHelm}},
		{name: "its chart, in other namespaces", install: "kubectl create namespace ops && helm install po --namespace ops " + theirChart, values: elsewhere, namespace: "ml"},
		{name: "its manifests, to Helm", install: "helm template po %s | kubectl apply -f -", values: as0_3_5, namespace: system, printed: []string{remove, update, byKubectl}, helm: true},
		{name: "its manifests, to kubectl", install: "helm template po %s | kubectl apply -f -", values: as0_3_5, namespace: system, printed: []string{remove, update, byKubectl}},
	} {
		if !t.Run(tc.name, func(t *testing.T) {
			if i > 0 {
				live.SkipUnlessAll(t)
			}
			install := tc.install + tc.values
			if strings.Contains(tc.install, "%s") {
				install = fmt.Sprintf(tc.install, theirChart+tc.values)
			}
			run(t, install, nil)
			run(t, "kubectl wait crd/"+theCRD+" --for=condition=Established", nil)
			namespaces := []string{tc.namespace, fmt.Sprint("team-", i)}
			run(t, "kubectl create namespace "+namespaces[1], nil)
			before := map[string]types.UID{}
			for _, namespace := range namespaces {
				run(t, "kubectl -n "+namespace+" wait serviceaccount/default --for=create", nil)
				leave(t, namespace, "testdata/trains.yaml")
				run(t, "kubectl -n "+namespace+" wait pod/trains-worker-0 pod/trains-worker-1 --for=jsonpath={.status.phase}=Running", nil)
				leaveEnded(t, namespace)
				maps.Copy(before, uids(t, namespace))
			}
			require.Len(t, before, 8, "two jobs and two pods in each namespace")

			commands := migrationCommands(t)
			if tc.printed != nil {
				require.Equal(t, tc.printed, commands)
			}
			if tc.helm {
				commands[len(commands)-1] = byHelm
			}
			for _, command := range commands {
				run(t, command, nil)
			}

			name := fmt.Sprint("migrated-", i)
			startController(t, name)
			after := map[string]types.UID{}
			for _, namespace := range namespaces {
				awaitTakenOver(t, namespace)
				awaitPhase(t, namespace, "ended", paddlev1.Completed)
				maps.Copy(after, uids(t, namespace))
			}
			require.Equal(t, before, after)
			require.Empty(t, migrationCommands(t), "nothing is left to do")
			requireNothingForbidden(t, name)
			left := []string{"namespace/" + tc.namespace, "customresourcedefinition.apiextensions.k8s.io/" + theCRD}
			if tc.namespace == system {
				left = append(left, "deployment.apps/paddle-controller-manager") // the controller's
			}
			run(t, "helm template po "+theirChart+tc.values+" | kubectl get --ignore-not-found -o name -f -", left)
			releases := []string{}
			if commands[len(commands)-1] == byHelm {
				releases = append(releases, release)
			}
			run(t, "helm list --all-namespaces --short", releases)
			require.NoError(t, cluster.Kill(name, syscall.SIGTERM))
			// Nothing is left for the next; to delete a namespace takes longer.
			run(t, "kubectl delete --ignore-not-found crd "+theCRD, nil)
			run(t, "kubectl delete --ignore-not-found -f deploy/v1/operator.yaml", nil)
			run(t, "kubectl -n "+system+" delete pods,configmaps,secrets --all", nil)
		}) {
			return
		}
	}
}

// migrationShell runs commands in a folder with the layout of a clone. Their output must be want, unless it is nil.
func migrationShell(t *testing.T) func(t *testing.T, command string, want []string) {
	t.Helper()
	needKubectl(t)
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	home := t.TempDir()
	shell, err := docs.NewShell(top, filepath.Join(top, "_output", "test-helm-migration"), "KUBECONFIG="+cluster.Kubeconfig(),
		"PATH="+filepath.Join(top, "_output", "bin")+":"+os.Getenv("PATH"), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	require.NoError(t, err)
	return func(t *testing.T, command string, want []string) {
		t.Helper()
		t.Logf("$ %s", command)
		require.NoError(t, shell.Do(t.Context(), docs.Step{Command: command, Want: want}))
	}
}

// migrationGuide returns the commands of deploy/docs/how-to/migrate.md for paddle-operator's users, each on one line.
func migrationGuide(t *testing.T) (forget, remove, update, byHelm, byKubectl string) {
	t.Helper()
	text, err := os.ReadFile(root + "/deploy/docs/how-to/migrate.md")
	require.NoError(t, err)
	var commands []string
	for _, block := range docs.Parse("deploy/docs/how-to/migrate.md", string(text)).Blocks {
		if block.Marker == "tested by: test/helm TestMigrationFromPaddleOperator" {
			command := strings.ReplaceAll(strings.Join(block.Lines, "\n"), "\\\n", "\n")
			commands = append(commands, strings.Join(strings.Fields(command), " "))
		}
	}
	require.Len(t, commands, 5)
	return commands[0], commands[1], commands[2], commands[3], commands[4]
}

// migrationCommands returns those that migrate-check prints.
func migrationCommands(t *testing.T) (commands []string) {
	t.Helper()
	text, err := kubectlPaddle(t.Context(), "migrate-check")
	require.NoError(t, err)
	t.Logf("$ kubectl paddle migrate-check\n%s", text)
	out, err := kubectlPaddle(t.Context(), "migrate-check", "-o", "json")
	require.NoError(t, err)
	var found struct {
		Warnings []string
		Steps    []struct{ Command string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Empty(t, found.Warnings)
	for _, step := range found.Steps {
		commands = append(commands, step.Command)
	}
	return commands
}

// leaveEnded creates a job that has finished under paddle-operator.
func leaveEnded(t *testing.T, namespace string) {
	t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(namespace)
	job := &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "ended"}, Spec: paddlev1.PaddleJobSpec{Worker: &paddlev1.ResourceSpec{Replicas: 1}}}
	job, err := jobs.Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	job.Status.Phase = paddlev1.Completed
	_, err = jobs.UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// uids returns those of a namespace's PaddleJobs and pods of workers.
func uids(t *testing.T, namespace string) map[string]types.UID {
	t.Helper()
	all := map[string]types.UID{}
	jobs, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range jobs.Items {
		all[namespace+"/PaddleJob/"+jobs.Items[i].Name] = jobs.Items[i].UID
	}
	pods, err := cluster.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "paddle-res-type=worker"})
	require.NoError(t, err)
	for i := range pods.Items {
		all[namespace+"/Pod/"+pods.Items[i].Name] = pods.Items[i].UID
	}
	return all
}

// awaitTakenOver waits until the controller has taken the job trains over, and left its pods to finish.
func awaitTakenOver(t *testing.T, namespace string) {
	t.Helper()
	cluster.Await(t, "trains to be taken over in "+namespace, func(ctx context.Context) error {
		job, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).Get(ctx, "trains", metav1.GetOptions{})
		if err != nil {
			return err
		}
		created := meta.FindStatusCondition(job.Status.Conditions, paddlev1.ConditionCreated)
		if created == nil || created.Reason != "StartedByPaddleOperator" || len(job.Finalizers) > 0 || job.Status.Phase != paddlev1.Running {
			return fmt.Errorf("its finalizers are %v, its status is %+v", job.Finalizers, job.Status)
		}
		return nil
	})
}
