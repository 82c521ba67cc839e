// SPDX-License-Identifier: Apache-2.0

// Package manifests reads the files of deploy/ and applies them to an API server as kubectl does. It does not interpret them.
//
// Its tests run every shipped manifest on the sandbox.
package manifests
