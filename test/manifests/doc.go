// SPDX-License-Identifier: Apache-2.0

// Package manifests reads the files of deploy/ and sends them to an API server as kubectl would; it knows nothing of what they mean.
//
// Its tests run every shipped manifest on the sandbox.
package manifests
