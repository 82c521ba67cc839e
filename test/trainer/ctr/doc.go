// SPDX-License-Identifier: Apache-2.0

// Package ctr stands in for what the image of the 2019 CTR example brings: its start script paddle_k8s, which finds the
// job's pods through the Kubernetes API, and its train.py. It is written anew from the log in the seeds.
package ctr
