// SPDX-License-Identifier: Apache-2.0

// Package podgroup checks that the controller's PodGroups are those that Volcano's own Job controller makes; it holds tests only.
package podgroup
