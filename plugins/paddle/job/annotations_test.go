// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestParseSpec(t *testing.T) {
	defaults := Spec{Colocation: placement.None, ParameterBytes: 7, ParallelGroupSize: 3}
	asDefault, none := defaults, placement.Parallelism{}
	for _, test := range []struct {
		name        string
		annotations map[string]string
		want        Spec
		err         string
	}{
		{"nothing", nil, asDefault, ""},
		{"required", map[string]string{ColocationAnnotation: "Required"}, Spec{placement.Required, 7, 3, nil, none}, ""},
		{"any case", map[string]string{ColocationAnnotation: "preferred"}, Spec{placement.Preferred, 7, 3, nil, none}, ""},
		{"none", map[string]string{ColocationAnnotation: "None"}, asDefault, ""},
		{"another word", map[string]string{ColocationAnnotation: "near"}, asDefault,
			`annotation batch.paddlepaddle.org/colocation is "near"; write Required, Preferred or None`},
		{"a size", map[string]string{ParameterSizeAnnotation: "2Gi"}, Spec{placement.None, 1 << 31, 3, nil, none}, ""},
		{"no size", map[string]string{ParameterSizeAnnotation: "big"}, asDefault,
			`annotation batch.paddlepaddle.org/parameter-size is "big"; write an amount of bytes above 0, such as 2Gi`},
		{"a size of 0", map[string]string{ParameterSizeAnnotation: "0"}, asDefault,
			`annotation batch.paddlepaddle.org/parameter-size is "0"; write an amount of bytes above 0, such as 2Gi`},
		{"groups", map[string]string{GroupSizeAnnotation: "8"}, Spec{placement.None, 7, 8, nil, none}, ""},
		{"groups of 0", map[string]string{GroupSizeAnnotation: "0"}, asDefault,
			`annotation batch.paddlepaddle.org/parallel-group-size is "0"; write a number of ranks from 1 to 65536`},
		{"too large groups", map[string]string{GroupSizeAnnotation: "65537"}, asDefault,
			`annotation batch.paddlepaddle.org/parallel-group-size is "65537"; write a number of ranks from 1 to 65536`},
		{"parallelism", map[string]string{ParallelismAnnotation: "data=2, pipeline=4,sharding=3,sep=2,tensor=8,expert=6"},
			Spec{placement.None, 7, 3, nil, placement.Parallelism{Pipeline: 4, Sharding: 3, Sep: 2, Tensor: 8, Expert: 6}}, ""},
		{"parallelism in another order", map[string]string{ParallelismAnnotation: "pipeline=4,sharding=3,order=ShardingFirst"},
			Spec{placement.None, 7, 3, nil, placement.Parallelism{Pipeline: 4, Sharding: 3, ShardingFirst: true}}, ""},
		{"an order and no degree", map[string]string{ParallelismAnnotation: "order=ShardingFirst"}, asDefault,
			`annotation batch.paddlepaddle.org/parallelism is "order=ShardingFirst": invalid degree "order=ShardingFirst"; write degrees such as data=2,pipeline=4,tensor=8`},
		{"an axis that fleet does not have", map[string]string{ParallelismAnnotation: "tensor=8,model=2"}, asDefault,
			`annotation batch.paddlepaddle.org/parallelism is "tensor=8,model=2": invalid degree "model=2"; write degrees such as data=2,pipeline=4,tensor=8`},
		{"a degree of 0", map[string]string{ParallelismAnnotation: "tensor=0"}, asDefault,
			`annotation batch.paddlepaddle.org/parallelism is "tensor=0": invalid degree "tensor=0"; write degrees such as data=2,pipeline=4,tensor=8`},
		{"a degree twice", map[string]string{ParallelismAnnotation: "data=2,data=2"}, asDefault,
			`annotation batch.paddlepaddle.org/parallelism is "data=2,data=2": invalid degree "data=2"; write degrees such as data=2,pipeline=4,tensor=8`},
		{"a least amount", map[string]string{MinResourcesAnnotation: "cpu=4,memory=8Gi,nvidia.com/gpu=2"},
			Spec{placement.None, 7, 3, api.NewResource(resources{"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "2"}.list()), none}, ""},
		{"with spaces", map[string]string{MinResourcesAnnotation: " cpu = 500m , ephemeral-storage=1Gi,pods=3"},
			Spec{placement.None, 7, 3, api.NewResource(resources{"cpu": "500m", "ephemeral-storage": "1Gi", "pods": "3"}.list()), none}, ""},
		{"no amounts", map[string]string{MinResourcesAnnotation: ""}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "": invalid quantity ""; write amounts such as cpu=4,memory=8Gi`},
		{"a name without an amount", map[string]string{MinResourcesAnnotation: "cpu=4,memory"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=4,memory": invalid quantity "memory"; write amounts such as cpu=4,memory=8Gi`},
		{"less than nothing", map[string]string{MinResourcesAnnotation: "cpu=-1"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=-1": invalid quantity "cpu=-1"; write amounts such as cpu=4,memory=8Gi`},
		{"more than a number holds", map[string]string{MinResourcesAnnotation: "cpu=8E"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=8E": invalid quantity "cpu=8E"; write amounts such as cpu=4,memory=8Gi`},
		{"twice the same", map[string]string{MinResourcesAnnotation: "cpu=1,memory=1Gi,cpu=2"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=1,memory=1Gi,cpu=2": duplicate resource "cpu"; write amounts such as cpu=4,memory=8Gi`},
		{"what nodes do not have", map[string]string{MinResourcesAnnotation: "gpu=8"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "gpu=8": unsupported resource "gpu"; write amounts such as cpu=4,memory=8Gi`},
		{"two wrong ones", map[string]string{ColocationAnnotation: "x", GroupSizeAnnotation: "y", ParameterSizeAnnotation: "1k"},
			Spec{placement.None, 1000, 3, nil, none},
			"annotation batch.paddlepaddle.org/colocation is \"x\"; write Required, Preferred or None\n" +
				"annotation batch.paddlepaddle.org/parallel-group-size is \"y\"; write a number of ranks from 1 to 65536"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseSpec(test.annotations, defaults)
			require.Equal(t, test.want, got)
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, test.err)
			}
		})
	}
}
