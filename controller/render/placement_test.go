// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

func TestTopologyReachesThePodGroup(t *testing.T) {
	for name, c := range map[string]struct {
		limit *v1.NetworkTopology
		job   *vcbatch.NetworkTopologySpec
		group *vcscheduling.NetworkTopologySpec
	}{
		"none": {},
		"hard by default": {
			&v1.NetworkTopology{HighestTierAllowed: ptr.To(2)},
			&vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)},
			&vcscheduling.NetworkTopologySpec{Mode: vcscheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)},
		},
		"by name": {
			&v1.NetworkTopology{Mode: v1.TopologyHard, HighestTierName: "rack"},
			&vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierName: "rack"},
			&vcscheduling.NetworkTopologySpec{Mode: vcscheduling.HardNetworkTopologyMode, HighestTierName: "rack"},
		},
		"soft": {
			&v1.NetworkTopology{Mode: v1.TopologySoft},
			&vcbatch.NetworkTopologySpec{Mode: vcbatch.SoftNetworkTopologyMode},
			&vcscheduling.NetworkTopologySpec{Mode: vcscheduling.SoftNetworkTopologyMode},
		},
	} {
		t.Run(name, func(t *testing.T) {
			job, told := mustJob(t, paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.NetworkTopology = c.limit })))
			require.Empty(t, told)
			require.Equal(t, c.job, job.Spec.NetworkTopology)
			require.Equal(t, c.group, PodGroup(job, nobody).Spec.NetworkTopology)
		})
	}
}

func nobody(string) int32 { return 0 }

func TestPlacementAnnotations(t *testing.T) {
	job := paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) {
		p.Colocation, p.ParameterSize, p.ParallelGroupSize = "Required", ptr.To(resource.MustParse("2048Mi")), ptr.To[int32](8)
		p.MinResources = list("nvidia.com/gpu", "8", "cpu", "4", "memory", "1Gi")
	}))
	job.Annotations = map[string]string{keys.Colocation: "None", "note": "n"}
	want := map[string]string{
		keys.Colocation: "Required", keys.ParameterSize: "2Gi", keys.GroupSize: "8", keys.MinResources: "cpu=4,memory=1Gi,nvidia.com/gpu=8",
		"note": "n", keys.Mode: "PS", keys.SpecHash: SpecHash(job),
	}
	got, _ := mustJob(t, job)
	require.Equal(t, want, got.Annotations)
	require.Equal(t, want, PodGroup(got, nobody).Annotations)

	job.Spec.SchedulingPolicy = nil
	got, _ = mustJob(t, job)
	require.Equal(t, map[string]string{keys.Colocation: "None", "note": "n", keys.Mode: "PS", keys.SpecHash: SpecHash(job)}, got.Annotations)
}

func TestValidatePlacement(t *testing.T) {
	for name, c := range map[string]struct {
		apply  func(p *v1.SchedulingPolicy)
		reason string
		text   string
	}{
		"another mode": {func(p *v1.SchedulingPolicy) {
			p.NetworkTopology = &v1.NetworkTopology{Mode: "Hard", HighestTierName: "rack"}
		}, ReasonInvalidTopology, `mode "Hard" does not exist`},
		"both": {func(p *v1.SchedulingPolicy) {
			p.NetworkTopology = &v1.NetworkTopology{HighestTierAllowed: ptr.To(1), HighestTierName: "rack"}
		}, ReasonInvalidTopology, "keep one of them"},
		"a tier below all": {func(p *v1.SchedulingPolicy) { p.NetworkTopology = &v1.NetworkTopology{HighestTierAllowed: ptr.To(-1)} }, ReasonInvalidTopology, "is -1"},
		"hard, no tier":    {func(p *v1.SchedulingPolicy) { p.NetworkTopology = &v1.NetworkTopology{} }, ReasonInvalidTopology, "names no tier"},
		"colocation":       {func(p *v1.SchedulingPolicy) { p.Colocation = "required" }, ReasonInvalidColocation, `"required" does not exist`},
		"nothing":          {func(p *v1.SchedulingPolicy) { p.ParameterSize = ptr.To(resource.MustParse("0")) }, ReasonInvalidParameterSize, "is 0"},
		"too large":        {func(p *v1.SchedulingPolicy) { p.ParameterSize = ptr.To(resource.MustParse("2Pi")) }, ReasonInvalidParameterSize, "at most 1Pi"},
		"no group":         {func(p *v1.SchedulingPolicy) { p.ParallelGroupSize = ptr.To[int32](0) }, ReasonInvalidGroupSize, "is 0"},
		"a huge group":     {func(p *v1.SchedulingPolicy) { p.ParallelGroupSize = ptr.To[int32](65537) }, ReasonInvalidGroupSize, "at most 65536"},
		"below nothing":    {func(p *v1.SchedulingPolicy) { p.MinResources = list("cpu", "-1") }, ReasonInvalidMinResources, "-1 of cpu"},
	} {
		t.Run(name, func(t *testing.T) {
			found := Validate(paddleJob(2, 2, policy(c.apply)), Wish{}, Config{})
			require.Len(t, found, 1)
			require.Equal(t, c.reason, found[0].Reason)
			require.Contains(t, found[0].Message, c.text)
		})
	}
}
