// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs a real Kubernetes control plane with Volcano and this project on one machine, over simulated nodes, and nothing else lives here.
//
// It starts etcd, kube-apiserver, kube-controller-manager, Volcano's controllers and webhooks, the scheduler, paddlejob-controller
// and kwok as child processes, each with the permissions of its shipped manifest. README.md is for users of the command
// paddle-sandbox; tests and the demo call [Start]. The packages below this one are its parts, which this one puts together.
package sandbox
