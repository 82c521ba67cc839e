// SPDX-License-Identifier: Apache-2.0

package report

// Annotation is the PodGroup's annotation that holds the report.
const Annotation = "batch.paddlepaddle.org/scheduling-report"
