// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/legacy/kubeflow"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
	"github.com/paddle-volcano/paddle-volcano/test/vcjob"
)

// kubeflowChange is one difference from a plain job.
type kubeflowChange func(*kubeflowv1.PaddleJob)

// job returns one of two workers, which run until the test ends them.
func job(space, name string, changes ...kubeflowChange) *kubeflowv1.PaddleJob {
	j := &kubeflowv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
	two := int32(2)
	j.Spec.PaddleReplicaSpecs = map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{
		kubeflowv1.Worker: {Replicas: &two, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{stages.AnnotationRunFor: "forever"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "logs", Image: "logs"}, {Name: "paddle", Image: "paddle"}}},
		}},
	}
	for _, c := range changes {
		c(j)
	}
	return j
}

func worker(j *kubeflowv1.PaddleJob) *kubeflowv1.ReplicaSpec {
	return j.Spec.PaddleReplicaSpecs[kubeflowv1.Worker]
}

// servers run until they are stopped.
func servers(j *kubeflowv1.PaddleJob) {
	master := worker(j).DeepCopy()
	master.Template.Annotations = map[string]string{stages.AnnotationRunFor: "forever"}
	j.Spec.PaddleReplicaSpecs[kubeflowv1.Master] = master
}

func runFor(duration string) kubeflowChange {
	return func(j *kubeflowv1.PaddleJob) { worker(j).Template.Annotations[stages.AnnotationRunFor] = duration }
}

// fails lets the workers exit with a code, after three seconds, in which it is seen to run.
func fails(code string) kubeflowChange {
	return func(j *kubeflowv1.PaddleJob) {
		runFor("3s")(j)
		worker(j).Template.Annotations[stages.AnnotationExitCode] = code
	}
}

func restarts(policy corev1.RestartPolicy) kubeflowChange {
	return func(j *kubeflowv1.PaddleJob) { worker(j).RestartPolicy = policy }
}

func kubeflowJobs(space string) dynamic.ResourceInterface {
	return cluster.Dynamic.Resource(kubeflowv1.SchemeGroupVersion.WithResource(kubeflowv1.ResourcePaddleJobs)).Namespace(space)
}

// create creates a job as soon as the API server takes it; it is deleted when the test ends.
func create(t *testing.T, job *kubeflowv1.PaddleJob) *kubeflowv1.PaddleJob {
	t.Helper()
	job.TypeMeta = metav1.TypeMeta{APIVersion: kubeflowv1.SchemeGroupVersion.String(), Kind: kubeflowv1.Kind}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	require.NoError(t, err)
	cluster.Await(t, "the job to be created", func(ctx context.Context) error {
		_, err := kubeflowJobs(job.Namespace).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() {
		if err := kubeflowJobs(job.Namespace).Delete(context.Background(), job.Name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			require.NoError(t, err)
		}
	})
	created, err := cluster.Paddle.KubeflowV1().PaddleJobs(job.Namespace).Get(t.Context(), job.Name, metav1.GetOptions{})
	require.NoError(t, err)
	return created
}

// edit sets a field of a job's spec.
func edit(t *testing.T, job *kubeflowv1.PaddleJob, value any, fields ...string) {
	t.Helper()
	require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := kubeflowJobs(job.Namespace).Get(t.Context(), job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedField(fresh.Object, value, append([]string{"spec"}, fields...)...); err != nil {
			return err
		}
		_, err = kubeflowJobs(job.Namespace).Update(t.Context(), fresh, metav1.UpdateOptions{})
		return err
	}))
}

// holds returns the condition of a job that is True, nil if it is not.
func holds(job *kubeflowv1.PaddleJob, kind string) *kubeflowv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// awaitCondition waits until a condition is True and returns the job as it is then.
func awaitCondition(t *testing.T, job *kubeflowv1.PaddleJob, kind string) *kubeflowv1.PaddleJob {
	t.Helper()
	return awaitJob(t, job, kind, func(job *kubeflowv1.PaddleJob) bool { return holds(job, kind) != nil })
}

func awaitJob(t *testing.T, job *kubeflowv1.PaddleJob, what string, want func(*kubeflowv1.PaddleJob) bool) *kubeflowv1.PaddleJob {
	t.Helper()
	var last *kubeflowv1.PaddleJob
	cluster.Await(t, job.Name+" to be "+what, func(ctx context.Context) error {
		fresh, err := cluster.Paddle.KubeflowV1().PaddleJobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if last = fresh; !want(fresh) {
			text, err := json.Marshal(fresh.Status)
			return errors.Join(fmt.Errorf("its status is %s", text), err)
		}
		return nil
	})
	return last
}

