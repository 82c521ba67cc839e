// SPDX-License-Identifier: Apache-2.0

// Package report is what the scheduler's plugin reports about a gang, as data: the reason for which the gang waits, what it
// is missing and what helps, or where it runs and what it sends over the network. The plugin writes it to an annotation of
// the PodGroup, as JSON, whenever it writes the PodGroup's condition. The sentences of the condition, of events and of
// kubectl paddle are made from it. Nothing reads these sentences but people.
package report
