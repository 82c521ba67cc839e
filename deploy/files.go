// SPDX-License-Identifier: Apache-2.0

// Package deploy holds what users install and submit: manifests, examples and Dockerfiles. No logic lives here.
package deploy

import "embed"

// Files are the manifests as they are shipped, so that the demo and the tests run from any folder.
//
//go:embed v1/*.yaml trainer/*.yaml examples/*.yaml
var Files embed.FS
