// SPDX-License-Identifier: Apache-2.0

// Package workload draws the jobs of a run from the trace: when they arrive, for how long they train, and what they are as
// PaddleJobs. It is arithmetic on a seed; nothing is scheduled here.
package workload

// model is what the trace's models are as training jobs.
type model struct {
	// parameters in millions, of 4 bytes each.
	millions float64
	// servers says that it trains with parameter servers.
	servers bool
}

// models of the trace, as Gavel trains them (workloads/pytorch of stanford-futuredata/gavel). README.md says where the
// numbers come from and why these three have servers.
var models = map[string]model{
	"A3C":            {3.3, true},   // 4 convolutions and an LSTM of 512
	"CycleGAN":       {28.3, false}, // two generators of 11.4 with 9 residual blocks, two discriminators of 2.8
	"LM":             {14.0, true},  // LSTM of 2 x 200, Wikitext-2: 33,278 words in and out
	"Recommendation": {8.1, true},   // autoencoder of one layer of 200, MovieLens 20M: 20,108 items in and out
	"ResNet-18":      {11.2, false}, // CIFAR-10
	"ResNet-50":      {25.6, false}, // ImageNet
	"Transformer":    {47, false},   // 6 + 6 layers of 512, 2,048 inside; Multi30k
}

// bytesPerMillion parameters in single precision.
const bytesPerMillion = 4e6
