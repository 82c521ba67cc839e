// SPDX-License-Identifier: Apache-2.0

// Package collective trains without servers: each rank has all parameters, and gradients are summed around a ring.
package collective
