// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestWishesOfAJob(t *testing.T) {
	defaults := newArguments(config.Arguments{Colocation: placement.None, ParameterBytes: 7, ParallelGroupSize: 3})
	asDefault := wishes{colocation: placement.None, parameterBytes: 7, groupSize: 3}
	for _, test := range []struct {
		name        string
		annotations map[string]string
		want        wishes
		err         string
	}{
		{"nothing", nil, asDefault, ""},
		{"required", map[string]string{colocationAnnotation: "Required"}, wishes{placement.Required, 7, 3, nil}, ""},
		{"any case", map[string]string{colocationAnnotation: "preferred"}, wishes{placement.Preferred, 7, 3, nil}, ""},
		{"none", map[string]string{colocationAnnotation: "None"}, asDefault, ""},
		{"another word", map[string]string{colocationAnnotation: "near"}, asDefault,
			`annotation batch.paddlepaddle.org/colocation is "near"; write Required, Preferred or None`},
		{"a size", map[string]string{parameterSizeAnnotation: "2Gi"}, wishes{placement.None, 1 << 31, 3, nil}, ""},
		{"no size", map[string]string{parameterSizeAnnotation: "big"}, asDefault,
			`annotation batch.paddlepaddle.org/parameter-size is "big"; write an amount of bytes above 0, such as 2Gi`},
		{"a size of 0", map[string]string{parameterSizeAnnotation: "0"}, asDefault,
			`annotation batch.paddlepaddle.org/parameter-size is "0"; write an amount of bytes above 0, such as 2Gi`},
		{"groups", map[string]string{groupSizeAnnotation: "8"}, wishes{placement.None, 7, 8, nil}, ""},
		{"groups of 0", map[string]string{groupSizeAnnotation: "0"}, asDefault,
			`annotation batch.paddlepaddle.org/parallel-group-size is "0"; write a number of ranks from 1 to 65536`},
		{"too large groups", map[string]string{groupSizeAnnotation: "65537"}, asDefault,
			`annotation batch.paddlepaddle.org/parallel-group-size is "65537"; write a number of ranks from 1 to 65536`},
		{"a least amount", map[string]string{minResourcesAnnotation: "cpu=4,memory=8Gi,nvidia.com/gpu=2"},
			wishes{placement.None, 7, 3, api.NewResource(resources{"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "2"}.list())}, ""},
		{"with spaces", map[string]string{minResourcesAnnotation: " cpu = 500m , ephemeral-storage=1Gi,pods=3"},
			wishes{placement.None, 7, 3, api.NewResource(resources{"cpu": "500m", "ephemeral-storage": "1Gi", "pods": "3"}.list())}, ""},
		{"no amounts", map[string]string{minResourcesAnnotation: ""}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "": "" is no amount of a resource; write amounts such as cpu=4,memory=8Gi`},
		{"a name without an amount", map[string]string{minResourcesAnnotation: "cpu=4,memory"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=4,memory": "memory" is no amount of a resource; write amounts such as cpu=4,memory=8Gi`},
		{"less than nothing", map[string]string{minResourcesAnnotation: "cpu=-1"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=-1": "cpu=-1" is no amount of a resource; write amounts such as cpu=4,memory=8Gi`},
		{"more than a number holds", map[string]string{minResourcesAnnotation: "cpu=8E"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=8E": "cpu=8E" is no amount of a resource; write amounts such as cpu=4,memory=8Gi`},
		{"twice the same", map[string]string{minResourcesAnnotation: "cpu=1,memory=1Gi,cpu=2"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "cpu=1,memory=1Gi,cpu=2": cpu is there twice; write amounts such as cpu=4,memory=8Gi`},
		{"what nodes do not have", map[string]string{minResourcesAnnotation: "gpu=8"}, asDefault,
			`annotation batch.paddlepaddle.org/min-resources is "gpu=8": no node has gpu; write amounts such as cpu=4,memory=8Gi`},
		{"two wrong ones", map[string]string{colocationAnnotation: "x", groupSizeAnnotation: "y", parameterSizeAnnotation: "1k"},
			wishes{placement.None, 1000, 3, nil},
			"annotation batch.paddlepaddle.org/colocation is \"x\"; write Required, Preferred or None\n" +
				"annotation batch.paddlepaddle.org/parallel-group-size is \"y\"; write a number of ranks from 1 to 65536"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := newWishes(test.annotations, defaults)
			require.Equal(t, test.want, got)
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, test.err)
			}
		})
	}
}
