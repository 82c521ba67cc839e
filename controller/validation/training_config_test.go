// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// named16 is a job of 4 workers with 4 GPUs each that names a training YAML.
func named16(changes ...change) *v1.PaddleJob {
	ref := v1.Parallelism{ConfigMapKeyRef: &v1.ConfigMapKeyRef{Name: "config", Key: "train.yaml"}}
	return paddleJob(0, 4, append([]change{parallel(ref, 4)}, changes...)...)
}

func TestTrainingDegrees(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		job  *v1.PaddleJob
		want v1.Parallelism
	}{
		// PaddleFormers examples/best_practices/DeepSeek-V3/pretrain/config/pretrain_argument.yaml, for half as many stages
		"PaddleFormers": {text: "tensor_model_parallel_size: 1\npipeline_model_parallel_size: 2\nsharding_parallel_size: 8\nexpert_model_parallel_size: 8\nsharding: \"stage1\"\n",
			want: v1.Parallelism{Tensor: 1, Pipeline: 2, Sharding: 8, Expert: 8, Order: v1.ShardingFirst}},
		// ERNIE examples/configs/ERNIE-4.5-300B-A47B/sft/run_sft_8k.yaml, for other degrees
		"ERNIEKit, sharding has the rest": {text: "tensor_parallel_degree: 4\npipeline_parallel_degree: 2\nsharding: stage1\n",
			want: v1.Parallelism{Tensor: 4, Pipeline: 2, Sharding: 2, Order: v1.ShardingFirst}},
		"data has the rest": {text: "tensor_parallel_degree: 4\nsharding: \"\"\n", want: v1.Parallelism{Tensor: 4, Order: v1.ShardingFirst}},
		"sharding is off":   {text: "tensor_parallel_degree: 4\nsharding: false\n", want: v1.Parallelism{Tensor: 4, Order: v1.ShardingFirst}},
		"fleet's order": {text: "sep_parallel_degree: 2\nsharding_degree: 8\nhybrid_parallel_topo_order: pp_first\n",
			want: v1.Parallelism{Sep: 2, Sharding: 8, Order: v1.PipelineFirst}},
		"both names": {text: "tensor_parallel_degree: 4\ntensor_model_parallel_size: 4\n", want: v1.Parallelism{Tensor: 4, Order: v1.ShardingFirst}},
		"unset":      {text: "tensor_parallel_degree: -1\npipeline_parallel_degree:\nsep_parallel_size: 2\n", want: v1.Parallelism{Sep: 2, Order: v1.ShardingFirst}},
		"JSON":       {text: `{"tensor_parallel_degree": 8, "output_dir": "/out"}`, want: v1.Parallelism{Tensor: 8, Order: v1.ShardingFirst}},
		"GPUs that are not known": {text: "tensor_parallel_degree: 3\nsharding: stage1\n", job: named16(parallel(*named16().Spec.Parallelism, 0)),
			want: v1.Parallelism{Tensor: 3, Order: v1.ShardingFirst}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.job == nil {
				tc.job = named16()
			}
			got, errs := TrainingDegrees(tc.job, &tc.text)
			require.Empty(t, errs)
			require.Equal(t, tc.want, *got)
		})
	}
}

func TestTrainingDegreesRefuses(t *testing.T) {
	t.Parallel()
	const ref = "spec.parallelism.configMapKeyRef"
	for name, tc := range map[string]struct {
		text          *string
		field, remedy string
	}{
		"no such key":           {nil, ref, "create it before the job"},
		"no YAML":               {ptr.To("a: b: c"), ref, "name the key that has the training YAML"},
		"no keys":               {ptr.To("- 1"), ref, "name the key that has the training YAML"},
		"another file":          {ptr.To("import: paddle"), ref, "name the key that has the training YAML"},
		"nothing":               {ptr.To(""), ref, "name the key that has the training YAML"},
		"a text":                {ptr.To(`tensor_parallel_degree: "8"`), ref + "[tensor_parallel_degree]", "write a whole number"},
		"a part":                {ptr.To("tensor_parallel_degree: 1.5"), ref + "[tensor_parallel_degree]", "write a whole number"},
		"too many":              {ptr.To("sep_parallel_size: 65537"), ref + "[sep_parallel_size]", "at most 65536"},
		"far too many":          {ptr.To("sep_parallel_size: 1e300"), ref + "[sep_parallel_size]", "at most 65536"},
		"two degrees":           {ptr.To("tensor_parallel_degree: 4\ntensor_model_parallel_size: 8"), ref + "[tensor_parallel_degree]", "leave one of them out"},
		"an order":              {ptr.To("tensor_parallel_degree: 4\nhybrid_parallel_topo_order: mp_first"), ref + "[hybrid_parallel_topo_order]", "sharding_first"},
		"experts":               {ptr.To("tensor_parallel_degree: 4\nexpert_parallel_degree: 3"), ref, "correct one of them"},
		"not all GPUs":          {ptr.To("tensor_parallel_degree: 3"), ref, "does not divide the 16 GPUs of the workers"},
		"sharding of no number": {ptr.To("tensor_parallel_degree: 3\nsharding: stage1"), ref, "does not divide the 16 GPUs of the workers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs := TrainingDegrees(named16(), tc.text)
			require.Len(t, errs, 1)
			require.Equal(t, tc.field, errs[0].Field)
			require.Contains(t, errs[0].Error(), tc.remedy)
		})
	}
}

// FuzzTrainingDegrees: whatever a ConfigMap holds, there are degrees that the GPUs can have, or an error.
func FuzzTrainingDegrees(f *testing.F) {
	f.Add("tensor_model_parallel_size: 4\nsharding: stage1\n")
	f.Add("pipeline_parallel_degree: 2\nexpert_parallel_degree: .inf\n")
	f.Add("a: &a [*a]\n---\n")
	f.Add("{")
	f.Fuzz(func(t *testing.T, text string) {
		job := named16()
		p, errs := TrainingDegrees(job, &text)
		if len(errs) > 0 {
			return
		}
		product := int64(1)
		for _, degree := range []int32{p.Pipeline, p.Sharding, p.Sep, p.Tensor} {
			require.GreaterOrEqual(t, degree, int32(0))
			product *= int64(max(1, degree))
		}
		require.Zero(t, 16%product)
	})
}
