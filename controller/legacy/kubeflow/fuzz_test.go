// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/randfill"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// arbitrary is a job, and the status of its PaddleJob, in which the bytes decide what is set, and to what.
func arbitrary(seed []byte) (*kubeflowv1.PaddleJob, batchv1.PaddleJobStatus) {
	job, seen := &kubeflowv1.PaddleJob{}, batchv1.PaddleJobStatus{}
	fill := randfill.NewFromGoFuzz(seed).NilChance(0.5).NumElements(0, 3).MaxDepth(12).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63(), resource.DecimalSI)
		},
		func(m *autoscalingv2.MetricSpec, _ randfill.Continue) { *m = autoscalingv2.MetricSpec{} },
		// Names that are worth something now and then, or nothing would ever get past the first checks.
		func(s *string, c randfill.Continue) {
			words := []string{"train", "paddle", "", "master", "PADDLE_JOB_ID", c.String(8)}
			*s = words[c.Intn(len(words))]
		},
		func(r *kubeflowv1.ReplicaType, c randfill.Continue) {
			*r = []kubeflowv1.ReplicaType{"Worker", "Worker", "Master", "worker", "Chief"}[c.Intn(5)]
		},
		func(r *corev1.RestartPolicy, c randfill.Continue) {
			*r = []corev1.RestartPolicy{"", "Never", "OnFailure", "ExitCode", "Always", "?"}[c.Intn(6)]
		},
		func(n *int32, c randfill.Continue) { *n = []int32{1, 2, 0, -1, c.Int31()}[c.Intn(5)] },
		func(n *int64, c randfill.Continue) { *n = []int64{1, 2, 0, -1, c.Int63()}[c.Intn(5)] },
	)
	fill.Fill(job)
	fill.Fill(&seen)
	job.Status = kubeflowv1.JobStatus{}
	return job, seen
}

// Whatever the user writes, a job is refused or becomes a PaddleJob that is its own, and what was done is not done again.
func FuzzJob(f *testing.F) {
	for _, seed := range []string{"", "0", "a longer seed, so that there is something to decide with", "\x00\xff\x7f\x80\x01\x02\x03\x04\x05\x06"} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, seed []byte, etcd bool) {
		job, seen := arbitrary(seed)
		before := job.DeepCopy()
		conversion := Convert(job, etcd)
		require.Equal(t, before, job, "the cached job is not touched")
		require.Equal(t, conversion, Convert(job, etcd), "the same comes of the same")
		require.NotEqual(t, conversion.Job == nil, len(conversion.Refused) == 0)
		v := &State{Now: at, Job: job, Named: conversion.Job}
		if made := conversion.Job; made != nil {
			require.NotEmpty(t, made.OwnerReferences)
			validation.Validate(made, builder.PodGroupOverrides{}, builder.Config{}) // no panic
			made.Status = seen
		}
		plan := Decide(v, etcd)
		require.Nil(t, plan.Update, "it is as it has to be")
		next := Next(v, &plan)
		job.Status = *next
		require.Equal(t, next, Next(v, &plan), "a status is written only on change")
		require.Empty(t, Events(next, Next(v, &plan), plan.Warnings))
	})
}
