// SPDX-License-Identifier: Apache-2.0

package workload

import "github.com/paddle-volcano/paddle-volcano/test/bench/trace/flows"

// A language model of 6.7 billion parameters (32 layers of 4,096), trained with Megatron's hybrid parallelism (Narayanan et al., SC'21):
// tensor parallel inside of a host, two pipeline stages from 32 GPUs on, data parallel copies of that. A V100 does 40 Tflop/s of 125;
// each GPU has 4 sequences of 2,048 tokens in a step; numbers have 2 bytes.
const (
	nestedParameters   = 6.7e9
	nestedLayers       = 32
	nestedHidden       = 4096
	nestedTensor       = 8
	nestedTokensPerGPU = 4 * 2048
	nestedFlops        = 40e12
	nestedTwoStages    = 32 // GPUs
	bytesPerHalf       = 2
)

// nest makes a ring of whole hosts a language model. It keeps its duration; its steps are those of the model.
func (j *Job) nest() {
	stages := 1
	if j.GPUs >= nestedTwoStages && j.GPUs%(2*nestedTensor) == 0 {
		stages = 2
	}
	tokens := float64(nestedTokensPerGPU * nestedTensor * stages) // of one copy
	activations := tokens * nestedHidden * bytesPerHalf
	j.Tensor, j.Pipeline = nestedTensor, stages
	j.Compute = 6 * nestedParameters * nestedTokensPerGPU / nestedFlops
	j.ModelBytes = nestedParameters * bytesPerHalf
	j.Hybrid = flows.Hybrid{
		Tensor: nestedTensor, Pipeline: stages,
		Gradients:   j.ModelBytes / float64(nestedTensor*stages),
		Activations: activations / nestedTensor,
		Partial:     4 * activations * nestedLayers / float64(stages),
	}
}
