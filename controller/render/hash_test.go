// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func TestSpecHash(t *testing.T) {
	base := SpecHash(paddleJob(2, 2))
	require.NotEmpty(t, base)
	for name, apply := range map[string]change{
		"labels":                    func(job *v1.PaddleJob) { job.Labels = map[string]string{"a": "b"} },
		"name":                      named("deep"),
		"cleanPodPolicy":            func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = v1.CleanAlways },
		"status":                    func(job *v1.PaddleJob) { job.Status.Phase = v1.Running },
		"an empty policy":           policy(func(*v1.SchedulingPolicy) {}),
		"an empty security context": workerPod(func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{} }),
	} {
		require.Equal(t, base, SpecHash(paddleJob(2, 2, apply)), name)
	}
	seen := map[string]string{base: "nothing"}
	for name, apply := range map[string]change{
		"replicas":   func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = 3 },
		"no servers": func(job *v1.PaddleJob) { job.Spec.PS = nil },
		"image":      workerContainer(func(c *corev1.Container) { c.Image = "paddle:v2" }),
		"gloo":       withGloo(0),
		"intranet":   intranet(v1.PodIP),
		"label":      func(job *v1.PaddleJob) { job.Spec.Worker.Template.Labels = map[string]string{"a": ""} },
	} {
		hash := SpecHash(paddleJob(2, 2, apply))
		require.NotContains(t, seen, hash, name)
		seen[hash] = name
	}
}

// The hash must not depend on how a quantity is written, or on the time that some releases of Kubernetes' types write
// into templates.
func TestSpecHashIsOfTheMeaning(t *testing.T) {
	decode := func(text string) *v1.PaddleJob {
		job := &v1.PaddleJob{}
		require.NoError(t, json.Unmarshal([]byte(text), job))
		return job
	}
	a := decode(`{"spec":{"worker":{"replicas":1,"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m"}}}]}}}}}`)
	b := decode(`{"spec":{"worker":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":1}},"name":"c"}]}},"replicas":1}}}`)
	require.Equal(t, SpecHash(a), SpecHash(b))
	b.Spec.Worker.Template.CreationTimestamp = metav1.Time{}
	require.Equal(t, SpecHash(a), SpecHash(b))
}

// Hashes that an earlier release wrote, with which jobs run and finished ones are in backups.
func TestSameSpecAsOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	exit := v1.RunPolicy{PermanentExitCodes: []int32{5, 4}}
	for name, tc := range map[string]struct {
		job  *v1.PaddleJob
		hash string
	}{
		"no run policy": {job: paddleJob(1, 2), hash: "fa584830da225bd2"},
		"a limit":       {job: paddleJob(1, 2, runs(v1.RunPolicy{BackoffLimit: ptr.To[int32](5)})), hash: "c8ab2e6289e8a081"},
		"exit codes":    {job: paddleJob(1, 2, runs(v1.RunPolicy{PermanentExitCodes: []int32{3}})), hash: "c8ab2e6289e8a081"},
		"workers alone": {job: paddleJob(1, 2, runs(v1.RunPolicy{RestartScope: v1.RestartPod})), hash: "1e35991378cac55c"},
		"workers alone, with exit codes": {job: paddleJob(1, 2, runs(v1.RunPolicy{
			RestartScope: v1.RestartPod, BackoffLimit: ptr.To[int32](5), PermanentExitCodes: exit.PermanentExitCodes,
		})), hash: "c4f29ea631617afb"},
		"elastic, with exit codes": {job: paddleJob(0, 2, bounded(1, 4), runs(exit)), hash: "6635b94020e009e1"},
	} {
		require.True(t, SameSpec(tc.hash, tc.job), name)
		require.True(t, SameSpec(SpecHash(tc.job), tc.job), name)
		changed := tc.job.DeepCopy()
		changed.Spec.Intranet = v1.Host
		require.False(t, SameSpec(tc.hash, changed), name)
	}
	require.False(t, SameSpec("", paddleJob(1, 2)))
}