// awaitEvents waits until a job's events have these reasons, each once.
func awaitEvents(t *testing.T, job *kubeflowv1.PaddleJob, reasons ...string) {
	t.Helper()
	cluster.Await(t, "the events of "+job.Name, func(ctx context.Context) error {
		list, err := cluster.Kube.CoreV1().Events(job.Namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.apiVersion=kubeflow.org/v1,involvedObject.name=" + job.Name,
		})
		if err != nil {
			return err
		}
		var found []string
		for i := range list.Items {
			for range max(list.Items[i].Count, 1) {
				found = append(found, list.Items[i].Reason)
			}
		}
		if slices.Contains(reasons, "PaddleJobFailed") {
			// Whether a failure is the last is decided once all pods have ended, so a job may be Restarting before it is Failed.
			found = slices.DeleteFunc(found, func(reason string) bool { return reason == "PaddleJobRestarting" })
		}
		slices.Sort(found)
		slices.Sort(reasons)
		if !slices.Equal(reasons, found) {
			return fmt.Errorf("they are %q, not %q", found, reasons)
		}
		return nil
	})
}

// awaitNothing waits until nothing of a job is left.
func awaitNothing(t *testing.T, space string) {
	t.Helper()
	cluster.Await(t, "nothing to be left", func(ctx context.Context) error {
		jobs, err := cluster.Paddle.BatchV1().PaddleJobs(space).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods, err := cluster.Kube.CoreV1().Pods(space).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if left := len(jobs.Items) + len(pods.Items); left > 0 {
			return fmt.Errorf("%d PaddleJobs and %d pods are left", len(jobs.Items), len(pods.Items))
		}
		return nil
	})
}

// By Paddle's own rules every pod finds its peers, and the rank that its name says, with Kubeflow's variables and the controller's.
func TestRanksAreThoseOfThePods(t *testing.T) {
	t.Parallel()
	volcano, err := vcjob.Shared()
	require.NoError(t, err)
	one := func(j *kubeflowv1.PaddleJob) { *worker(j).Replicas = 1 }
	elastic := func(j *kubeflowv1.PaddleJob) {
		j.Spec.ElasticPolicy = &kubeflowv1.ElasticPolicy{MinReplicas: ptr.To[int32](1), MaxReplicas: ptr.To[int32](4)}
	}
	for name, tc := range map[string]struct {
		with []kubeflowChange
		mode conformance.Mode
	}{
		"collective": {mode: conformance.Collective},
		"single":     {with: []kubeflowChange{one}, mode: conformance.Single},
		"servers":    {with: []kubeflowChange{servers}, mode: conformance.PS},
		"elastic":    {with: []kubeflowChange{elastic}, mode: conformance.Elastic},
		"one worker": {with: []kubeflowChange{servers, one}, mode: conformance.PS},
	} {
		for _, intranet := range []batchv1.Intranet{batchv1.PodIP, batchv1.Service} {
			cfg := builder.Config{DefaultIntranet: intranet, ElasticEtcd: "kv.paddle-system.svc:2379"}
			name := strings.ToLower(strings.ReplaceAll(name, " ", "-") + "-" + string(intranet))
			made := kubeflow.Convert(job("train", name, tc.with...), true).Job
			require.Empty(t, validation.Validate(made, builder.PodGroupOverrides{}, cfg), name)
			rendered, problems := builder.Job(made, builder.PodGroupOverrides{}, cfg)
			require.Empty(t, problems, name)
			submitted, err := volcano.Create(t.Context(), rendered)
			require.NoError(t, err)
			pods, services, err := volcano.Pods(t.Context(), submitted)
			require.NoError(t, err)
			for i, pod := range pods {
				pod.Status.PodIP = fmt.Sprintf("10.0.0.%d", 100+i)
			}
			addresses, gang := builder.ServiceAddresses(made), ""
			if intranet == batchv1.PodIP && tc.mode != conformance.Elastic {
				addresses, gang, _ = builder.PodAddresses(made, pods)
			}
			environment := builder.ConfigMap(made, addresses, gang, cfg)
			seen, err := conformance.NewGang(tc.mode, pods, services, func(name string) (map[string]string, bool) {
				if name == environment.Name {
					return environment.Data, true
				}
				return map[string]string{"VC_PS_HOSTS": "", "VC_PS_NUM": "", "VC_WORKER_HOSTS": "", "VC_WORKER_NUM": ""}, strings.HasSuffix(name, "-svc")
			})
			require.NoError(t, err)
			require.NoError(t, seen.Check(), name)
			if tc.mode == conformance.Elastic {
				continue
			}
			for _, pod := range seen.Pods {
				launcher, err := rules.Launch(pod.Env, pod.IP, rules.Newest)
				require.NoError(t, err)
				require.Equal(t, tc.mode == conformance.PS, launcher.PS, pod.Name)
				require.Equal(t, name, pod.Env["PADDLE_JOB_ID"])
			}
		}
	}
}
