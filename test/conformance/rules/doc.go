// SPDX-License-Identifier: Apache-2.0

// Package rules says what one process of Paddle's concludes from its environment and its command: its launcher, the command
// lines above it, its role makers, and the start script of the 2019 CTR example.
//
// The rules are those of PaddlePaddle's own code, named function by function, so that an environment can be judged, and
// followed, without running Paddle. Nothing else of this project is used here.
package rules
