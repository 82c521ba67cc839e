// SPDX-License-Identifier: Apache-2.0

// Package reconcile is the controller's edge to the API server: it watches, gathers views, carries plans out and writes
// statuses. What is to be done is decided in package policy, what a status says in package status.
package reconcile
