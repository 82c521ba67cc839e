// SPDX-License-Identifier: Apache-2.0

// Package crd judges PaddleJobs as the API server does: by the schema and the CEL rules of deploy/v1/crd.yaml, in process.
package crd
