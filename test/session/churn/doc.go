// SPDX-License-Identifier: Apache-2.0

// Package churn runs many sessions while jobs come, run, fail and go, and watches the heap; whether what it finds is
// growth is judged in package session.
package churn
