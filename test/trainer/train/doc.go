// SPDX-License-Identifier: Apache-2.0

// Package train is the course of training, the same in every mode: what modes differ in is an [Exchange].
package train
