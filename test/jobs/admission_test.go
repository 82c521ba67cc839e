// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
)

// admit applies deploy/v1/admission.yaml to the test's namespace alone, because other tests change what it refuses.
func admit(t *testing.T, namespace string) {
	t.Helper()
	text, err := deploy.Files.ReadFile("v1/admission.yaml")
	require.NoError(t, err)
	documents := yaml.NewYAMLToJSONDecoder(bytes.NewReader(text))
	var policy admissionv1.ValidatingAdmissionPolicy
	var binding admissionv1.ValidatingAdmissionPolicyBinding
	require.NoError(t, documents.Decode(&policy))
	require.NoError(t, documents.Decode(&binding))
	require.ErrorIs(t, documents.Decode(&struct{}{}), io.EOF)
	policy.Name += "." + namespace
	binding.Name, binding.Spec.PolicyName = policy.Name, policy.Name
	binding.Spec.MatchResources = &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace},
	}}
	api := cluster.Kube.AdmissionregistrationV1()
	_, err = api.ValidatingAdmissionPolicies().Create(t.Context(), &policy, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = api.ValidatingAdmissionPolicyBindings().Create(t.Context(), &binding, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, api.ValidatingAdmissionPolicyBindings().Delete(context.Background(), binding.Name, metav1.DeleteOptions{}))
		require.NoError(t, api.ValidatingAdmissionPolicies().Delete(context.Background(), policy.Name, metav1.DeleteOptions{}))
	})
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	inside := cluster.Namespace(t)
	gang := create(t, psJob(inside, "gang", backoff(3)))
	alone := create(t, psJob(inside, "alone", runs(func(run *v1.RunPolicy) {
		run.RestartScope, run.PermanentExitCodes = v1.RestartPod, []int32{3}
	})))
	scales := create(t, collective(inside, "scales", elastic(1, 4)))
	waits := create(t, psJob(inside, "waits", onNodes("none.has/this")))
	admit(t, inside)
	for _, job := range []*v1.PaddleJob{gang, alone, scales} {
		awaitPhase(t, job, v1.Running)
	}
	try := func(job *v1.PaddleJob, c change) error {
		jobs := cluster.Paddle.BatchV1().PaddleJobs(inside)
		for {
			fresh, err := jobs.Get(t.Context(), job.Name, metav1.GetOptions{})
			require.NoError(t, err)
			c(fresh)
			_, err = jobs.Update(t.Context(), fresh, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsConflict(err) {
				return err
			}
		}
	}
	// It takes a moment until the API server has the policy.
	cluster.Await(t, "a change to be refused", func(context.Context) error {
		if try(gang, workers(3)) == nil {
			return errors.New("it is not")
		}
		return nil
	})
	for name, tc := range map[string]struct {
		job     *v1.PaddleJob
		change  change
		refused string
	}{
		"servers":       {job: gang, change: func(job *v1.PaddleJob) { job.Spec.PS.Replicas = 3 }, refused: "spec.ps cannot"},
		"no servers":    {job: gang, change: func(job *v1.PaddleJob) { job.Spec.PS = nil }, refused: "spec.ps cannot"},
		"another role":  {job: gang, change: func(job *v1.PaddleJob) { job.Spec.Heter = role(1) }, refused: "spec.heter cannot"},
		"image":         {job: gang, change: image("x"), refused: "nothing but replicas"},
		"not suspended": {job: gang, change: func(job *v1.PaddleJob) { suspend(false)(job); image("x")(job) }, refused: "nothing but replicas"},
		"fixed workers": {job: gang, change: workers(3), refused: "only if spec.elasticPolicy.minReplicas"},
		"intranet":      {job: gang, change: byService, refused: "spec.intranet"},
		"queue":         {job: gang, change: queue("other"), refused: "spec.schedulingPolicy"},
		"elastic":       {job: scales, change: func(job *v1.PaddleJob) { job.Spec.Elastic = nil }, refused: "spec.elastic and"},
		"scope":         {job: gang, change: runs(func(run *v1.RunPolicy) { run.RestartScope = v1.RestartPod }), refused: "restartScope cannot"},
		"too many":      {job: scales, change: workers(5), refused: "spec.worker.limits, the maximum of elastic workers"},
		"bounds":        {job: scales, change: elastic(1, 8), refused: "nothing but replicas"},

		"elastic workers":  {job: scales, change: workers(4)},
		"more patience":    {job: gang, change: backoff(9)},
		"codes":            {job: gang, change: runs(func(run *v1.RunPolicy) { run.PermanentExitCodes = []int32{4} })},
		"no backoff":       {job: gang, change: func(job *v1.PaddleJob) { job.Spec.RunPolicy = nil }},
		"codes, alone":     {job: alone, change: runs(func(run *v1.RunPolicy) { run.PermanentExitCodes = []int32{4} })},
		"suspend":          {job: gang, change: suspend(true)},
		"suspend and edit": {job: gang, change: func(job *v1.PaddleJob) { suspend(true)(job); image("x")(job); queue("other")(job) }},
		"deadline":         {job: gang, change: runs(func(run *v1.RunPolicy) { run.ActiveDeadlineSeconds = ptr(int64(100)) })},
		"cleanPodPolicy":   {job: gang, change: cleans(v1.CleanAlways)},
		"labels":           {job: gang, change: func(job *v1.PaddleJob) { job.Labels = map[string]string{"a": "b"} }},
		"nothing":          {job: gang, change: func(*v1.PaddleJob) {}},
		"scope named":      {job: gang, change: runs(func(run *v1.RunPolicy) { run.RestartScope = v1.RestartGang })},
		"a job that waits": {job: waits, change: workers(3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := try(tc.job, tc.change)
			if tc.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.refused)
			require.True(t, apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "%v", err)
		})
	}
}

// Kueue admits a job by one write that resumes it and narrows its node selector, and evicts it by one that suspends it and
// takes the selector back.
func TestKueueAdmitsAndEvicts(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	admit(t, namespace)
	job := create(t, psJob(namespace, "queued", suspend(true)))
	awaitPhase(t, job, v1.Suspended)
	for _, flavor := range []string{"first", "second"} {
		edit(t, job, suspend(false), image(flavor))
		awaitPhase(t, job, v1.Running)
		worker, err := cluster.Kube.CoreV1().Pods(namespace).Get(t.Context(), "queued-worker-0", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, flavor, worker.Spec.Containers[0].Image)
		edit(t, job, suspend(true), image("any"))
		awaitPhase(t, job, v1.Suspended)
	}
}

// What the CRD's own rules refuse needs no policy.
func TestCRDRefusesRestartScopeWithoutServers(t *testing.T) {
	t.Parallel()
	job := collective(cluster.Namespace(t), "alone", runs(func(run *v1.RunPolicy) { run.RestartScope = v1.RestartPod }))
	_, err := cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.ErrorContains(t, err, "restartScope Pod is for workers of PS mode")
}
