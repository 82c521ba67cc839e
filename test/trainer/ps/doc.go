// SPDX-License-Identifier: Apache-2.0

// Package ps trains with parameter servers: each server holds a shard of the parameters, trainers push gradients and pull
// parameters, and heterogeneous trainers run the middle of the model for them. A step is over when all trainers'
// gradients are in, so the result does not depend on who is first.
package ps
